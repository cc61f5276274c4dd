import { formatCount } from '../../ui/format.ts';
import { catalogue, plural } from '../../ui/language.ts';

/** The texts of payouts from a file. */
export const text = catalogue({
  title: ['Withdrawals from a file', 'ከፋይል የሚጠየቁ ወጪዎች'],
  intro: [
    'A CSV file with one withdrawal in each line, up to 500. Nothing is requested until the whole file is right and you have confirmed it.',
    'በእያንዳንዱ መስመር አንድ ወጪ የያዘ የCSV ፋይል፣ እስከ 500። ፋይሉ በሙሉ ትክክል እስኪሆንና እርስዎ እስኪያረጋግጡ ድረስ ምንም አይጠየቅም።',
  ],
  again: [
    'A reference is requested once, for ever: the same file can be chosen again to see what became of its lines, or to request those that are missing.',
    'አንድ ማጣቀሻ የሚጠየቀው አንድ ጊዜ ብቻ ነው፤ የመስመሮቹን ሁኔታ ለማየት ወይም ያልተጠየቁትን ለመጠየቅ ያንኑ ፋይል እንደገና መምረጥ ይችላሉ።',
  ],
  template: ['Template', 'ናሙና ፋይል'],
  choose: ['Choose a file', 'ፋይል ይምረጡ'],
  chooseOther: ['Choose another file', 'ሌላ ፋይል ይምረጡ'],
  back: ['To the withdrawals', 'ወደ ወጪዎች'],
  lines: ['Lines of the file', 'የፋይሉ መስመሮች'],
  line: ['Line', 'መስመር'],
  state: ['State', 'ሁኔታ'],
  ready: ['Ready', 'ዝግጁ'],
  repeated: (line: number) => [`Same amount and beneficiary as line ${line}`, `መጠኑና ተቀባዩ ከመስመር ${line} ጋር ተመሳሳይ ናቸው`],
  onlyProblems: (count: number) => [
    `Only lines with a problem (${formatCount(count)})`,
    `ችግር ያለባቸው መስመሮች ብቻ (${formatCount(count)})`,
  ],
  toRequest: ['To be requested', 'የሚጠየቁ'],
  before: ['Requested already', 'ቀድመው የተጠየቁ'],
  withProblem: ['With a problem', 'ችግር ያለባቸው'],
  available: ['Available balance', 'ሊወጣ የሚችል ቀሪ ሂሳብ'],
  secondPerson: ['A second person confirms', 'ሁለተኛ ሰው የሚያረጋግጣቸው'],
  leftToday: (channel: string) => [`Left today on ${channel}`, `ዛሬ በ${channel} የቀረ`],
  noLimit: ['no limit', 'ገደብ የለም'],
  request: (count: number) => [
    `Request ${formatCount(count)} ${plural(count, { one: 'withdrawal', other: 'withdrawals' })}`,
    `${formatCount(count)} ${plural(count, { one: 'ወጪ', other: 'ወጪዎችን' })} ይጠይቁ`,
  ],
  correctFirst: (count: number) => [
    `${formatCount(count)} ${plural(count, { one: 'line has', other: 'lines have' })} a problem, so nothing is requested: correct the file, and choose it again.`,
    `${formatCount(count)} ${plural(count, { one: 'መስመር ችግር አለበት', other: 'መስመሮች ችግር አለባቸው' })}፣ ስለዚህ ምንም አይጠየቅም፦ ፋይሉን ያስተካክሉና እንደገና ይምረጡት።`,
  ],
  nothingLeft: ['Every line is requested already.', 'ሁሉም መስመሮች ቀድመው ተጠይቀዋል።'],
  question: (count: number, amount: string, total: string) => [
    `${formatCount(count)} ${plural(count, { one: 'withdrawal', other: 'withdrawals' })} of ${amount} in all ${plural(count, { one: 'is', other: 'are' })} requested. ${total} are taken from the balance.`,
    `በድምሩ ${amount} የሆኑ ${formatCount(count)} ወጪዎች ይጠየቃሉ። ከቀሪ ሂሳብ ${total} ይቀነሳል።`,
  ],
  reviewed: [
    'Each is sent at once, unless it is under review or a second person has to confirm it first.',
    'እያንዳንዱ መጀመሪያ ካልተመረመረ ወይም ሁለተኛ ሰው ማረጋገጥ ከሌለበት በስተቀር ወዲያውኑ ይላካል።',
  ],
  progress: (done: number, total: number) => [
    `${formatCount(done)} of ${formatCount(total)} lines. Keep this page open.`,
    `ከ${formatCount(total)} መስመሮች ${formatCount(done)}። ይህን ገጽ ክፍት ያቆዩት።`,
  ],
  leave: [
    'Leave this page? The lines that are not requested yet stay unrequested.',
    'ከዚህ ገጽ ይወጣሉ? ገና ያልተጠየቁት መስመሮች ሳይጠየቁ ይቀራሉ።',
  ],
  stopped: (done: number, total: number) => [
    `Stopped after ${formatCount(done)} of ${formatCount(total)} lines: the others were not requested, or their answer was lost. They can be requested again; none is requested twice.`,
    `ከ${formatCount(total)} መስመሮች ${formatCount(done)} በኋላ ቆሟል፦ ሌሎቹ አልተጠየቁም ወይም ምላሻቸው ጠፍቷል። እንደገና መጠየቅ ይችላሉ፤ የትኛውም ሁለት ጊዜ አይጠየቅም።`,
  ],
  noFile: ['No file is chosen yet.', 'ገና ፋይል አልተመረጠም።'],
  columns: [
    'The template has the columns, which its first line names: a phone for a wallet, or a bank with an account number.',
    'ናሙና ፋይሉ ዓምዶቹን ይዟል፤ የመጀመሪያው መስመር ይሰይማቸዋል፦ ለቦርሳ ስልክ፣ ወይም ባንክ ከሂሳብ ቁጥር ጋር።',
  ],
  done: ['All lines were processed.', 'ሁሉም መስመሮች ተከናውነዋል።'],
  results: ['Save the results', 'ውጤቱን ያስቀምጡ'],
});

