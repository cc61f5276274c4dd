import { catalogue } from '../../ui/language.ts';

/** The texts of transactions. */
export const text = catalogue({
  none: ['There was no transaction in the last 30 days.', 'ባለፉት 30 ቀናት ግብይት አልነበረም።'],
  orderNo: ['Order number', 'የትዕዛዝ ቁጥር'],
  customer: ['Customer', 'ደንበኛ'],
  completedAt: ['Completed at', 'የተጠናቀቀበት ጊዜ'],
  received: ['Received', 'የተቀበሉት'],
  net: ['Net', 'የተጣራ'],
  transactionId: ['Transaction id', 'የግብይት መለያ'],
  sessionId: ['Session id', 'የክፍያ ገጽ መለያ'],
  payments: ['Attempts to pay', 'የክፍያ ሙከራዎች'],
  noPayments: ['The customer has not chosen a channel.', 'ደንበኛው የክፍያ መንገድ አልመረጠም።'],
  deliveries: ['Of this order', 'የዚህ ትዕዛዝ'],
  expected: ['Expected', 'የሚጠበቀው'],
  decision: ['Decision', 'ውሳኔ'],
  lastOutcome: ['Last answer', 'የመጨረሻ ምላሽ'],
  startedAt: ['Started at', 'የተጀመረበት ጊዜ'],
  endedAt: ['Ended at', 'ያበቃበት ጊዜ'],
  attemptId: ['Attempt id', 'የሙከራ መለያ'],
  held: ['Held', 'የተያዘ'],
  late: ['Confirmed late', 'ዘግይቶ የተረጋገጠ'],
  yes: ['yes', 'አዎ'],
  uncertain: ['It ended while the provider did not know whether it was paid.', 'አቅራቢው መከፈሉን ሳያውቅ አብቅቷል።'],
});
