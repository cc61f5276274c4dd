import type { KeyRing } from '../../lib/crypto.ts';
import { HOUR_MS } from '../../lib/dates.ts';
import { rows, type Trx } from '../../lib/db.ts';
import { createAttempt } from '../../webhooks/delivery/attempt.ts';
import { claimOne } from '../../webhooks/delivery/claim.ts';
import { recordAttempts } from '../../webhooks/delivery/record-attempt.ts';
import type { Sender, SendResult } from '../../webhooks/delivery/send.ts';
import { createRandom, type Random } from './random.ts';

/** The contract's schedule, whatever the installation's setting: 14 h 36 min from the first attempt to the last. */
const RETRY_DELAYS_SECONDS: readonly number[] = [60, 300, 1_800, 7_200, 43_200];
const SCHEDULE = { retryDelaysSeconds: RETRY_DELAYS_SECONDS, jitter: 0.5 };
/** From the first attempt to the last at most, including jitter and responses. */
const RETRY_SCHEDULE_MS = 15 * HOUR_MS;
const FIRST_ATTEMPT_AFTER_MS = 120;
const BATCH = 100;

const DEAD_LETTERS = 5;
/** The worker makes the last retry of these at the first start; it fails, and their workflows park. */
const LAST_RETRY_DUE = 2;

const RESPONSES = {
  ok: { httpStatus: 200, excerpt: 'ok' },
  error: { httpStatus: 500, excerpt: '{"error":"order not found"}' },
  overloaded: { httpStatus: 503, excerpt: 'try again later' },
} as const;

type Response = keyof typeof RESPONSES;

const ALWAYS_FAILING: readonly Response[] = [...RETRY_DELAYS_SECONDS, 0].map(() => 'error');
const ONE_RETRY_LEFT: readonly Response[] = RETRY_DELAYS_SECONDS.map(() => 'overloaded');

type Deps = { trx: Trx; keyRing: KeyRing };
type DueDelivery = { deliveryId: string; subscriptionId: string; at: Date };

/**
 * Delivers what is due: to the shop, except for five dead letters; to the flaky receiver at the first to third attempt,
 * except for two whose last retry is due. The shop's successes come last, so that both subscriptions end healthy.
 * `until` is the end of the demo history.
 */
export async function seedDeliveries(
  deps: Deps,
  { shopId, flakyId, until }: { shopId: string; flakyId: string; until: Date },
): Promise<void> {
  const due = await findDueDeliveries(deps.trx);
  const toShop = due.filter((one) => one.subscriptionId === shopId);
  const allToFlaky = due.filter((one) => one.subscriptionId === flakyId);
  const dead = spread(completable(toShop, until), DEAD_LETTERS);
  const lastRetryDue = completable(allToFlaky, until).slice(-LAST_RETRY_DUE);
  const toFlaky = allToFlaky.filter((one) => !lastRetryDue.includes(one));
  const third = (offset: number): DueDelivery[] => toFlaky.filter((_one, index) => index % 3 === offset);

  const series: [DueDelivery[], readonly Response[]][] = [
    [dead, ALWAYS_FAILING],
    [lastRetryDue, ONE_RETRY_LEFT],
    [third(0), ['overloaded', 'overloaded', 'ok']],
    [third(1), ['overloaded', 'ok']],
    [third(2), ['ok']],
    [toShop.filter((one) => !dead.includes(one)), ['ok']],
  ];
  for (const [deliveries, responses] of series) await deliver(deps, deliveries, responses);
}

/** Deliveries old enough for all their attempts. */
function completable(deliveries: readonly DueDelivery[], until: Date): DueDelivery[] {
  return deliveries.filter((one) => one.at.getTime() + RETRY_SCHEDULE_MS <= until.getTime());
}

function spread(deliveries: readonly DueDelivery[], count: number): DueDelivery[] {
  const step = Math.max(1, Math.floor(deliveries.length / count));
  return deliveries.filter((_one, index) => index % step === 0).slice(0, count);
}

/** Deliveries without an attempt, in the order of their events. */
async function findDueDeliveries(trx: Trx): Promise<DueDelivery[]> {
  return rows<DueDelivery>(
    trx,
    `SELECT id AS delivery_id, subscription_id, created_at AS at FROM webhook_delivery
     WHERE status = 'PENDING' AND status_before_resend IS NULL ORDER BY created_at, id`,
  );
}

/** Delivers by today's operations, on the clock of that time, to a receiver with these responses, one per attempt. */
async function deliver(deps: Deps, deliveries: readonly DueDelivery[], responses: readonly Response[]): Promise<void> {
  const random = createRandom(deliveries.length);
  for (let from = 0; from < deliveries.length; from += BATCH) {
    let due: Due[] = deliveries
      .slice(from, from + BATCH)
      .map(({ deliveryId, at }) => ({ deliveryId, atMs: at.getTime() + FIRST_ATTEMPT_AFTER_MS }));
    for (const response of responses) due = await attemptAll(deps, due, receiver(random, response));
    if (due.length > 0 && responses !== ONE_RETRY_LEFT) throw new Error(`${due.length} deliveries were left open.`);
  }
}

type Due = { deliveryId: string; atMs: number };

/** Makes one attempt of each delivery; returns the retries that follow. */
async function attemptAll({ trx, keyRing }: Deps, due: readonly Due[], sender: Sender): Promise<Due[]> {
  const onDefect = (_deliveryId: string, error: unknown): never => {
    throw error;
  };
  const attempt = createAttempt({ sender, keyRing, onDefect });
  const outcomes = await Promise.all(
    due.map(async ({ deliveryId, atMs }) => {
      const claimed = await claimOne(trx, { deliveryId, startedAt: new Date(atMs), reclaim: false });
      if (!claimed) throw new Error(`Delivery ${deliveryId} could not be claimed.`);
      return attempt(claimed, SCHEDULE);
    }),
  );
  const recorded = await recordAttempts(trx, outcomes);
  return due.flatMap(({ deliveryId }, index) => {
    const next = recorded[index]?.nextAttemptAt;
    return next ? [{ deliveryId, atMs: next.getTime() }] : [];
  });
}

function receiver(random: Random, response: Response): Sender {
  const { httpStatus, excerpt } = RESPONSES[response];
  const message = `The endpoint returned ${httpStatus}; only 200 to 299 confirms the receipt.`;
  return {
    close: async () => {},
    send: async (): Promise<SendResult> => {
      const firstByteMs = 15 + random.below(140);
      return {
        ok: response === 'ok',
        httpStatus,
        failure: response === 'ok' ? null : { code: 'http_status', message },
        durationMs: firstByteMs + 2,
        timings: { dnsMs: 1, connectMs: 1, tlsMs: null, firstByteMs },
        responseHeaders: { 'content-type': 'text/plain; charset=utf-8' },
        responseExcerpt: excerpt,
      };
    },
  };
}
