import type { Language } from '../../http/language.ts';

/** The texts of the page. {@link interpolate} fills `{name}`; in capitals, why an attempt failed. `#` is filled by the script. */
const EN = {
  otherLanguage: 'አማርኛ',
  birr: 'ETB',
  pay: 'Pay',
  payTo: 'Pay {merchant}',
  order: 'Order',
  payWithin: 'Pay within {span}',
  minutes: '{count} min',
  hours: '{count} h',
  days: '{count} days',
  howToPay: 'How would you like to pay?',
  comingSoon: 'coming soon',
  maintenance: 'under maintenance, back in {span}',
  notNow: 'not available just now',
  phone: 'Mobile number',
  phoneHint: '09…, 07… or +251…',
  endingIn: 'the number ending in {digits}',
  cancel: 'Cancel the payment',
  scan: 'Scan this with a phone to open this page there',
  noChannel: 'No way of paying is available for this amount now.',
  noChannelNow: 'No way of paying is available just now. Nothing was paid; look again in a few minutes.',
  lookAgain: 'Look again',
  errorTitle: 'Error: {title}',
  lastTryFailed: 'The last try was not successful: {reason}',
  DECLINED: 'The payment was declined.',
  INSUFFICIENT_FUNDS: 'There is too little money in the account.',
  CANCELLED_BY_CUSTOMER: 'It was cancelled on the phone.',
  TIMED_OUT: 'It was not confirmed in time.',
  INVALID_PAYER: 'This phone number has no account there.',
  REJECTED: 'The payment could not be made.',
  tryAgain: 'You can try again, or choose another way of paying.',
  takenBack: 'The request to {phone} was taken back. Please do not confirm it any more.',
  sendingTitle: 'Sending your payment',
  sending: 'We are sending a request to {phone} by {channel}.',
  pushTitle: 'Confirm on your phone',
  push: 'We sent a request to {phone} by {channel}. Please confirm it there.',
  redirectTitle: 'Confirm with {channel}',
  redirect: 'Confirm the payment from {phone} with {channel}. Then come back here.',
  goOn: 'Go on to {channel}',
  resultHere: 'The result appears here by itself. You can also close this page: the shop gets the result too.',
  check: 'I have confirmed: check now',
  change: 'Change number or way of paying',
  notTakenBack: '{channel} has not answered yet, so the request cannot be taken back. Please try again in a moment.',
  cancelTitle: 'Cancel this payment?',
  cancelQuestion: 'We inform the shop, and to pay you would have to start again there.',
  cancelConfirmed: 'If you have already confirmed on your phone, do not cancel: wait for the result.',
  yesCancel: 'Yes, cancel',
  noCancel: 'No, back to the payment',
  heldTitle: 'We are looking into your payment',
  WRONG_AMOUNT: 'We received a payment, but of a different amount.',
  WRONG_CURRENCY: 'We received a payment, but in a different currency.',
  REFERENCE_USED: 'We received a payment, but its reference belongs to another payment.',
  held: 'Please do not pay again. We send the result to the shop.',
  reference: 'Reference',
  completedTitle: 'Paid. Thank you!',
  completed: 'We have confirmed the payment to the shop.',
  paidTwice: 'We received this payment twice. We are looking into the second one, and inform the shop.',
  paidTo: 'Paid to',
  amount: 'Amount',
  paidWith: 'Paid with',
  paidFrom: 'From',
  date: 'Date',
  print: 'Print the receipt',
  returning: 'You go back to the shop in # s',
  stay: 'Stay on this page',
  failedTitle: 'The payment was not successful',
  failed: 'Go back to the shop to start again.',
  cancelledTitle: 'Payment cancelled',
  cancelled: 'You cancelled this payment.',
  expiredTitle: 'This payment page has expired',
  expired: 'The time to pay is over. Go back to the shop to start again.',
  perhapsPaid: 'If you have confirmed, we send the result to the shop. Wait a few minutes before you pay again.',
  backToShop: 'Back to the shop',
  invalidTitle: 'This link does not work any more',
  invalid: 'Open the payment page again from the shop.',
  foreignTitle: 'This form was sent from another site',
  foreign: 'For your safety it was not processed. Open the payment page again from the shop.',
  busyTitle: 'Too many requests',
  busy: 'Please wait {seconds} s, then open this page again.',
  suspendedTitle: 'This shop takes no payments now',
  suspended: 'Nothing was paid. Please ask the shop.',
  testRibbon: 'TEST: no real money moves',
  testNumbers: 'Test numbers and their outcomes',
  phoneWrong: 'Enter an Ethiopian mobile number as 09…, 07… or +251….',
  testPhoneWrong: 'Only the test numbers listed below pay here.',
  channelWrong: 'Choose one of the ways to pay.',
  channelUnavailable: 'This way of paying is not available now. Please choose another.',
  amountOutside: 'This amount is outside the limits of this way of paying. Please choose another.',
  paymentBy: 'Payment by Meskot',
  paymentFor: 'Payment by Meskot for {legalName}',
  support: 'Questions about your order? Call the shop:',
  approve: 'approved within a second',
  decline: 'declined',
  'insufficient-funds': 'insufficient funds',
  never: 'never answers',
  'approve-slowly': 'approved after 2 minutes',
  'approve-after-expiry': 'approved after the session expired',
  'approve-without-callback': 'approved, callback lost (found by polling)',
  'approve-wrong-amount': 'approved with a wrong amount',
  'approve-refund-fails': 'approved; a refund of it fails',
};

