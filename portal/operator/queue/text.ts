import { catalogue } from '../../ui/language.ts';

/** The texts of the queue and of stalled work. */
export const text = catalogue(
  {
    title: 'Queue',
    stalledTitle: 'Stalled work',
    none: 'Nothing waits for an operator.',
    noneStalled: 'Nothing is stalled.',
    label: 'What waits',
    kind: 'Kind',
    what: 'What',
    amount: 'Amount',
    since: 'Since',
    waits: 'Waits for',
    details: 'Details',
  },
  {
    title: 'ወረፋ',
    stalledTitle: 'የቆመ ሥራ',
    none: 'ኦፕሬተር የሚጠብቅ ነገር የለም።',
    noneStalled: 'የቆመ ሥራ የለም።',
    label: 'የሚጠብቁት',
    kind: 'ዓይነት',
    what: 'ምንድን ነው',
    amount: 'መጠን',
    since: 'ከ',
    waits: 'የጠበቀው',
    details: 'ዝርዝር',
  },
);

/** The kinds of the queue. */
export const KINDS: Readonly<Record<string, string>> = catalogue(
  {
    WITHDRAWAL_REVIEW: 'Withdrawal to review',
    WITHDRAWAL_UNKNOWN: 'Withdrawal without an outcome',
    WITHDRAWAL_CONFLICT: 'Withdrawal that the provider contradicts',
    PAYMENT_HELD: 'Held money',
    PAYMENT_DUPLICATE: 'Paid twice',
    PAYMENT_UNKNOWN: 'Payment without an outcome',
    SETTLEMENT_APPROVAL: 'Settlement to approve',
    SETTLEMENT_READY_TO_SEND: 'Settlement to send',
    SETTLEMENT_OVERDUE: 'Settlement overdue',
    SETTLEMENT_CREDITED_LATE: 'Settlement credited late',
    BANK_ACCOUNT: 'Bank account to verify',
    KYC: 'Application to decide',
    CHANNEL_REQUEST: 'Channel requested',
    CREDENTIALS_PENDING: 'Credentials to activate',
    CREDENTIALS_ENDING: 'Credentials that end',
    RECONCILIATION: 'Discrepancy',
    RECONCILIATION_FAILED: 'Comparison failed',
    RECEIPT_UNALLOCATED: 'Unallocated receipt',
    PAYOUT_OVERPAID: 'Overpaid withdrawal',
    PROPOSAL: 'Proposal to confirm',
    DEAD_LETTER: 'Dead letter',
  },
  {
    WITHDRAWAL_REVIEW: 'የሚመረመር ወጪ',
    WITHDRAWAL_UNKNOWN: 'ውጤቱ ያልታወቀ ወጪ',
    WITHDRAWAL_CONFLICT: 'አቅራቢው የሚቃረነው ወጪ',
    PAYMENT_HELD: 'የተያዘ ገንዘብ',
    PAYMENT_DUPLICATE: 'ሁለት ጊዜ የተከፈለ',
    PAYMENT_UNKNOWN: 'ውጤቱ ያልታወቀ ክፍያ',
    SETTLEMENT_APPROVAL: 'የሚጸድቅ ዝውውር',
    SETTLEMENT_READY_TO_SEND: 'የሚላክ ዝውውር',
    SETTLEMENT_OVERDUE: 'የዘገየ ዝውውር',
    SETTLEMENT_CREDITED_LATE: 'ዘግይቶ የገባ ዝውውር',
    BANK_ACCOUNT: 'የሚረጋገጥ የባንክ ሂሳብ',
    KYC: 'የሚወሰን ማመልከቻ',
    CHANNEL_REQUEST: 'የተጠየቀ የክፍያ መንገድ',
    CREDENTIALS_PENDING: 'ሥራ ላይ የሚውሉ መለያዎች',
    CREDENTIALS_ENDING: 'የሚያበቁ መለያዎች',
    RECONCILIATION: 'ልዩነት',
    RECONCILIATION_FAILED: 'ያልተሳካ ማመሳከር',
    RECEIPT_UNALLOCATED: 'ያልተመደበ የባንክ ገቢ',
    PAYOUT_OVERPAID: 'ከመጠን በላይ የተከፈለ ወጪ',
    PROPOSAL: 'የሚረጋገጥ ሐሳብ',
    DEAD_LETTER: 'ያልደረሰ መልእክት',
  },
);

/** The kinds of what is stalled. */
export const STALLED_KINDS: Readonly<Record<string, string>> = catalogue(
  {
    OUTBOX_STALLED: 'Message not sent to Temporal',
    DELIVERY_PAST_DUE: 'Late attempt of a delivery',
    PAYMENT_PENDING: 'Payment that should have ended',
    WITHDRAWAL_PENDING: 'Withdrawal that should have ended',
    SETTLEMENT_PENDING: 'Settlement without its next step',
    RECONCILIATION_MISSING: 'Day without a comparison',
    RECONCILIATION_PENDING: 'Comparison that does not end',
    REPORT_PENDING: 'Report without progress',
  },
  {
    OUTBOX_STALLED: 'ወደ Temporal ያልተላከ መልእክት',
    DELIVERY_PAST_DUE: 'የዘገየ የመላኪያ ሙከራ',
    PAYMENT_PENDING: 'ማብቃት የነበረበት ክፍያ',
    WITHDRAWAL_PENDING: 'ማብቃት የነበረበት ወጪ',
    SETTLEMENT_PENDING: 'ቀጣይ እርምጃ ያልተወሰደበት ዝውውር',
    RECONCILIATION_MISSING: 'ያልተመሳከረ ቀን',
    RECONCILIATION_PENDING: 'ያላለቀ ማመሳከር',
    REPORT_PENDING: 'የማይራመድ ሪፖርት',
  },
);

/** The name of a kind. */
export const kindText = (kind: string): string => KINDS[kind] ?? STALLED_KINDS[kind] ?? kind;
