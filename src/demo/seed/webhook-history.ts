import type { KeyRing } from '../../lib/crypto.ts';
import { HOUR_MS } from '../../lib/dates.ts';
import { rows, type Knex } from '../../lib/db.ts';
import { createAttempt } from '../../webhooks/delivery/attempt.ts';
import { claimOne } from '../../webhooks/delivery/claim.ts';
import { recordAttempts, type DeliveryNow } from '../../webhooks/delivery/record-attempt.ts';
import type { Sender, SendResult } from '../../webhooks/delivery/send.ts';
import { createRandom, type Random } from './random.ts';

/** The contract's schedule, whatever this installation's setting: 14 h 36 min from the first attempt to the last. */
const RETRY_DELAYS_SECONDS: readonly number[] = [60, 300, 1_800, 7_200, 43_200];
const JITTER = 0.5;
/** From the first attempt to the last at most, jitter and answers included. */
export const RETRY_SCHEDULE_MS = 15 * HOUR_MS;
/** A commit to its first attempt. */
const FIRST_ATTEMPT_AFTER_MS = 120;
/** Recordings share statements of this many. */
const WAVE = 100;

/** What a receiver of the past did with a delivery. */
export type PastResponse = 'taken' | 'broken' | 'overloaded';

const ANSWERS = {
  taken: { httpStatus: 200, excerpt: 'ok' },
  broken: { httpStatus: 500, excerpt: '{"error":"order not found"}' },
  overloaded: { httpStatus: 503, excerpt: 'try again later' },
} as const satisfies Record<PastResponse, { httpStatus: number; excerpt: string }>;

/** Through the whole ladder into the dead letters. */
export const ALWAYS_BROKEN: readonly PastResponse[] = [...RETRY_DELAYS_SECONDS, 0].map(() => 'broken');
/** Up to the last retry, which is left to be made. */
export const ONE_RETRY_LEFT: readonly PastResponse[] = RETRY_DELAYS_SECONDS.map(() => 'overloaded');

/** A delivery that something of the past has caused, and when. */
export type DueDelivery = { deliveryId: string; subscriptionId: string; at: Date };

/** The first attempts that wait, in the order of their events. */
export async function findDueDeliveries(trx: Knex.Transaction): Promise<DueDelivery[]> {
  return rows<DueDelivery>(
    trx,
    `SELECT id AS delivery_id, subscription_id, created_at AS at FROM webhook_delivery
     WHERE status = 'PENDING' AND status_before_resend IS NULL ORDER BY created_at, id`,
  );
}

export type PastDeliveryDeps = { trx: Knex.Transaction; keyRing: KeyRing };

/**
 * Delivers what was due in the past by the operations that deliver today, on the clock of that time, to a receiver that
 * gives these answers, one for each attempt. The last one must end the delivery, but for ONE_RETRY_LEFT.
 */
export async function deliverInThePast(
  deps: PastDeliveryDeps,
  deliveries: readonly DueDelivery[],
  responses: readonly PastResponse[],
): Promise<void> {
  const random = createRandom(deliveries.length);
  for (let from = 0; from < deliveries.length; from += WAVE) {
    let due = deliveries
      .slice(from, from + WAVE)
      .map(({ deliveryId, at }) => ({ deliveryId, atMs: at.getTime() + FIRST_ATTEMPT_AFTER_MS }));
    for (const response of responses) {
      const recorded = await attemptAll(deps, due, receiver(random, response));
      due = due.flatMap(({ deliveryId }, index) => nextAttempt(deliveryId, recorded[index]));
    }
    if (due.length > 0 && responses !== ONE_RETRY_LEFT) throw new Error(`${due.length} deliveries were left open`);
  }
}

async function attemptAll(
  { trx, keyRing }: PastDeliveryDeps,
  due: readonly { deliveryId: string; atMs: number }[],
  sender: Sender,
): Promise<DeliveryNow[]> {
  const attempt = createAttempt({
    sender,
    keyRing,
    onDefect: (_deliveryId, error) => {
      throw error;
    },
  });
  const claimed = await Promise.all(
    due.map(async ({ deliveryId, atMs }) => claimOne(trx, { deliveryId, startedAt: new Date(atMs), reclaim: false })),
  );
  const schedule = { retryDelaysSeconds: RETRY_DELAYS_SECONDS, jitter: JITTER };
  const outcomes = await Promise.all(
    claimed.map(async (one) => {
      if (!one) throw new Error('a delivery of the past could not be claimed');
      return attempt(one, schedule);
    }),
  );
  return recordAttempts(trx, outcomes);
}

function nextAttempt(deliveryId: string, recorded: DeliveryNow | undefined) {
  return recorded?.nextAttemptAt ? [{ deliveryId, atMs: recorded.nextAttemptAt.getTime() }] : [];
}

function receiver(random: Random, response: PastResponse): Sender {
  const { httpStatus, excerpt } = ANSWERS[response];
  const ok = response === 'taken';
  return {
    close: async () => {},
    send: async (): Promise<SendResult> => {
      const firstByteMs = 15 + random.below(140);
      const message = `The endpoint returned ${httpStatus}; only 200 to 299 confirms the receipt.`;
      return {
        ok,
        httpStatus,
        failure: ok ? null : { code: 'http_status', message },
        durationMs: firstByteMs + 2,
        timings: { dnsMs: 1, connectMs: 1, tlsMs: null, firstByteMs },
        responseHeaders: { 'content-type': 'text/plain; charset=utf-8' },
        responseExcerpt: excerpt,
      };
    },
  };
}
