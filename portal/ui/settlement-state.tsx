import type { SettlementStatus } from '../../src/settlements/states.ts';
import { Badge, type Tone } from './badge.tsx';
import { catalogue } from './language.ts';

/** A settlement's status in words. */
export const STATES = catalogue({
  REQUESTED: ['Waits for approval', 'ማጽደቅ ይጠብቃል'],
  APPROVED: ['Approved, about to be sent', 'ጸድቋል፣ ሊላክ ነው'],
  PROCESSING: ['Sent to the bank', 'ወደ ባንክ ተልኳል'],
  COMPLETED: ['Credited', 'ወደ ሂሳብ ገብቷል'],
  FAILED: ['Failed', 'አልተሳካም'],
  REJECTED: ['Rejected', 'ውድቅ ተደርጓል'],
  CANCELLED: ['Cancelled', 'ተሰርዟል'],
});

/** The entries of a settlement's timeline. */
export const KINDS = catalogue({
  'settlement.requested': ['Requested', 'ተጠይቋል'],
  'review.approved': ['Approved', 'ጸድቋል'],
  'review.rejected': ['Rejected', 'ውድቅ ተደርጓል'],
  'settlement.cancelled': ['Cancelled', 'ተሰርዟል'],
  'bank.sent': ['Sent to the bank', 'ወደ ባንክ ተልኳል'],
  'bank.credited': ['Credited', 'ወደ ሂሳብ ገብቷል'],
  'bank.failed': ['Not credited by the bank', 'ባንኩ አላስገባም'],
  'bank.returned': ['Returned by the bank', 'ባንኩ መልሷል'],
  'bank.credited_late': ['The bank reports a late credit', 'ባንኩ ዘግይቶ መግባቱን አስታውቋል'],
  'bank.credit_dismissed': ['Late credit dismissed', 'የዘገየው ገቢ ውድቅ ተደርጓል'],
  'expected_dates.changed': ['Expected days changed', 'የሚጠበቁት ቀናት ተለውጠዋል'],
  'settlement.overdue': ['Later than expected', 'ከሚጠበቀው ዘግይቷል'],
});

/** Why a settlement has failed, before the words of whoever has reported it. */
export const FAILURES = catalogue({
  REJECTED: ['Rejected:', 'ውድቅ የተደረገበት ምክንያት፦'],
  BANK_REFUSED: ['The bank has not credited it:', 'ባንኩ ያላስገባበት ምክንያት፦'],
  BANK_RETURNED: ['The bank has returned it:', 'ባንኩ የመለሰበት ምክንያት፦'],
});

const TONES: Record<SettlementStatus, Tone> = {
  REQUESTED: 'info',
  APPROVED: 'info',
  PROCESSING: 'info',
  COMPLETED: 'good',
  FAILED: 'bad',
  REJECTED: 'bad',
  CANCELLED: 'quiet',
};

/** The status of a settlement in words. */
export function SettlementState({ status }: { status: SettlementStatus }) {
  return <Badge tone={TONES[status]}>{STATES[status]}</Badge>;
}
