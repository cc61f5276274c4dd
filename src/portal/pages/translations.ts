/** The texts of the pages that need no script. */
const en = {
  otherLanguage: 'አማርኛ',
  signIn: 'Sign in',
  email: 'E-mail address',
  password: 'Password',
  wrongSignIn: 'The e-mail address or the password is wrong.',
  secondStep: 'Enter a code',
  code: 'Code',
  codeHint: 'Six digits of your authenticator app, or a recovery code.',
  wrongCode: 'The code is wrong, or was used before. Enter the next one.',
  tooMany: 'Too many attempts. Wait a few minutes and try again.',
  foreign: 'The form was sent from another site. Open this page again and try once more.',
  signedIn: 'You are signed in',
  notBuilt: "The portal's pages are not part of this installation. The API serves people at this address.",
  notFound: 'There is no such page.',
};
type Texts = Record<keyof typeof en, string>;

const am = {
  otherLanguage: 'English',
  signIn: 'ይግቡ',
  email: 'የኢሜይል አድራሻ',
  password: 'የይለፍ ቃል',
  wrongSignIn: 'የኢሜይል አድራሻው ወይም የይለፍ ቃሉ ትክክል አይደለም።',
  secondStep: 'ኮድ ያስገቡ',
  code: 'ኮድ',
  codeHint: 'የማረጋገጫ መተግበሪያዎ ስድስት አሃዞች ወይም የመልሶ ማግኛ ኮድ።',
  wrongCode: 'ኮዱ ትክክል አይደለም ወይም ከዚህ በፊት ጥቅም ላይ ውሏል። እባክዎ ቀጣዩን ያስገቡ።',
  tooMany: 'ብዙ ጊዜ ተሞክሯል። እባክዎ ጥቂት ደቂቃዎች ጠብቀው እንደገና ይሞክሩ።',
  foreign: 'ቅጹ የተላከው ከሌላ ድረ ገጽ ነው። እባክዎ ይህን ገጽ እንደገና ከፍተው ይሞክሩ።',
  signedIn: 'ገብተዋል',
  notBuilt: 'የፖርታሉ ገጾች በዚህ ጭነት ውስጥ የሉም። ኤፒአዩ በዚህ አድራሻ ይሰራል።',
  notFound: 'እንዲህ ያለ ገጽ የለም።',
} satisfies Texts;

const TEXTS = { en, am };
export type Language = keyof typeof TEXTS;

export const textsOf = (language: Language): Texts => TEXTS[language];

export function isLanguage(value: unknown): value is Language {
  return value === 'en' || value === 'am';
}
