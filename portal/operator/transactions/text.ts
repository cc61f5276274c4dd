import { catalogue } from '../../ui/language.ts';
import type { TransactionDetail } from '../routes.ts';

/** The texts of transactions. */
export const text = catalogue(
  {
    title: 'Transactions',
    none: 'No transaction matches these filters.',
    orderNo: 'Order number',
    customer: 'Customer',
    createdAt: 'Created at',
    completedAt: 'Completed at',
    received: 'Received',
    net: 'Net',
    transactionId: 'Transaction id',
    sessionId: 'Session id',
    payments: 'Attempts to pay',
    noPayments: 'The customer has not chosen a channel.',
    expected: 'Expected',
    decision: 'Decision',
    lastOutcome: 'Last answer',
    startedAt: 'Started at',
    endedAt: 'Ended at',
    attemptId: 'Attempt id',
    held: 'Held',
    late: 'Confirmed late',
    yes: 'yes',
    uncertain: 'It ended while the provider did not know whether it was paid.',
  },
  {
    title: 'ግብይቶች',
    none: 'ከእነዚህ ማጣሪያዎች ጋር የሚስማማ ግብይት የለም።',
    orderNo: 'የትእዛዝ ቁጥር',
    customer: 'ደንበኛ',
    createdAt: 'የተፈጠረበት ጊዜ',
    completedAt: 'የተጠናቀቀበት ጊዜ',
    received: 'የተቀበሉት',
    net: 'የተጣራ',
    transactionId: 'የግብይት መለያ',
    sessionId: 'የክፍያ ገጽ መለያ',
    payments: 'የክፍያ ሙከራዎች',
    noPayments: 'ደንበኛው የክፍያ መንገድ አልመረጠም።',
    expected: 'የሚጠበቀው',
    decision: 'ውሳኔ',
    lastOutcome: 'የመጨረሻ ምላሽ',
    startedAt: 'የተጀመረበት ጊዜ',
    endedAt: 'ያበቃበት ጊዜ',
    attemptId: 'የሙከራ መለያ',
    held: 'የተያዘ',
    late: 'ዘግይቶ የተረጋገጠ',
    yes: 'አዎ',
    uncertain: 'አቅራቢው መከፈሉን ሳያውቅ አብቅቷል።',
  },
);

/** Why money is held. */
export const HELD: Record<NonNullable<TransactionDetail['held']>, string> = catalogue(
  {
    WRONG_AMOUNT: 'Held: the received amount is another one.',
    WRONG_CURRENCY: 'Held: the received currency is another one.',
    REFERENCE_USED: 'Held: its reference has paid another transaction.',
  },
  {
    WRONG_AMOUNT: 'ተይዟል፦ የደረሰው መጠን ሌላ ነው።',
    WRONG_CURRENCY: 'ተይዟል፦ የደረሰው የገንዘብ ዓይነት ሌላ ነው።',
    REFERENCE_USED: 'ተይዟል፦ ማጣቀሻው ሌላ ግብይት ከፍሏል።',
  },
);
