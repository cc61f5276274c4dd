import { channelName } from '../ui/channel-text.ts';
import { DELIVERY_TEXTS } from '../ui/delivery-status.ts';
import {
  fieldLabel as sharedLabel,
  fieldText as sharedText,
  STATES as SHARED_STATES,
  codeText as sharedCode,
} from '../ui/field-words.ts';
import { listed } from '../ui/format.ts';
import { text as frame } from '../ui/frame-text.ts';
import { catalogue } from '../ui/language.ts';
import { HELD_REASON_TEXTS, providerFailure, STATES as TRANSACTION_STATES } from '../ui/transaction-state.tsx';
import { STATES as WITHDRAWAL_STATES } from '../ui/withdrawal-state.tsx';
import { ACTIONS, RESOURCES } from './action-text.ts';
import {
  ATTEMPT_STATES,
  CHECKS,
  DIRECTIONS,
  HOLD_DECISIONS,
  HOLIDAY_KINDS,
  KEY_KINDS,
  orderTypeText,
  outcomeText,
} from './codes.ts';
import { APPROVALS, text as merchants } from './merchants/text.ts';
import { STATES as PROPOSAL_STATES } from './proposals/text.ts';
import { KINDS as DISCREPANCIES } from './reconciliation/text.ts';
import type { AuditEntry } from './routes.ts';
import { REASONS } from './withdrawals/text.ts';

type Words = Readonly<Record<string, string>>;

/** The names of the fields that only operators see; others are shown as the API has them. */
const FIELDS = catalogue({
  state: ['State', 'ሁኔታ'],
  returnedOnRefund: ['Fee returned on refund', 'የአገልግሎት ክፍያው በተመላሽ ክፍያ ይመለሳል'],
  nameAm: ['Name in Amharic', 'ስም በአማርኛ'],
  amountSantim: ['Amount', 'መጠን'],
  reportedSantim: ['Reported', 'አቅራቢው የነገረው'],
  paidAmount: ['Paid', 'የተከፈለ'],
  received: ['Received', 'የተቀበሉት'],
  receivedSantim: ['Received', 'የተቀበሉት'],
  paidSantim: ['Paid', 'የተከፈለ'],
  currency: ['Currency', 'የገንዘብ ዓይነት'],
  fee: ['Fee', 'የአገልግሎት ክፍያ'],
  feeTax: ['Tax on the fee', 'የአገልግሎት ክፍያው ግብር'],
  direction: ['Direction', 'አቅጣጫ'],
  basisPoints: ['Rate', 'መጠን በመቶ'],
  taxBasisPoints: ['Tax', 'ግብር'],
  fixed: ['Fixed part', 'ቋሚ ክፍል'],
  min: ['At least', 'ቢያንስ'],
  max: ['At most', 'ቢበዛ'],
  daily: ['Per day', 'በቀን'],
  validFrom: ['Holds from', 'የሚጸናው ከ'],
  own: ["The merchant's own", 'የራሱ'],
  largeAmount: ['Reviewed from', 'የሚመረመረው ከ'],
  twoPersonAmount: ['Two approvals from', 'ሁለት ማጽደቅ ከ'],
  perHourMax: ['At most within an hour', 'በአንድ ሰዓት ቢበዛ'],
  tier: ['Tier', 'ደረጃ'],
  environment: ['Environment', 'አካባቢ'],
  days: ['Lifetime in days', 'ዕድሜ በቀናት'],
  rotates: ['Rotated key', 'የሚቀየረው ቁልፍ'],
  rotatedTo: ['Successor', 'ተተኪ ቁልፍ'],
  invitationId: ['Invitation', 'ግብዣ'],
  operatorId: ['Operator', 'ኦፕሬተር'],
  revokedAt: ['Revoked at', 'የተሰረዘበት ጊዜ'],
  startsAt: ['Begins', 'የሚጀምርበት'],
  endsAt: ['Ends', 'የሚያበቃበት'],
  cancelledAt: ['Ended or cancelled at', 'ያበቃበት ወይም የተሰረዘበት ጊዜ'],
  reasonAm: ['Reason in Amharic', 'ምክንያት በአማርኛ'],
  date: ['Day', 'ቀን'],
  day: ['Day', 'ቀን'],
  confirmed: ['Its day is confirmed', 'ቀኑ ተረጋግጧል'],
  bankReference: ['Reference of the bank', 'የባንክ ማጣቀሻ'],
  providerReference: ['Reference of the provider', 'የአቅራቢው ማጣቀሻ'],
  returnReference: ['Reference of the return', 'የመመለሻ ማጣቀሻ'],
  creditedOn: ['Credited on', 'የገባበት ቀን'],
  outcome: ['Outcome', 'ውጤት'],
  attemptId: ['Attempt', 'ሙከራ'],
  holdReason: ['Why it is held', 'የተያዘበት ምክንያት'],
  holdResolution: ['Decision', 'ውሳኔ'],
  account: ['Account', 'ሂሳብ'],
  payoutAccount: ['Account of payouts', 'የወጪ ሂሳብ'],
  checkOutcome: ['Last check', 'የመጨረሻ ፍተሻ'],
  withdrawalId: ['Withdrawal', 'ወጪ'],
  refundId: ['Refund', 'ተመላሽ ክፍያ'],
  awaitsConfirmation: ['Waits for a second person', 'ሁለተኛ ሰው ይጠብቃል'],
  orderId: ['Order', 'ትዕዛዝ'],
  event: ['Event', 'ክስተት'],
  eventId: ['Event id', 'የክስተት መለያ'],
  receiverHost: ['Receiver', 'ተቀባይ'],
  attempts: ['Attempts', 'ሙከራዎች'],
  failures: ['Failed tries', 'ያልተሳኩ ሙከራዎች'],
  expected: ['Expected', 'የሚጠበቀው'],
  discrepancy: ['Kind', 'ዓይነት'],
  ours: ['By our ledger', 'በእኛ መዝገብ'],
  theirs: ['By the provider', 'በአቅራቢው'],
  theirCurrency: ['Currency by the provider', 'የገንዘብ ዓይነት በአቅራቢው'],
  providerSays: ['Answer of the provider', 'የአቅራቢው ምላሽ'],
  ourStatus: ['Our status', 'በእኛ ያለው ሁኔታ'],
  type: ['Type', 'ዓይነት'],
  action: ['Action', 'ተግባር'],
  resourceType: ['What', 'ምንድን ነው'],
  resourceId: ['Id', 'መለያ'],
  documentId: ['Document', 'ሰነድ'],
  documents: ['Documents', 'ሰነዶች'],
  reasons: ['Why it is reviewed', 'የሚመረመርበት ምክንያት'],
  approvalsNeeded: ['Approvals needed', 'የሚያስፈልጉ ማጽደቆች'],
  approvalsMissing: ['Approvals still needed', 'ገና የሚያስፈልጉ ማጽደቆች'],
  creditedAt: ['Credited on', 'የገባበት ቀን'],
  createdBy: ['Entered by', 'ያስገባው'],
  createdByName: ['Entered by', 'ያስገባው'],
  code: ['Why', 'ምክንያት'],
  providerCode: ['Code of the provider', 'የአቅራቢው ኮድ'],
  expectedBy: ['Expected by', 'እስከዚህ የሚጠበቅ'],
  format: ['Format', 'ቅርጸት'],
  late: ['Confirmed late', 'ዘግይቶ የተረጋገጠ'],
});

