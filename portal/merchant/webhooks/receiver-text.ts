import { catalogue } from '../../ui/language.ts';

/** The texts of the built-in receiver of the sandbox. */
export const text = catalogue({
  title: ['Built-in receiver', 'አብሮ የተሠራ መቀበያ'],
  help: [
    'No server yet? Meskot sends your test events to a receiver of its own, as it would to your server. It checks the signature, and every request is shown here.',
    'እስካሁን አገልጋይ የለዎትም? መስኮት የሙከራ ክስተቶችዎን ወደ ራሱ መቀበያ ይልካል፣ ወደ አገልጋይዎ እንደሚልከው። መቀበያው ፊርማውን ያረጋግጣል፤ እያንዳንዱ ጥያቄ እዚህ ይታያል።',
  ],
  switchOn: ['Switch on the receiver', 'መቀበያውን ያብሩ'],
  switchedOn: ['The receiver is on.', 'መቀበያው በርቷል።'],
  answer: ['Its answer', 'ምላሹ'],
  answerHelp: [
    'Choose a failure to see how events are sent again: after 1 and 5 minutes, then 30 minutes, 2 and 12 hours.',
    'ክስተቶች እንዴት እንደገና እንደሚላኩ ለማየት ውድቀት ይምረጡ፦ ከ1 እና ከ5 ደቂቃ፣ ከዚያ ከ30 ደቂቃ፣ ከ2 እና ከ12 ሰዓት በኋላ።',
  ],
  ok: ['200: received', '200፦ ደርሷል'],
  error: ['500: failed', '500፦ አልተሳካም'],
  slow: ['200 after 4 seconds: too late', 'ከ4 ሰከንድ በኋላ 200፦ ዘግይቷል'],
  requests: ['Received requests', 'የደረሱ ጥያቄዎች'],
  kept: ['The last 50 of 7 days.', 'የ7 ቀናት የመጨረሻዎቹ 50።'],
  none: ['Nothing has arrived yet.', 'እስካሁን ምንም አልደረሰም።'],
  noneHelp: [
    'Send a test event with the subscription above, or make a test payment.',
    'ከላይ ባለው ምዝገባ የሙከራ ክስተት ይላኩ ወይም የሙከራ ክፍያ ያድርጉ።',
  ],
  valid: ['Signature valid', 'ፊርማው ትክክል ነው'],
  invalid: ['Signature not valid', 'ፊርማው ትክክል አይደለም'],
  answered: (status: number) => [`Answered ${status}`, `የመለሰው ${status}`],
  headers: ['Request headers', 'የጥያቄው ራስጌዎች'],
  body: ['Body as signed', 'እንደተፈረመ ይዘት'],
  cut: (bytes: string) => [`The beginning of ${bytes} bytes`, `የ${bytes} ባይት መጀመሪያ`],
  other: ['Request', 'ጥያቄ'],
});
