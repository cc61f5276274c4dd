import type { IssueCode } from '../../src/lib/issues.ts';
import { formatCount, formatDay } from './format.ts';
import { catalogue } from './language.ts';

type Params = Readonly<Record<string, string | number>>;

const count = ({ minimum, maximum, available }: Params): string =>
  formatCount(Number(minimum ?? maximum ?? available ?? 0));

/** What is wrong with the value of a field, by the API's code. A code without a text is a type error. */
export const ISSUES: Record<IssueCode, string | ((params: Params) => string)> = catalogue({
  required: ['Fill this in.', 'ይህን ይሙሉ።'],
  unknown_field: ['There is no such field here.', 'እንዲህ ያለ መስክ እዚህ የለም።'],
  not_allowed: ['Leave this out: it does not go with the rest.', 'ይህን ይተዉት፦ ከሌሎቹ ጋር አይሄድም።'],
  given_twice: ['This is there more than once.', 'ይህ ከአንድ ጊዜ በላይ አለ።'],
  wrong_type: ['This is another kind of value than needed.', 'ይህ ከሚያስፈልገው የተለየ ዓይነት ነው።'],
  wrong_format: ['This does not have the form needed.', 'ይህ የሚያስፈልገው ቅርጽ የለውም።'],
  control_characters: ['Write this on one line, without tabs.', 'ይህን በአንድ መስመር፣ ያለ ታብ ይጻፉት።'],
  not_an_option: ({ allowed = '' }: Params) => [`One of: ${allowed}.`, `ከነዚህ አንዱ፦ ${allowed}።`],
  too_small: (params: Params) => [`At least ${count(params)}.`, `ቢያንስ ${count(params)}።`],
  too_big: (params: Params) => [`At most ${count(params)}.`, `ቢበዛ ${count(params)}።`],
  too_short: (params: Params) =>
    params['minimum'] === 1
      ? ['Fill this in.', 'ይህን ይሙሉ።']
      : [`At least ${count(params)} characters.`, `ቢያንስ ${count(params)} ፊደላት።`],
  too_long: (params: Params) => [`At most ${count(params)} characters.`, `ቢበዛ ${count(params)} ፊደላት።`],
  too_few: (params: Params) => [`Choose at least ${count(params)}.`, `ቢያንስ ${count(params)} ይምረጡ።`],
  too_many: (params: Params) => [`At most ${count(params)} of them.`, `ቢበዛ ${count(params)}።`],
  not_an_amount: [
    'An amount in birr above 0 with at most two decimals: 100 or 99.50.',
    'ከ0 የሚበልጥ መጠን በብር፣ ቢበዛ በሁለት አሥርዮሽ፦ 100 ወይም 99.50።',
  ],
  not_a_phone: ['An Ethiopian mobile number: 09…, 07… or +251….', 'የኢትዮጵያ ሞባይል ቁጥር፦ 09…፣ 07… ወይም +251…።'],
  not_a_sandbox_phone: ['In test, one of the test numbers.', 'በሙከራ ላይ ከሙከራ ቁጥሮቹ አንዱ።'],
  not_an_email: ['An address such as name@shop.example.et.', 'እንደ name@shop.example.et ያለ አድራሻ።'],
  not_a_web_address: [
    'A whole address such as https://shop.example.et, without blanks and user name.',
    'ሙሉ አድራሻ፣ ለምሳሌ https://shop.example.et፣ ያለ ክፍተትና የተጠቃሚ ስም።',
  ],
  not_a_day: ['A day that is in the calendar and not too far away.', 'በቀን መቁጠሪያ ላይ ያለ፣ ብዙ ያልራቀ ቀን።'],
  not_an_account_number: ['The 8 to 20 digits of a bank account.', 'ከ8 እስከ 20 አሃዞች ያሉት የባንክ ሂሳብ ቁጥር።'],
  not_a_tin: ['The 10 digits of a taxpayer identification number.', '10 አሃዞች ያሉት የግብር ከፋይ ቁጥር።'],
  not_a_reference: ['1 to 64 letters (A to Z), digits or - _ .', 'ከ1 እስከ 64 የላቲን ፊደላት፣ አሃዞች ወይም - _ .'],
  not_an_ip_range: [
    'Addresses such as 203.0.113.4 or 203.0.113.0/24.',
    'እንደ 203.0.113.4 ወይም 203.0.113.0/24 ያሉ አድራሻዎች።',
  ],
  already_used: ['This was used before: choose another one.', 'ይህ ከዚህ በፊት ጥቅም ላይ ውሏል፦ ሌላ ይምረጡ።'],
  repeated: ['An earlier line has the same reference.', 'ቀደም ያለ መስመር ተመሳሳይ ማጣቀሻ አለው።'],
  start_after_end: ['The first day is after the last one.', 'የመጀመሪያው ቀን ከመጨረሻው ቀን በኋላ ነው።'],
  range_too_wide: (params: Params) => [`At most ${count(params)} days.`, `ቢበዛ ${count(params)} ቀናት።`],
  min_above_max: ['The lower amount is above the upper one.', 'ዝቅተኛው መጠን ከከፍተኛው ይበልጣል።'],
  in_the_past: ['This time is past.', 'ይህ ጊዜ አልፏል።'],
  too_far_ahead: (params: Params) => [`At most ${count(params)} days ahead.`, `ቢበዛ ከ${count(params)} ቀናት በኋላ።`],
  ends_before_start: ['The end is not after the beginning.', 'ማብቂያው ከመጀመሪያው በኋላ አይደለም።'],
  overlaps: [
    'Another one is announced for that time: cancel it first, or choose another time.',
    'ለዚያ ጊዜ ሌላ ተነግሯል፦ መጀመሪያ ያንን ይሰርዙ፣ ወይም ሌላ ጊዜ ይምረጡ።',
  ],
  out_of_bounds: ({ minimum, maximum }: Params) => [
    `From ${formatCount(Number(minimum))} to ${formatCount(Number(maximum))} birr.`,
    `ከ${formatCount(Number(minimum))} እስከ ${formatCount(Number(maximum))} ብር።`,
  ],
  day_out_of_range: ({ earliest, latest }: Params) =>
    earliest === undefined
      ? [`A day up to ${formatDay(String(latest))}.`, `እስከ ${formatDay(String(latest))} ያለ ቀን።`]
      : [
          `A day from ${formatDay(String(earliest))} to ${formatDay(String(latest))}.`,
          `ከ${formatDay(String(earliest))} እስከ ${formatDay(String(latest))} ያለ ቀን።`,
        ],
  wrong_password: ['This is not your present password.', 'ይህ የአሁኑ የይለፍ ቃልዎ አይደለም።'],
  common_password: ['This password is too easily guessed.', 'ይህ የይለፍ ቃል በቀላሉ የሚገመት ነው።'],
  wrong_code: ['This code is wrong, or was used before.', 'ኮዱ ትክክል አይደለም፣ ወይም ከዚህ በፊት ጥቅም ላይ ውሏል።'],
  not_https: ['The address has to begin with https://.', 'አድራሻው በhttps:// መጀመር አለበት።'],
  wrong_port: ({ allowed = '' }: Params) => [
    `The port of the address has to be one of: ${allowed}.`,
    `የአድራሻው ፖርት ከነዚህ አንዱ መሆን አለበት፦ ${allowed}።`,
  ],
  not_reachable: ['A server that is reachable from the internet.', 'ከኢንተርኔት የሚደረስበት አገልጋይ።'],
  address_in_live: ['In live the server has to have a name.', 'በእውነተኛው ላይ አገልጋዩ ስም ሊኖረው ይገባል።'],
  reserved_header: ['Meskot sets this header itself: choose another name.', 'ይህን መስኮት ራሱ ይሞላዋል፦ ሌላ ስም ይምረጡ።'],
  receiver_fixed: [
    'It stays with the built-in receiver, or with your server: create another subscription.',
    'አብሮ ከተሠራው መቀበያ ወይም ከአገልጋይዎ ጋር ይቆያል፦ ሌላ ምዝገባ ይፍጠሩ።',
  ],
  phone_or_account: ['Either a phone, or a bank with an account number.', 'ወይ ስልክ፣ ወይም ባንክ ከሂሳብ ቁጥር ጋር።'],
  wrong_destination: ['This channel pays to the other kind of account.', 'ይህ የክፍያ መንገድ ወደ ሌላው ዓይነት ሂሳብ ይከፍላል።'],
  no_payouts: ['This channel makes no withdrawals: choose another one.', 'ይህ የክፍያ መንገድ ገንዘብ አያወጣም፦ ሌላ ይምረጡ።'],
  not_usable: ['This channel cannot be used now: see Channels.', 'ይህ የክፍያ መንገድ አሁን አይሠራም፦ የክፍያ መንገዶችን ይመልከቱ።'],
  not_a_reader: ['Somebody chosen may not read these reports.', 'ከተመረጡት ውስጥ እነዚህን ሪፖርቶች ማንበብ የማይችል ሰው አለ።'],
  not_enough: (params: Params) => [`${count(params)} birr are available.`, `ያለው ${count(params)} ብር ነው።`],
  rows_too_many: (params: Params) => [
    `This kind of file takes at most ${count(params)} rows: choose fewer days or another kind.`,
    `ይህ የፋይል ዓይነት ቢበዛ ${count(params)} ረድፎች ይይዛል፦ ጥቂት ቀናት ወይም ሌላ ዓይነት ይምረጡ።`,
  ],
  not_verified: ['The business is not verified yet.', 'ድርጅቱ ገና አልተረጋገጠም።'],
  no_sandbox_payment: ['No test payment has succeeded yet.', 'ገና የተሳካ የሙከራ ክፍያ የለም።'],
  not_linked: ['A verified bank account is needed.', 'የተረጋገጠ የባንክ ሂሳብ ያስፈልጋል።'],
  document_missing: ['This is still missing.', 'ይህ ገና ይጎድላል።'],
  invalid: ['This value is not accepted.', 'ይህ ተቀባይነት የለውም።'],
});

/** Codes whose English text from the API has the rule itself. */
const IN_WORDS: ReadonlySet<string> = new Set<IssueCode>(['invalid', 'wrong_format']);

/** The meaning of an issue; `isComplete`: nothing of the API's own words is missing in it. */
export function meaningOf({ code, params = {} }: { code: string; params?: Params | undefined }): {
  text: string;
  isComplete: boolean;
} {
  const isKnown = code in ISSUES;
  const found = ISSUES[isKnown ? (code as IssueCode) : 'invalid'];
  return { text: typeof found === 'string' ? found : found(params), isComplete: isKnown && !IN_WORDS.has(code) };
}
