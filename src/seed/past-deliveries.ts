import type { KeyRing } from '../lib/crypto.ts';
import { HOUR_MS } from '../lib/dates.ts';
import type { Knex } from '../lib/db.ts';
import { createClaim } from '../webhooks/claim.ts';
import { createAttemptDelivery, type AttemptReport } from '../webhooks/deliver.ts';
import { createSave } from '../webhooks/save.ts';
import type { Sender, SendResult } from '../webhooks/send.ts';
import type { DueDelivery } from './past.ts';
import { createRandom, type Random } from './random.ts';

/** The contract's schedule, whatever this installation's setting: 14 h 36 min from the first attempt to the last. */
const RETRY_DELAYS_SECONDS: readonly number[] = [60, 300, 1_800, 7_200, 43_200];
const JITTER = 0.5;
/** From the first attempt to the last at most, jitter and answers included. */
export const LADDER_MS = 15 * HOUR_MS;
/** A commit to its first attempt. */
const FIRST_ATTEMPT_AFTER_MS = 120;
/** Claims and saves share statements of this many. */
const WAVE = 100;

/** What a receiver of the past did with a delivery. */
export type PastAnswer = 'taken' | 'broken' | 'overloaded';

const ANSWERS = {
  taken: { httpStatus: 200, excerpt: 'ok' },
  broken: { httpStatus: 500, excerpt: '{"error":"order not found"}' },
  overloaded: { httpStatus: 503, excerpt: 'try again later' },
} as const satisfies Record<PastAnswer, { httpStatus: number; excerpt: string }>;

/** Through the whole ladder into the dead letters. */
export const ALWAYS_BROKEN: readonly PastAnswer[] = [...RETRY_DELAYS_SECONDS, 0].map(() => 'broken');
/** Up to the last retry, which is left to be made. */
export const ONE_RETRY_LEFT: readonly PastAnswer[] = RETRY_DELAYS_SECONDS.map(() => 'overloaded');

export type PastDeliveryDeps = { trx: Knex.Transaction; keyRing: KeyRing };

/**
 * Delivers what was due in the past by the operations that deliver today, on the clock of that time, to a receiver that
 * gives these answers, one for each attempt. The last one must end the delivery, but for ONE_RETRY_LEFT.
 */
export async function deliverInThePast(
  deps: PastDeliveryDeps,
  deliveries: readonly DueDelivery[],
  answers: readonly PastAnswer[],
): Promise<void> {
  const random = createRandom(deliveries.length);
  for (let from = 0; from < deliveries.length; from += WAVE) {
    let due = deliveries
      .slice(from, from + WAVE)
      .map(({ deliveryId, at }) => ({ deliveryId, atMs: at.getTime() + FIRST_ATTEMPT_AFTER_MS }));
    for (const answer of answers) {
      const attempt = attemptDelivery(deps, receiver(random, answer));
      // All at once: they share one statement.
      const reports = await Promise.all(due.map(attempt));
      due = due.flatMap(({ deliveryId }, index) => nextAttempt(deliveryId, reports[index]));
    }
    if (due.length > 0 && answers !== ONE_RETRY_LEFT) throw new Error(`${due.length} deliveries were left open`);
  }
}

function attemptDelivery({ trx, keyRing }: PastDeliveryDeps, sender: Sender) {
  const attempt = createAttemptDelivery({
    claim: createClaim(trx),
    save: createSave(trx),
    sender,
    keyRing,
    onProblem: (_problem, _deliveryId, error) => {
      throw error;
    },
  });
  return async ({ deliveryId, atMs }: { deliveryId: string; atMs: number }): Promise<AttemptReport> =>
    attempt({
      deliveryId,
      startedAtMs: atMs,
      retryDelaysSeconds: RETRY_DELAYS_SECONDS,
      jitter: JITTER,
      lane: 'workflow',
    });
}

function nextAttempt(deliveryId: string, report: AttemptReport | undefined) {
  if (report?.kind === 'delivered') return [];
  if (report?.kind !== 'failed') throw new Error(`the attempt of ${deliveryId} came to ${report?.kind ?? 'nothing'}`);
  return report.nextAttemptAtMs === null ? [] : [{ deliveryId, atMs: report.nextAttemptAtMs }];
}

function receiver(random: Random, answer: PastAnswer): Sender {
  const { httpStatus, excerpt } = ANSWERS[answer];
  const ok = answer === 'taken';
  return {
    close: async () => {},
    send: async (): Promise<SendResult> => {
      const firstByteMs = 15 + random.below(140);
      const message = `The endpoint answered ${httpStatus}; only 200 to 299 says that it was received.`;
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
