import type { ReactNode } from 'react';

import { confirmableUntil } from '../../src/payouts/states.ts';
import {
  WITHDRAWAL_STAGES,
  WITHDRAWAL_STATUSES,
  type WithdrawalStage,
  type WithdrawalStatus,
} from '../../src/payouts/withdrawals/states.ts';
import { amharicOf } from './api-meanings.ts';
import { ApiText, apiText } from './api-text.tsx';
import { Badge, Note, type Tone } from './badge.tsx';
import { catalogue } from './language.ts';
import { STAGES, stateFilters } from './stages.ts';
import { Time } from './time.tsx';
import { providerFailure } from './transaction-state.tsx';

/** A withdrawal's status, and the stage of a pending one. */
export const STATES = {
  ...STAGES,
  ...catalogue({
    PENDING: ['Pending', 'በመጠባበቅ ላይ'],
    SUCCESS: ['Paid', 'ተከፍሏል'],
    FAILED: ['Failed', 'አልተሳካም'],
    REJECTED: ['Rejected', 'ውድቅ ተደርጓል'],
    CANCELLED: ['Cancelled', 'ተሰርዟል'],
    REVERSED: ['Reversed', 'ተመልሷል'],
    UNDER_REVIEW: ['Under review', 'በምርመራ ላይ'],
  }),
};

/** Why a pending withdrawal is not paid yet, by its stage. */
export const PENDING_REASONS: Record<Exclude<WithdrawalStage, 'COMPLETED'>, string> = catalogue({
  AWAITING_CONFIRMATION: ['Another person has to confirm it here.', 'ሌላ ሰው እዚህ ማረጋገጥ አለበት።'],
  CREATED: ['It is about to be sent to the provider.', 'ወደ አቅራቢው ሊላክ ነው።'],
  UNDER_REVIEW: ['It is being reviewed before it is sent.', 'ከመላኩ በፊት እየተመረመረ ነው።'],
  SUBMITTED: ['The provider has it and has not paid it yet.', 'አቅራቢው ተቀብሎታል፣ ገና አልከፈለም።'],
  UNKNOWN: ['The provider does not know the outcome yet; it is queried again.', 'አቅራቢው ውጤቱን ገና አላወቀም፤ እንደገና ይጠየቃል።'],
});

const LABELS = catalogue({
  unconfirmed: ['Cancelled unless confirmed by', 'ካልተረጋገጠ የሚሰረዝበት'],
});

/** The filters of a list of withdrawals by status, and of pending ones by stage. */
export const STATE_FILTERS = stateFilters(STATES, { status: WITHDRAWAL_STATUSES, stage: WITHDRAWAL_STAGES });

/** The entries of a withdrawal's timeline. */
export const KINDS = catalogue({
  'withdrawal.created': ['Requested', 'ተጠይቋል'],
  'confirmation.requested': ['Waits for a second person', 'ሁለተኛ ሰው ይጠብቃል'],
  'confirmation.given': ['Confirmed by a second person', 'በሁለተኛ ሰው ተረጋግጧል'],
  'confirmation.declined': ['Declined by another person', 'በሌላ ሰው ተቀባይነት አላገኘም'],
  'confirmation.expired': ['Not confirmed within 7 days', 'በ7 ቀናት ውስጥ አልተረጋገጠም'],
  'review.started': ['Under review', 'በምርመራ ላይ'],
  'review.approved': ['Approved', 'ጸድቋል'],
  'review.rejected': ['Rejected', 'ውድቅ ተደርጓል'],
  'withdrawal.cancelled': ['Cancelled', 'ተሰርዟል'],
  'payout.submitted': ['Sent to the provider', 'ወደ አቅራቢው ተልኳል'],
  'provider.responded': ['The provider responded', 'አቅራቢው ምላሽ ሰጥቷል'],
  'provider.conflict': ['The provider contradicts the outcome', 'አቅራቢው ውጤቱን ይቃረናል'],
  'payout.succeeded': ['Paid', 'ተከፍሏል'],
  'payout.failed': ['Not paid', 'አልተከፈለም'],
  'withdrawal.resolved': ['Outcome resolved by operators', 'ውጤቱ በመስኮት ተወስኗል'],
  'payout.reversed': ['Reversed', 'ተመልሷል'],
});

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
export const stateText = ({ status, stage }: State): string => STATES[(status === 'PENDING' && stage) || status];

/** The status of a withdrawal, and the stage of a pending one, as a badge. */
export function WithdrawalState(state: State) {
  return <Badge tone={TONES[state.status]}>{stateText(state)}</Badge>;
}

/** When a withdrawal that waits for a second person is cancelled, as a row of facts; none of another one. */
export function confirmationFacts({ stage, requestedAt }: State & { requestedAt: string }): Record<string, ReactNode> {
  if (stage !== 'AWAITING_CONFIRMATION') return {};
  return { [LABELS.unconfirmed]: <Time at={confirmableUntil(new Date(requestedAt)).toISOString()} /> };
}

type Failure = Record<'code' | 'message' | 'providerCode', string> & { messageCode?: string | undefined };

/** Why a withdrawal was not paid: in the words of whoever has rejected it, if that was no provider. */
const reasonOf = ({ code, message, messageCode, providerCode }: Failure) => ({
  text: message,
  amharic: providerCode === '' ? amharicOf(messageCode) : providerFailure(code),
});

/** Why a withdrawal was not paid, for a file. */
export const failureReason = (failure: Failure): string => apiText(reasonOf(failure));

/** Why a withdrawal was not paid, in a page. */
export function WithdrawalFailure({ failure }: { failure: Failure }) {
  return (
    <Note tone="bad">
      <ApiText {...reasonOf(failure)} />
    </Note>
  );
}

/** To whom a withdrawal is paid. */
export function destinationText({ destination }: { destination: Destination }): string {
  const { phone, bankCode, accountNumber, accountName } = destination;
  return `${accountName}, ${phone ?? `${bankCode} ${accountNumber}`}`;
}