export type TextName = keyof typeof EN;

const AM: Readonly<Record<TextName, string>> = {
  otherLanguage: 'English',
  birr: 'ብር',
  pay: 'ይክፈሉ',
  payTo: 'ለ{merchant} ይክፈሉ',
  order: 'ትዕዛዝ',
  payWithin: 'በ{span} ውስጥ ይክፈሉ',
  minutes: '{count} ደቂቃ',
  hours: '{count} ሰዓት',
  days: '{count} ቀናት',
  howToPay: 'በምን መክፈል ይፈልጋሉ?',
  comingSoon: 'በቅርቡ',
  maintenance: 'ጥገና ላይ ነው፤ በ{span} ውስጥ ይመለሳል',
  notNow: 'ለጊዜው አይገኝም',
  phone: 'የሞባይል ቁጥር',
  phoneHint: '09…፣ 07… ወይም +251…',
  endingIn: 'በ{digits} የሚያልቀው ቁጥር',
  cancel: 'ክፍያውን ይሰርዙ',
  scan: 'ይህን ገጽ በስልክዎ ለመክፈት ይቃኙ',
  noChannel: 'ለዚህ መጠን አሁን የሚገኝ የክፍያ መንገድ የለም።',
  noChannelNow: 'አሁን የሚሠራ የክፍያ መንገድ የለም። ምንም አልተከፈለም፤ ከጥቂት ደቂቃዎች በኋላ እንደገና ይመልከቱ።',
  lookAgain: 'እንደገና ይመልከቱ',
  errorTitle: 'ስህተት፦ {title}',
  lastTryFailed: 'ያለፈው ሙከራ አልተሳካም፦ {reason}',
  DECLINED: 'ክፍያው ተቀባይነት አላገኘም።',
  INSUFFICIENT_FUNDS: 'በሂሳቡ ውስጥ ያለው ገንዘብ አይበቃም።',
  CANCELLED_BY_CUSTOMER: 'ክፍያው በስልኩ ላይ ውድቅ ተደርጓል።',
  TIMED_OUT: 'ክፍያው በጊዜው አልተረጋገጠም።',
  INVALID_PAYER: 'በዚህ ስልክ ቁጥር የተከፈተ ሂሳብ የለም።',
  REJECTED: 'ክፍያው ሊፈጸም አልቻለም።',
  tryAgain: 'እንደገና መሞከር ወይም ሌላ የክፍያ መንገድ መምረጥ ይችላሉ።',
  takenBack: 'ወደ {phone} የተላከው ጥያቄ ተነስቷል። እባክዎ ከእንግዲህ አያረጋግጡት።',
  sendingTitle: 'ክፍያዎን እየላክን ነው',
  sending: 'በ{channel} ወደ {phone} ጥያቄ እየላክን ነው።',
  pushTitle: 'በስልክዎ ላይ ያረጋግጡ',
  push: 'በ{channel} ወደ {phone} ጥያቄ ልከናል። እባክዎ እዚያ ያረጋግጡ።',
  redirectTitle: 'በ{channel} ያረጋግጡ',
  redirect: 'ከ{phone} የሚደረገውን ክፍያ በ{channel} ያረጋግጡ። ከዚያ ወደዚህ ይመለሱ።',
  goOn: 'ወደ {channel} ይቀጥሉ',
  resultHere: 'ውጤቱ እዚህ በራሱ ይታያል። ይህን ገጽ መዝጋትም ይችላሉ፤ ለሱቁ እናሳውቃለን።',
  check: 'አረጋግጫለሁ፤ አሁን ይፈትሹ',
  change: 'ቁጥሩን ወይም የክፍያ መንገዱን ይቀይሩ',
  notTakenBack: '{channel} ገና ምላሽ ስላልሰጠ ጥያቄውን ማንሳት አልተቻለም። እባክዎ ከጥቂት ጊዜ በኋላ እንደገና ይሞክሩ።',
  cancelTitle: 'ይህን ክፍያ መሰረዝ ይፈልጋሉ?',
  cancelQuestion: 'ለሱቁ እናሳውቃለን፤ ለመክፈል ከሱቁ እንደገና መጀመር ይኖርብዎታል።',
  cancelConfirmed: 'በስልክዎ ላይ አስቀድመው ካረጋገጡ እባክዎ አይሰርዙ፤ ውጤቱን ይጠብቁ።',
  yesCancel: 'አዎ፣ ይሰረዝ',
  noCancel: 'አይ፣ ወደ ክፍያው ይመለሱ',
  heldTitle: 'ክፍያዎን እየመረመርን ነው',
  WRONG_AMOUNT: 'ክፍያ ደርሶናል፤ ነገር ግን መጠኑ ከተጠየቀው የተለየ ነው።',
  WRONG_CURRENCY: 'ክፍያ ደርሶናል፤ ነገር ግን በተጠየቀው ገንዘብ አይደለም።',
  REFERENCE_USED: 'ክፍያ ደርሶናል፤ ነገር ግን የማጣቀሻ ቁጥሩ የሌላ ክፍያ ነው።',
  held: 'እባክዎ እንደገና አይክፈሉ። ውጤቱን ለሱቁ እናሳውቃለን።',
  reference: 'ማጣቀሻ ቁጥር',
  completedTitle: 'ተከፍሏል። እናመሰግናለን!',
  completed: 'ለሱቁ አሳውቀናል።',
  paidTwice: 'ይህ ክፍያ ሁለት ጊዜ ደርሶናል። ሁለተኛውን እየመረመርን ነው፤ ለሱቁም እናሳውቃለን።',
  paidTo: 'የተከፈለው ለ',
  amount: 'መጠን',
  paidWith: 'የተከፈለው በ',
  paidFrom: 'ከፋይ',
  date: 'ቀን',
  print: 'ደረሰኙን ያትሙ',
  returning: 'በ# ሰከንድ ውስጥ ወደ ሱቁ ይመለሳሉ',
  stay: 'በዚህ ገጽ ይቆዩ',
  failedTitle: 'ክፍያው አልተሳካም',
  failed: 'እንደገና ለመጀመር ወደ ሱቁ ይመለሱ።',
  cancelledTitle: 'ክፍያው ተሰርዟል',
  cancelled: 'ይህን ክፍያ ሰርዘዋል።',
  expiredTitle: 'የዚህ የክፍያ ገጽ ጊዜ አልፏል',
  expired: 'የመክፈያ ጊዜው አብቅቷል። እንደገና ለመጀመር ወደ ሱቁ ይመለሱ።',
  perhapsPaid: 'አረጋግጠው ከሆነ ለሱቁ እናሳውቃለን። እንደገና ከመክፈልዎ በፊት ጥቂት ደቂቃዎች ይጠብቁ።',
  backToShop: 'ወደ ሱቁ ይመለሱ',
  invalidTitle: 'ይህ አድራሻ ከእንግዲህ አይሠራም',
  invalid: 'እባክዎ የክፍያ ገጹን ከሱቁ እንደገና ይክፈቱ።',
  foreignTitle: 'ይህ ቅጽ ከሌላ ድረ ገጽ የመጣ ነው',
  foreign: 'ለደህንነትዎ ሲባል አልተላከም። እባክዎ የክፍያ ገጹን ከሱቁ እንደገና ይክፈቱ።',
  busyTitle: 'በጣም ብዙ ጥያቄዎች',
  busy: 'እባክዎ {seconds} ሰከንድ ጠብቀው ይህን ገጽ እንደገና ይክፈቱ።',
  suspendedTitle: 'ይህ ሱቅ አሁን ክፍያ አይቀበልም',
  suspended: 'ምንም ክፍያ አልተፈጸመም። እባክዎ ሱቁን ይጠይቁ።',
  testRibbon: 'ሙከራ፦ እውነተኛ ገንዘብ አይንቀሳቀስም',
  testNumbers: 'የሙከራ ቁጥሮችና ውጤታቸው',
  phoneWrong: 'እባክዎ የኢትዮጵያ ሞባይል ቁጥር 09…፣ 07… ወይም +251… ብለው ያስገቡ።',
  testPhoneWrong: 'እዚህ የሚከፍሉት ከታች የተዘረዘሩት የሙከራ ቁጥሮች ብቻ ናቸው።',
  channelWrong: 'እባክዎ ከክፍያ መንገዶቹ አንዱን ይምረጡ።',
  channelUnavailable: 'ይህ የክፍያ መንገድ አሁን አይገኝም። እባክዎ ሌላ ይምረጡ።',
  amountOutside: 'ይህ መጠን ከዚህ የክፍያ መንገድ ገደብ ውጭ ነው። እባክዎ ሌላ ይምረጡ።',
  paymentBy: 'ክፍያ በመስኮት',
  paymentFor: 'ክፍያ በመስኮት ለ{legalName}',
  support: 'ስለ ትዕዛዝዎ ጥያቄ ካለዎት ወደ ሱቁ ይደውሉ፦',
  approve: 'በአንድ ሰከንድ ውስጥ ይጸድቃል',
  decline: 'ውድቅ ይደረጋል',
  'insufficient-funds': 'በቂ ገንዘብ የለም',
  never: 'ምላሽ አይሰጥም',
  'approve-slowly': 'ከ2 ደቂቃ በኋላ ይጸድቃል',
  'approve-after-expiry': 'የገጹ ጊዜ ካለፈ በኋላ ይጸድቃል',
  'approve-without-callback': 'ይጸድቃል፤ ማሳወቂያው ግን ይጠፋል',
  'approve-wrong-amount': 'በተሳሳተ መጠን ይጸድቃል',
  'approve-refund-fails': 'ይጸድቃል፤ ገንዘቡ መመለስ ግን አይሳካም',
};

