import type { z } from 'zod';

import type { Refund } from '../../src/payouts/refunds/schema.ts';
import { REFUND_STAGES, REFUND_STATUSES, type RefundStatus } from '../../src/payouts/refunds/states.ts';
import { confirmableUntil } from '../../src/payouts/states.ts';
import type { PayoutFailure } from '../../src/providers/provider.ts';
import { ApiText } from './api-text.tsx';
import { Badge, Note, type Tone } from './badge.tsx';
import { catalogue } from './language.ts';
import { STAGES, stateFilters } from './stages.ts';

export type RefundRow = z.output<typeof Refund>;

/** A refund's status, and the stage of a pending one. */
export const STATES = {
  ...STAGES,
  ...catalogue({
    PENDING: ['Pending', 'በመጠባበቅ ላይ'],
    SUCCESS: ['Refunded', 'ተመልሷል'],
    FAILED: ['Failed', 'አልተሳካም'],
  }),
};

/** The filters of a list of refunds by status, and of pending ones by stage. */
export const STATE_FILTERS = stateFilters(STATES, { status: REFUND_STATUSES, stage: REFUND_STAGES });

/** Why a refund was not made. */
const FAILURES: Record<PayoutFailure['code'] | 'byPerson', string> = catalogue({
  DECLINED: ['The provider did not make the refund.', 'አቅራቢው ገንዘቡን አልመለሰም።'],
  INSUFFICIENT_FUNDS: ['The account at the provider has too little money.', 'በአቅራቢው ዘንድ ያለው ሂሳብ አይበቃም።'],
  TIMED_OUT: ['It was not confirmed within 7 days.', 'በ7 ቀናት ውስጥ አልተረጋገጠም።'],
  REJECTED: ['The provider rejected the request.', 'አቅራቢው ጥያቄውን አልተቀበለም።'],
  byPerson: ['It was declined by a person.', 'በሰው ውድቅ ተደርጓል።'],
  CANCELLED_BY_CUSTOMER: ['The customer cancelled the refund.', 'ደንበኛው መመለሱን ሰርዟል።'],
  INVALID_PAYER: ['The provider does not know the phone number.', 'አቅራቢው ስልክ ቁጥሩን አያውቀውም።'],
  INVALID_PAYEE: ['The provider does not know the phone or account.', 'አቅራቢው ስልኩን ወይም ሂሳቡን አያውቀውም።'],
});

type Failure = { code: string; providerCode: unknown };

const isByPerson = ({ code, providerCode }: Failure): boolean => code === 'REJECTED' && providerCode === '';

/** Why a refund was not made, in a sentence; undefined: the code is unknown. */
export function refundFailure(failure: Failure): string | undefined {
  const { code } = failure;
  if (isByPerson(failure)) return FAILURES.byPerson;
  return code in FAILURES ? FAILURES[code as PayoutFailure['code']] : undefined;
}

/** How a refund has ended, by the provider's report or the operators' decision. */
export const ENDS = catalogue({
  succeeded: ['refunded', 'ተመልሷል'],
  COMPLETED: ['the customer has the money', 'ገንዘቡ ለደንበኛው ደርሷል'],
  FAILED: ['the customer has none of it', 'ገንዘቡ ለደንበኛው አልደረሰም'],
});

const TONES: Record<RefundStatus, Tone> = { PENDING: 'info', SUCCESS: 'good', FAILED: 'bad' };

/** The status of a refund, and the stage of a pending one, in words. */
export function RefundState({ status, stage }: Pick<RefundRow, 'status' | 'stage'>) {
  return <Badge tone={TONES[status]}>{STATES[(status === 'PENDING' && stage) || status]}</Badge>;
}

/** When a refund that waits for a second person fails; undefined: it does not wait. */
export const refundUntil = ({ stage, requestedAt }: Pick<RefundRow, 'stage' | 'requestedAt'>): string | undefined =>
  stage === 'AWAITING_CONFIRMATION' ? confirmableUntil(new Date(requestedAt)).toISOString() : undefined;

/** Why a refund was not made: in the words of the person who declined it, if there is one. */
export function RefundFailure({ failure }: { failure: NonNullable<RefundRow['failure']> }) {
  return (
    <Note tone="bad">
      <ApiText text={failure.message} amharic={isByPerson(failure) ? undefined : refundFailure(failure)} />
    </Note>
  );
}
