import { catalogue } from '../../ui/language.ts';

/** The texts of the queue and of stalled work. */
export const text = catalogue({
  none: ['Nothing waits for an operator.', 'ኦፕሬተር የሚጠብቅ ነገር የለም።'],
  noneStalled: ['Nothing is stalled.', 'የቆመ ሥራ የለም።'],
  label: ['What waits', 'የሚጠብቁት'],
  kind: ['Kind', 'ዓይነት'],
  what: ['What', 'ምንድን ነው'],
  since: ['Since', 'ከ'],
  waits: ['Waits for', 'የጠበቀው'],
  gone: ['No longer in this list', 'ከዚህ ዝርዝር ወጥቷል'],
  goneHelp: ['It was decided, or is on another page.', 'ተወስኗል፣ ወይም በሌላ ገጽ ነው።'],
  noneLeft: ['Nothing else waits here.', 'እዚህ ሌላ የሚጠብቅ የለም።'],
  next: (what: string) => [`Next: ${what}`, `ቀጣይ፦ ${what}`],
  details: ['Details', 'ዝርዝር'],
});

/** The kinds of the queue. */
export const KINDS = catalogue({
  WITHDRAWAL_REVIEW: ['Withdrawal to review', 'የሚመረመር ወጪ'],
  WITHDRAWAL_UNKNOWN: ['Withdrawal without an outcome', 'ውጤቱ ያልታወቀ ወጪ'],
  WITHDRAWAL_CONFLICT: ['Withdrawal that the provider contradicts', 'አቅራቢው የሚቃረነው ወጪ'],
  REFUND_UNKNOWN: ['Refund without an outcome', 'ውጤቱ ያልታወቀ ተመላሽ ክፍያ'],
  REFUND_CONFLICT: ['Refund that the provider contradicts', 'አቅራቢው የሚቃረነው ተመላሽ ክፍያ'],
  PAYMENT_HELD: ['Held money', 'የተያዘ ገንዘብ'],
  PAYMENT_DUPLICATE: ['Paid twice', 'ሁለት ጊዜ የተከፈለ'],
  PAYMENT_UNKNOWN: ['Payment without an outcome', 'ውጤቱ ያልታወቀ ክፍያ'],
  SETTLEMENT_APPROVAL: ['Settlement to approve', 'የሚጸድቅ ዝውውር'],
  SETTLEMENT_READY_TO_SEND: ['Settlement to send', 'የሚላክ ዝውውር'],
  SETTLEMENT_OVERDUE: ['Settlement overdue', 'የዘገየ ዝውውር'],
  SETTLEMENT_CREDITED_LATE: ['Settlement credited late', 'ዘግይቶ የገባ ዝውውር'],
  BANK_ACCOUNT: ['Bank account to verify', 'የሚረጋገጥ የባንክ ሂሳብ'],
  KYC: ['Application to decide', 'የሚወሰን ማመልከቻ'],
  CHANNEL_REQUEST: ['Channel requested', 'የተጠየቀ የክፍያ መንገድ'],
  CREDENTIALS_PENDING: ['Credentials to activate', 'ሥራ ላይ የሚውሉ መለያዎች'],
  CREDENTIALS_ENDING: ['Credentials that end', 'የሚያበቁ መለያዎች'],
  RECONCILIATION: ['Discrepancy', 'ልዩነት'],
  RECONCILIATION_FAILED: ['Comparison failed', 'ያልተሳካ ማመሳከር'],
  RECEIPT_UNALLOCATED: ['Unallocated receipt', 'ያልተመደበ የባንክ ገቢ'],
  PAYOUT_OVERPAID: ['Overpaid withdrawal', 'ከመጠን በላይ የተከፈለ ወጪ'],
  REFUND_OVERPAID: ['Overpaid refund', 'ከመጠን በላይ የተከፈለ ተመላሽ ክፍያ'],
  PROPOSAL: ['Proposal to confirm', 'የሚረጋገጥ ሐሳብ'],
  DEAD_LETTER: ['Dead letter', 'ያልደረሰ መልእክት'],
});

/** The kinds of what is stalled. */
export const STALLED_KINDS = catalogue({
  OUTBOX_STALLED: ['Message not sent to Temporal', 'ወደ Temporal ያልተላከ መልእክት'],
  DELIVERY_PAST_DUE: ['Late attempt of a delivery', 'የዘገየ የመላኪያ ሙከራ'],
  PAYMENT_PENDING: ['Payment that should have ended', 'ማብቃት የነበረበት ክፍያ'],
  REFUND_PENDING: ['Refund that should have ended', 'ማብቃት የነበረበት ተመላሽ ክፍያ'],
  WITHDRAWAL_PENDING: ['Withdrawal that should have ended', 'ማብቃት የነበረበት ወጪ'],
  SETTLEMENT_PENDING: ['Settlement without its next step', 'ቀጣይ እርምጃ ያልተወሰደበት ዝውውር'],
  RECONCILIATION_MISSING: ['Day without a comparison', 'ያልተመሳከረ ቀን'],
  RECONCILIATION_PENDING: ['Comparison that does not end', 'ያላለቀ ማመሳከር'],
  REPORT_PENDING: ['Report without progress', 'የማይራመድ ሪፖርት'],
});

/** The name of a kind. */
export const kindText = (kind: string): string =>
  Object.entries({ ...KINDS, ...STALLED_KINDS }).find(([one]) => one === kind)?.[1] ?? kind;
