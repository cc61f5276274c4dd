import { formatCount } from '../format.ts';
import { catalogue } from '../language.ts';

/** The texts of a person's own security. */
export const text = catalogue({
  twoFactor: ['Two-factor authentication', 'ሁለት ደረጃ ማረጋገጫ'],
  twoFactorHelp: [
    'A code of an authenticator app beside the password. Owners, admins and finance need it in live.',
    'ከይለፍ ቃሉ ሌላ ከማረጋገጫ መተግበሪያ የሚገኝ ኮድ። ባለቤቶች፣ አስተዳዳሪዎችና ፋይናንስ በእውነተኛው ላይ ያስፈልጋቸዋል።',
  ],
  on: ['On', 'በርቷል'],
  off: ['Off', 'ጠፍቷል'],
  since: ['On since', 'የበራበት ጊዜ'],
  codesLeft: ['Recovery codes left', 'የቀሩ የመልሶ ማግኛ ኮዶች'],
  count: (count: number) => [formatCount(count), formatCount(count)],
  turnOn: ['Turn on', 'አብራ'],
  turnOff: ['Turn off', 'አጥፋ'],
  turnOffTitle: ['Turn two-factor authentication off?', 'ሁለት ደረጃ ማረጋገጫን ያጥፉ?'],
  turnOffHelp: [
    'Then the password alone opens your account, and roles that need it lose live.',
    'ከዚያ በኋላ የይለፍ ቃሉ ብቻውን መለያዎን ይከፍታል፣ የሚያስፈልጋቸው ሚናዎችም እውነተኛውን ያጣሉ።',
  ],
  goOn: ['Go on', 'ቀጥል'],
  scan: [
    'Scan this picture with an authenticator app, or type the secret into it. Then enter the code that the app shows.',
    'ይህን ምስል በማረጋገጫ መተግበሪያ ያንሱ፣ ወይም ምስጢሩን ይጻፉበት። ከዚያ መተግበሪያው የሚያሳየውን ኮድ ያስገቡ።',
  ],
  qr: ['QR code for the authenticator app', 'ለማረጋገጫ መተግበሪያው የሚሆን QR ኮድ'],
  secret: ['Secret', 'ምስጢር'],
  newCodes: ['New recovery codes', 'አዲስ የመልሶ ማግኛ ኮዶች'],
  codesTitle: ['Your recovery codes', 'የመልሶ ማግኛ ኮዶችዎ'],
  codesHelp: [
    'Each replaces a code of the app once, should you lose it. They are shown only now: store them where you find them without your phone.',
    'መተግበሪያውን ቢያጡ እያንዳንዱ አንድ ጊዜ ይተካዋል። የሚታዩት አሁን ብቻ ነው፦ ያለ ስልክዎ በሚያገኙበት ቦታ ያስቀምጧቸው።',
  ],
  codes: ['Recovery codes', 'የመልሶ ማግኛ ኮዶች'],
  stored: ['I have stored them', 'አስቀምጫቸዋለሁ'],
  password: ['Password', 'የይለፍ ቃል'],
  currentPassword: ['Present password', 'የአሁኑ የይለፍ ቃል'],
  newPassword: ['New password', 'አዲስ የይለፍ ቃል'],
  passwordRule: [
    'At least 10 characters; several words that do not belong together, without your name or address.',
    'ቢያንስ 10 ፊደላት፤ የማይዛመዱ በርካታ ቃላት፣ ያለ ስምዎ ወይም አድራሻዎ።',
  ],
  wrongPassword: ['This is not your present password.', 'ይህ የአሁኑ የይለፍ ቃልዎ አይደለም።'],
  weakPassword: ['This password is too easily guessed.', 'ይህ የይለፍ ቃል በቀላሉ የሚገመት ነው።'],
  changePassword: ['Change the password', 'የይለፍ ቃሉን ቀይር'],
  passwordChanged: ['The password is changed. All other sessions have ended.', 'የይለፍ ቃሉ ተቀይሯል። ሌሎቹ ቆይታዎች ሁሉ አብቅተዋል።'],
  sessions: ['Sessions', 'ቆይታዎች'],
  sessionsHelp: [
    'Where you are signed in. End what you do not recognise, then change the password.',
    'የገቡባቸው ቦታዎች። የማያውቁትን ያብቁ፣ ከዚያ የይለፍ ቃሉን ይቀይሩ።',
  ],
  thisOne: ['This one', 'ይህኛው'],
  device: ['Device', 'መሣሪያ'],
  address: ['Address', 'አድራሻ'],
  lastUsed: ['Last used', 'መጨረሻ ያገለገለበት'],
  signedIn: ['Signed in', 'የገቡበት ጊዜ'],
  end: ['End', 'አብቃ'],
  endLabel: (device: string) => [`End: ${device}`, `አብቃ፦ ${device}`],
  ended: ['The session is ended.', 'ቆይታው አብቅቷል።'],
  endAll: ['Sign out everywhere', 'ከሁሉም ቦታ ውጣ'],
  unknownDevice: ['Unknown device', 'ያልታወቀ መሣሪያ'],
});
