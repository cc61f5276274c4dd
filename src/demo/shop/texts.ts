import type { Behaviour } from './inbox.ts';

const EN = {
  otherLanguage: 'አማርኛ',
  shop: 'Buna Bet',
  lead: 'Coffee from Yirgacheffe, roasted on Tuesday. A demo shop: nothing is shipped, and no real money moves.',
  menu: 'Menu',
  buy: 'Buy',
  macchiato: 'Macchiato',
  buna: 'Buna from the jebena',
  beans: 'Yirgacheffe beans, 500 g',
  birr: 'ETB',
  behind: 'Behind the counter',
  response: "The shop's response to webhooks",
  ok: 'Acknowledge',
  fail: 'Fail (500)',
  hang: 'Hang',
  hint: 'Let it fail, buy, then let it acknowledge again: the retry comes 1 minute after the failure.',
  deliveries: 'Last deliveries',
  none: 'None yet. Buy something, pay it with a test number, and watch the webhooks come in.',
  delivery: 'delivery {number}, signed {signedAt}',
  responded: 'responded {status}',
  noResponse: 'no response',
  thanks: 'Thank you',
  sorry: 'The payment did not work',
  cancelled: 'You cancelled',
  order: 'Order',
  known: 'By the last webhook its payment is {status}.',
  unknown: 'No webhook has reported this order yet, so the shop does not know whether it is paid.',
  truth:
    'Redirects are not the truth: anybody can open this address, and a customer who closes the browser never does. The shop ships coffee only on a verified webhook.',
  back: 'Back to the shop',
  problem: 'That did not work',
} as const;

const AM: Readonly<Record<keyof typeof EN, string>> = {
  otherLanguage: 'English',
  shop: 'ቡና ቤት',
  lead: 'የይርጋጨፌ ቡና፣ ማክሰኞ የተቆላ። ይህ የማሳያ ሱቅ ነው፤ ምንም አይላክም፣ እውነተኛ ገንዘብም አይንቀሳቀስም።',
  menu: 'ዝርዝር',
  buy: 'ይግዙ',
  macchiato: 'ማኪያቶ',
  buna: 'የጀበና ቡና',
  beans: 'የይርጋጨፌ ቡና ፍሬ፣ 500 ግራም',
  birr: 'ብር',
  behind: 'ከመደርደሪያው ጀርባ',
  response: 'ሱቁ ለዌብሁኮች የሚሰጠው ምላሽ',
  ok: 'ይቀበል',
  fail: 'አይቀበል (500)',
  hang: 'ምላሽ አይስጥ',
  hint: 'እንዳይቀበል ያድርጉ፣ ይግዙ፣ ከዚያ እንዲቀበል ያድርጉ፦ ዳግም ሙከራው ከ1 ደቂቃ በኋላ ይመጣል።',
  deliveries: 'የቅርብ ጊዜ ዌብሁኮች',
  none: 'እስካሁን ምንም የለም። የሆነ ነገር ይግዙ፣ በሙከራ ቁጥር ይክፈሉ፣ ዌብሁኮቹ ሲመጡ ይመልከቱ።',
  delivery: '{number}ኛ ሙከራ፣ የተፈረመው {signedAt}',
  responded: 'ምላሽ {status}',
  noResponse: 'ምላሽ የለም',
  thanks: 'እናመሰግናለን',
  sorry: 'ክፍያው አልተሳካም',
  cancelled: 'ክፍያውን ሰርዘዋል',
  order: 'ትዕዛዝ',
  known: 'በመጨረሻው ዌብሁክ መሠረት የክፍያው ሁኔታ {status} ነው።',
  unknown: 'ስለዚህ ትዕዛዝ እስካሁን ዌብሁክ ስላልደረሰ ሱቁ መከፈሉን አያውቅም።',
  truth: 'ወደዚህ ገጽ መመለስ ማረጋገጫ አይደለም፦ ይህን አድራሻ ማንም ሊከፍት ይችላል፤ ገጹን የዘጋ ደንበኛ ደግሞ አይመለስም። ሱቁ ቡናውን የሚልከው በተረጋገጠ ዌብሁክ ብቻ ነው።',
  back: 'ወደ ሱቁ ይመለሱ',
  problem: 'አልተሳካም',
};

export type Language = 'en' | 'am';
export type ShopTexts = Readonly<Record<keyof typeof EN | Behaviour, string>>;

/** The texts of the shop. */
export const TEXTS: Readonly<Record<Language, ShopTexts>> = { en: EN, am: AM };
