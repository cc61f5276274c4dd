import type { SettlementStatus } from '../../src/settlements/states.ts';
import { Badge, type Tone } from './badge.tsx';
import { catalogue } from './language.ts';

/** A settlement's status in words. */
export const STATES = catalogue(
  {
    REQUESTED: 'Waits for approval',
    APPROVED: 'Approved, about to be sent',
    PROCESSING: 'Sent to the bank',
    COMPLETED: 'Credited',
    FAILED: 'Failed',
    REJECTED: 'Rejected',
    CANCELLED: 'Cancelled',
  },
  {
    REQUESTED: 'ማጽደቅ ይጠብቃል',
    APPROVED: 'ጸድቋል፣ ሊላክ ነው',
    PROCESSING: 'ወደ ባንክ ተልኳል',
    COMPLETED: 'ወደ ሂሳብ ገብቷል',
    FAILED: 'አልተሳካም',
    REJECTED: 'ውድቅ ተደርጓል',
    CANCELLED: 'ተሰርዟል',
  },
);

/** The entries of a settlement's timeline. */
export const KINDS = catalogue(
  {
    'settlement.requested': 'Requested',
    'review.approved': 'Approved',
    'review.rejected': 'Rejected',
    'settlement.cancelled': 'Cancelled',
    'bank.sent': 'Sent to the bank',
    'bank.credited': 'Credited',
    'bank.failed': 'Not credited by the bank',
    'bank.returned': 'Returned by the bank',
    'bank.credited_late': 'The bank reports a late credit',
    'bank.credit_dismissed': 'Late credit dismissed',
    'expected_dates.changed': 'Expected days changed',
    'settlement.overdue': 'Later than expected',
  },
  {
    'settlement.requested': 'ተጠይቋል',
    'review.approved': 'ጸድቋል',
    'review.rejected': 'ውድቅ ተደርጓል',
    'settlement.cancelled': 'ተሰርዟል',
    'bank.sent': 'ወደ ባንክ ተልኳል',
    'bank.credited': 'ወደ ሂሳብ ገብቷል',
    'bank.failed': 'ባንኩ አላስገባም',
    'bank.returned': 'ባንኩ መልሷል',
    'bank.credited_late': 'ባንኩ ዘግይቶ መግባቱን አስታውቋል',
    'bank.credit_dismissed': 'የዘገየው ገቢ ውድቅ ተደርጓል',
    'expected_dates.changed': 'የሚጠበቁት ቀናት ተለውጠዋል',
    'settlement.overdue': 'ከሚጠበቀው ዘግይቷል',
  },
);

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
