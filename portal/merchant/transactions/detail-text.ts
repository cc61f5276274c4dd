import { catalogue } from '../../ui/language.ts';

/** The texts of one transaction. */
export const text = catalogue({
  asPage: ['Open as a page', 'እንደ ገጽ ይክፈቱ'],
  back: ['All transactions', 'ሁሉም ግብይቶች'],
  copyCurl: ['Copy as curl', 'እንደ curl ይቅዱ'],
  curlCopied: ['The curl command is copied.', 'የcurl ትዕዛዙ ተቀድቷል።'],
  payment: ['Payment', 'ክፍያ'],
  payerDecision: ['Decide for the customer', 'በደንበኛው ምትክ ይወስኑ'],
  payerDecisionHint: [
    'The payment waits for its customer. In test you can decide now, without the phone.',
    'ክፍያው ደንበኛውን እየጠበቀ ነው። በሙከራ ያለ ስልክ አሁኑኑ መወሰን ይችላሉ።',
  ],
  approved: ['The payment is approved.', 'ክፍያው ጸድቋል።'],
  declined: ['The payment is declined.', 'ክፍያው ውድቅ ሆኗል።'],
  approveNow: ['Approve now', 'አሁን ያጽድቁ'],
  declineNow: ['Decline now', 'አሁን ውድቅ ያድርጉ'],
  customer: ['Customer', 'ደንበኛ'],
  noCustomer: ['No details were sent with the session.', 'ከክፍያ ገጹ ጋር ምንም ዝርዝር አልተላከም።'],
  metadata: ['Metadata', 'ተጨማሪ መረጃ'],
  timeline: ['What happened', 'የሆነው'],
  webhooks: ['Webhooks', 'ዌብሁኮች'],
  noWebhooks: ['No event was sent: there was no active subscription.', 'ምንም ክስተት አልተላከም፦ ንቁ ምዝገባ አልነበረም።'],
  resend: ['Resend', 'እንደገና ይላኩ'],
  resent: ['Resent. The new attempt appears in the timeline.', 'እንደገና ተልኳል። አዲሱ ሙከራ ከታች ይታያል።'],
  expected: ['Requested', 'የተጠየቀው'],
  failedBecause: ['Failed', 'አልተሳካም'],
  held: [
    'Money was received that does not match the request. It is held until support has decided.',
    'ከተጠየቀው ጋር የማይስማማ ገንዘብ ደርሷል። የድጋፍ ክፍሉ እስኪወስን ተይዟል።',
  ],
  late: ['It was paid after the session had ended.', 'የክፍያ ገጹ ካበቃ በኋላ ተከፍሏል።'],
  event: (name: string) => [`Event ${name}`, `ክስተት ${name}`],
  attempt: (number: number) => [`Webhook attempt ${number}`, `የዌብሁክ ሙከራ ${number}`],
  answered: (status: number, ms: number) => [`${status} after ${ms} ms`, `${status} ከ${ms} ሚሊ ሰከንድ በኋላ`],
  balance: (amount: string, account: string) => [`${amount} in the ${account} balance`, `${amount} በ${account} ሂሳብ`],
  available: ['available', 'ሊወጣ በሚችለው'],
  reserved: ['reserved', 'በተያዘው'],
});

/** The amounts of the entries of the timeline, by the API's names. */
export const AMOUNTS: Readonly<Record<string, string>> = catalogue({
  amountSantim: ['amount', 'መጠን'],
  expectedSantim: ['expected', 'የተጠበቀው'],
  receivedSantim: ['received', 'የደረሰው'],
  reportedSantim: ['reported', 'የተነገረው'],
  paidSantim: ['paid', 'የተከፈለው'],
  feeSantim: ['fee', 'የአገልግሎት ክፍያ'],
  feeTaxSantim: ['tax on the fee', 'የአገልግሎት ክፍያው ግብር'],
});
