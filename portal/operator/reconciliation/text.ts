import { catalogue } from '../../ui/language.ts';
import type { Discrepancy, ReconciledDay } from '../routes.ts';

/** The texts of reconciliation. */
export const text = catalogue({
  none: ['No day was compared in this time.', 'በዚህ ጊዜ የተመሳከረ ቀን የለም።'],
  day: ['Day', 'ቀን'],
  running: ['is being compared', 'በማመሳከር ላይ'],
  compare: ['Compared at', 'የተመሳከረበት ጊዜ'],
  theirs: ['By the provider', 'በአቅራቢው'],
  ours: ['By our ledger', 'በእኛ መዝገብ'],
  payments: ['Payments', 'ክፍያዎች'],
  payouts: ['Payouts', 'ወጪዎች'],
  reversals: ['Reversals', 'የተመለሱ ወጪዎች'],
  refunds: ['Refunds', 'ተመላሽ ክፍያዎች'],
  owed: ['Owed by the provider at the end of the day', 'በቀኑ መጨረሻ አቅራቢው ያለበት'],
  noDiscrepancies: ['There is no discrepancy.', 'ልዩነት የለም።'],
  kind: ['Kind', 'ዓይነት'],
  order: ['Order', 'ትዕዛዝ'],
  state: ['State', 'ሁኔታ'],
  open: ['Open', 'ክፍት'],
  closed: ['Closed', 'የተዘጋ'],
  type: ['Type', 'ዓይነት'],
  ourStatus: ['Our status', 'በእኛ ያለው ሁኔታ'],
  detectedAt: ['Detected at', 'የተገኘበት ጊዜ'],
  closedBy: ['Closed by', 'የዘጋው'],
  note: ['Note', 'ማስታወሻ'],
  account: ['Account', 'ሂሳብ'],
  noReceipts: ['No money has arrived at the bank.', 'ወደ ባንክ የገባ ገንዘብ የለም።'],
  bankReference: ['Reference of the bank', 'የባንክ ማጣቀሻ'],
  receiptId: ['Receipt id', 'የገቢ መለያ'],
  bookedAt: ['Booked at', 'የተመዘገበበት ጊዜ'],
  outcome: ['Outcome', 'ውጤት'],
  waiting: ['Waits for a decision', 'ውሳኔ ይጠብቃል'],
  yes: ['yes', 'አዎ'],
  reversed: ['reversed', 'የተሰረዘ'],
  lastWeek: ['Last 7 days', 'ያለፉት 7 ቀናት'],
});

/** The result of a comparison. */
export const RESULTS: Record<ReconciledDay['status'], string> = catalogue({
  CLEAN: ['Clean', 'ልዩነት የለም'],
  DISCREPANCIES: ['Discrepancies', 'ልዩነቶች አሉ'],
  INCOMPLETE: ['Incomplete', 'ያልተሟላ'],
});

/** The kinds of discrepancies. */
export const KINDS: Record<Discrepancy['kind'], string> = catalogue({
  UNKNOWN_ORDER: ['Order that is not ours', 'የእኛ ያልሆነ ትዕዛዝ'],
  UNCONFIRMED: ['Paid there, not confirmed here', 'እዚያ የተከፈለ፣ እዚህ ያልተረጋገጠ'],
  AMOUNT_MISMATCH: ['Another amount', 'ሌላ መጠን'],
  MISSING_FROM_STATEMENT: ['Not in the statement', 'በመግለጫው የሌለ'],
});