/** The words for the values of a field, whatever has it. */
const VALUES: Readonly<Record<string, Words>> = {
  action: ACTIONS,
  resourceType: RESOURCES,
  direction: DIRECTIONS,
  environment: { sandbox: frame.test, live: frame.live },
  approval: APPROVALS,
  holdReason: HELD_REASON_TEXTS,
  holdResolution: HOLD_DECISIONS,
  checkOutcome: CHECKS,
  discrepancy: DISCREPANCIES,
  reasons: REASONS,
  ourStatus: { ...WITHDRAWAL_STATES, ...ATTEMPT_STATES },
  kind: { ...KEY_KINDS, ...HOLIDAY_KINDS },
};

/** The words for the states of a resource. */
const STATES: Partial<Record<AuditEntry['resourceType'], Words>> = {
  ...SHARED_STATES,
  transaction: TRANSACTION_STATES,
  delivery: DELIVERY_TEXTS,
  merchant: { ACTIVE: merchants.ACTIVE, SUSPENDED: merchants.SUSPENDED },
  proposal: PROPOSAL_STATES,
};

/** The name of a field; undefined: none is known. */
export const fieldLabel = (field: string): string | undefined => (FIELDS as Words)[field] ?? sharedLabel(field);

function codeText(field: string, code: string, of: AuditEntry['resourceType'] | undefined): string | undefined {
  if (field === 'outcome' || field === 'providerSays') return outcomeText(code);
  if (field === 'type') return orderTypeText(code);
  if (field === 'code') return providerFailure(code);
  if (field === 'status' || field === 'stage') return of && STATES[of]?.[code];
  return VALUES[field]?.[code] ?? sharedCode(field, code);
}

/** The value of a field in words; undefined: it is its own. `of`: what has the field, where that is known. */
export function fieldText(field: string, value: unknown, of?: AuditEntry['resourceType']): string | undefined {
  if (typeof value === 'number' && /basisPoints$/i.test(field)) return merchants.points(value);
  return sharedText(field, value, (code) => codeText(field, code, of));
}

/** A rule of fees or limits by what it is of: direction and channel. */
export const ruleName = ({ direction, channel }: { direction: string; channel?: string | null }): string =>
  listed([(DIRECTIONS as Words)[direction] ?? direction, channel && channelName(channel)]);