/** Why a file cannot be read. */
export const problems = catalogue({
  tooLarge: (kilobytes: string) => [
    `The file has more than ${kilobytes} kB: divide it.`,
    `ፋይሉ ከ${kilobytes} ኪሎባይት ይበልጣል፦ ይከፋፍሉት።`,
  ],
  unreadable: (_none: string) => [
    'The file cannot be read any more: choose it again.',
    'ፋይሉን ማንበብ አልተቻለም፦ እንደገና ይምረጡት።',
  ],
  unclosedQuote: (line: string) => [
    `A quote in line ${line} is not closed: the lines after it cannot be told apart.`,
    `በመስመር ${line} የተከፈተ ጥቅስ አልተዘጋም፦ ከእሱ በኋላ ያሉትን መስመሮች መለየት አይቻልም።`,
  ],
  notUtf8: (_none: string) => [
    'The file is not in UTF-8: save it as "CSV UTF-8" in the spreadsheet.',
    'ፋይሉ በUTF-8 አልተቀመጠም፦ በ"CSV UTF-8" መልክ ያስቀምጡት።',
  ],
  missingColumns: (names: string) => [
    `The first line has to name the columns. These are missing: ${names}`,
    `የመጀመሪያው መስመር የአምዶቹን ስም መያዝ አለበት። የጎደሉት፦ ${names}`,
  ],
  unknownColumn: (name: string) => [`The heading has an unknown column: ${name}`, `የማይታወቅ አምድ፦ ${name}`],
  repeatedColumn: (_none: string) => ['A column is in the heading twice.', 'አንድ አምድ በርዕሱ ውስጥ ሁለት ጊዜ አለ።'],
  tooManyFields: (line: string) => [
    `Line ${line} has more fields than the heading. A field with a comma has to be in quotes.`,
    `መስመር ${line} ከርዕሱ የበለጡ ዓምዶች አሉት። ነጠላ ሰረዝ ያለበት ጽሑፍ በጥቅስ ውስጥ መሆን አለበት።`,
  ],
  noLines: (_none: string) => ['The file has no line below its heading.', 'ፋይሉ ከርዕሱ በታች መስመር የለውም።'],
  tooManyLines: (max: string) => [
    `The file has more than ${max} lines: divide it.`,
    `ፋይሉ ከ${max} መስመሮች ይበልጣል፦ ይከፋፍሉት።`,
  ],
});