const TEXTS = { en: EN, am: AM };

export function textsOf(language: Language): Readonly<Record<TextName, string>> {
  return TEXTS[language];
}

/** A text with its `{name}`s filled in. */
export function interpolate(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time, which no clock can be read wrong from: "28 min", "5 h", "3 days". */
export function formatSpan(language: Language, seconds: number): string {
  const [name, unit] =
    seconds <= 2 * HOUR
      ? (['minutes', MINUTE] as const)
      : seconds <= 2 * DAY
        ? (['hours', HOUR] as const)
        : (['days', DAY] as const);
  return interpolate(TEXTS[language][name], { count: String(Math.max(1, Math.ceil(seconds / unit))) });
}

/** Parts of the day from 0:00 in steps of six hours: Ethiopia's clock begins again at each second of them, at 6:00. */
const PARTS_OF_DAY = ['ሌሊት', 'ጠዋት', 'ከሰዓት', 'ማታ'];
const ZONE = { timeZone: 'Africa/Addis_Ababa' };

/** An instant in Addis Ababa: in Amharic by the Ethiopian calendar and clock, with the clock of 24 hours beside it. */
export function formatInstant(language: Language, at: Date): string {
  const clock = new Intl.DateTimeFormat('en-GB', { ...ZONE, timeStyle: 'short' }).format(at);
  if (language === 'en') {
    return `${new Intl.DateTimeFormat('en-GB', { ...ZONE, dateStyle: 'long' }).format(at)}, ${clock} (Addis Ababa)`;
  }
  const day = new Intl.DateTimeFormat('am-ET-u-ca-ethiopic', {
    ...ZONE,
    day: 'numeric',
    month: 'long',
    year: 'numeric',
  });
  const hour = Number(clock.slice(0, 2));
  const ethiopian = `${(hour + 6) % 12 || 12}${clock.slice(2)}`;
  return `${day.format(at)}፣ ${PARTS_OF_DAY[Math.floor(hour / 6)]} ${ethiopian} (በ24 ሰዓት አቆጣጠር ${clock})`;
}
