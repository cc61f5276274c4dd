import type { WithdrawalStage, WithdrawalStatus } from '../../src/withdrawals/states.ts';
import { Badge, type Tone } from './badge.tsx';
import { catalogue } from './language.ts';

/** A withdrawal's status, and the stage of a pending one. */
export const STATES = catalogue(
  {
    PENDING: 'Pending',
    SUCCESS: 'Paid',
    FAILED: 'Failed',
    REJECTED: 'Rejected',
    CANCELLED: 'Cancelled',
    REVERSED: 'Reversed',
    AWAITING_CONFIRMATION: 'To be confirmed',
    CREATED: 'About to be sent',
    UNDER_REVIEW: 'Under review',
    SUBMITTED: 'Sent to the provider',
    UNKNOWN: 'The provider is asked for the outcome',
    COMPLETED: 'Completed',
  },
  {
    PENDING: 'በመጠባበቅ ላይ',
    SUCCESS: 'ተከፍሏል',
    FAILED: 'አልተሳካም',
    REJECTED: 'ውድቅ ተደርጓል',
    CANCELLED: 'ተሰርዟል',
    REVERSED: 'ተመልሷል',
    AWAITING_CONFIRMATION: 'ማረጋገጫ ይጠብቃል',
    CREATED: 'ሊላክ ነው',
    UNDER_REVIEW: 'በምርመራ ላይ',
    SUBMITTED: 'ወደ አቅራቢው ተልኳል',
    UNKNOWN: 'ውጤቱ ከአቅራቢው እየተጠየቀ ነው',
    COMPLETED: 'ተጠናቋል',
  },
);

/** The entries of a withdrawal's timeline. */
export const KINDS = catalogue(
  {
    'withdrawal.created': 'Requested',
    'confirmation.requested': 'Waits for a second person',
    'confirmation.given': 'Confirmed by a second person',
    'confirmation.declined': 'Declined by another person',
    'review.started': 'Under review',
    'review.approved': 'Approved',
    'review.rejected': 'Rejected',
    'withdrawal.cancelled': 'Cancelled',
    'payout.submitted': 'Sent to the provider',
    'provider.responded': 'The provider responded',
    'provider.conflict': 'The provider contradicts the outcome',
    'payout.succeeded': 'Paid',
    'payout.failed': 'Not paid',
    'withdrawal.resolved': 'Outcome resolved by operators',
    'payout.reversed': 'Reversed',
  },
  {
    'withdrawal.created': 'ተጠይቋል',
    'confirmation.requested': 'ሁለተኛ ሰው ይጠብቃል',
    'confirmation.given': 'በሁለተኛ ሰው ተረጋግጧል',
    'confirmation.declined': 'በሌላ ሰው ተቀባይነት አላገኘም',
    'review.started': 'በምርመራ ላይ',
    'review.approved': 'ጸድቋል',
    'review.rejected': 'ውድቅ ተደርጓል',
    'withdrawal.cancelled': 'ተሰርዟል',
    'payout.submitted': 'ወደ አቅራቢው ተልኳል',
    'provider.responded': 'አቅራቢው ምላሽ ሰጥቷል',
    'provider.conflict': 'አቅራቢው ውጤቱን ይቃረናል',
    'payout.succeeded': 'ተከፍሏል',
    'payout.failed': 'አልተከፈለም',
    'withdrawal.resolved': 'ውጤቱ በኦፕሬተሮች ተወስኗል',
    'payout.reversed': 'ተመልሷል',
  },
);

const TONES: Record<WithdrawalStatus, Tone> = {
  PENDING: 'info',
  SUCCESS: 'good',
  FAILED: 'bad',
  REJECTED: 'bad',
  CANCELLED: 'quiet',
  REVERSED: 'warn',
};

type State = { status: WithdrawalStatus; stage?: WithdrawalStage | undefined };
type Destination = Partial<Record<'phone' | 'bankCode' | 'accountNumber', string | undefined>> & {
  accountName: string;
};

/** The status of a withdrawal, and the stage of a pending one, in words. */
export function WithdrawalState({ status, stage }: State) {
  return <Badge tone={TONES[status]}>{STATES[stage ?? status]}</Badge>;
}

/** To whom a withdrawal is paid. */
export function destinationText({ destination }: { destination: Destination }): string {
  const { phone, bankCode, accountNumber, accountName } = destination;
  return `${accountName}, ${phone ?? `${bankCode} ${accountNumber}`}`;
}
