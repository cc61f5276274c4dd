import type { z } from 'zod';

import type { Refund } from '../../src/payments/refunds/schema.ts';
import type { RefundStatus } from '../../src/payments/refunds/states.ts';
import { ApiText } from './api-text.tsx';
import { Badge, Note, type Tone } from './badge.tsx';
import { catalogue } from './language.ts';

export type RefundRow = z.output<typeof Refund>;

/** A refund's status, and the stage of a pending one. */
export const STATES = catalogue({
  PENDING: ['Pending', 'በመጠባበቅ ላይ'],
  SUCCESS: ['Refunded', 'ተመልሷል'],
  FAILED: ['Failed', 'አልተሳካም'],
  AWAITING_CONFIRMATION: ['To be confirmed', 'ማረጋገጫ ይጠብቃል'],
  CREATED: ['About to be sent', 'ሊላክ ነው'],
  SUBMITTED: ['Sent to the provider', 'ወደ አቅራቢው ተልኳል'],
  UNKNOWN: ['The provider is asked for the outcome', 'ውጤቱ ከአቅራቢው እየተጠየቀ ነው'],
  COMPLETED: ['Completed', 'ተጠናቋል'],
});

const FAILURES: Readonly<Record<string, string>> = catalogue({
  DECLINED: ['The provider did not make the refund.', 'አቅራቢው ገንዘቡን አልመለሰም።'],
  INSUFFICIENT_FUNDS: ['The account at the provider has too little money.', 'በአቅራቢው ዘንድ ያለው ሂሳብ አይበቃም።'],
  TIMED_OUT: ['It was not confirmed within 7 days.', 'በ7 ቀናት ውስጥ አልተረጋገጠም።'],
});

const TONES: Record<RefundStatus, Tone> = { PENDING: 'info', SUCCESS: 'good', FAILED: 'bad' };

/** The status of a refund, and the stage of a pending one, in words. */
export function RefundState({ status, stage }: Pick<RefundRow, 'status' | 'stage'>) {
  return <Badge tone={TONES[status]}>{STATES[(status === 'PENDING' && stage) || status]}</Badge>;
}

/** Why a refund was not made: in the words of the person who declined it, if there is one. */
export function RefundFailure({ failure: { code, message } }: { failure: NonNullable<RefundRow['failure']> }) {
  return (
    <Note tone="bad">
      <ApiText text={message} amharic={FAILURES[code]} />
    </Note>
  );
}
