import type { KeyRing } from '../../lib/crypto.ts';
import { HOUR_MS } from '../../lib/dates.ts';
import { rows, type Trx } from '../../lib/db.ts';
import { createAttempt } from '../../webhooks/delivery/attempt.ts';
import { claimOne } from '../../webhooks/delivery/claim.ts';
import { unexpectedStatus } from '../../webhooks/delivery/failure.ts';
import { recordAttempts } from '../../webhooks/delivery/record-attempt.ts';
import type { Sender } from '../../webhooks/delivery/send.ts';
import { createRandom } from './plan.ts';

/** The contract's schedule, whatever the installation's setting: 14 h 36 min from the first attempt to the last. */
const SCHEDULE = { retryDelaysSeconds: [60, 300, 1_800, 7_200, 43_200], jitter: 0.5 };
/** From the first attempt to the last at most, including jitter and responses. */
const RETRY_SCHEDULE_MS = 15 * HOUR_MS;
const FIRST_ATTEMPT_AFTER_MS = 120;
const ATTEMPTS = SCHEDULE.retryDelaysSeconds.length + 1;

const DEAD_LETTERS = 5;
/** The worker makes the last retry of these at the first start; it fails, and their workflows park. */
const LAST_RETRY_DUE = 2;

const [OK, ERROR, OVERLOADED] = [
  { httpStatus: 200, responseExcerpt: 'ok' },
  { httpStatus: 500, responseExcerpt: '{"error":"order not found"}' },
  { httpStatus: 503, responseExcerpt: 'try again later' },
];

type Response = typeof OK;
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
  const due = await rows<DueDelivery>(
    deps.trx,
    `SELECT id AS delivery_id, subscription_id, created_at AS at FROM webhook_delivery
     WHERE status = 'PENDING' AND status_before_resend IS NULL ORDER BY created_at, id`,
  );
  /** Those of a subscription that are old enough for all their attempts. */
  const completable = (id: string) =>
    due.filter((one) => one.subscriptionId === id && one.at.getTime() + RETRY_SCHEDULE_MS <= until.getTime());
  const toShop = completable(shopId);
  const step = Math.max(1, Math.floor(toShop.length / DEAD_LETTERS));
  const dead = toShop.filter((_one, index) => index % step === 0).slice(0, DEAD_LETTERS);
  const lastRetryDue = completable(flakyId).slice(-LAST_RETRY_DUE);
  const others = due.filter((one) => !dead.includes(one) && !lastRetryDue.includes(one));
  const toFlaky = others.filter((one) => one.subscriptionId === flakyId);

  await deliver(deps, dead, Array<Response>(ATTEMPTS).fill(ERROR));
  await deliver(deps, lastRetryDue, Array<Response>(ATTEMPTS - 1).fill(OVERLOADED));
  for (const failures of [2, 1, 0]) {
    const third = toFlaky.filter((_one, index) => index % 3 === failures);
    await deliver(deps, third, [...Array<Response>(failures).fill(OVERLOADED), OK]);
  }
  await deliver(
    deps,
    others.filter((one) => one.subscriptionId === shopId),
    [OK],
  );
}

/** Delivers by today's operations, on the clock of that time, to a receiver with these responses, one per attempt. */
async function deliver({ trx, keyRing }: Deps, deliveries: readonly DueDelivery[], responses: Response[]) {
  let due = deliveries.map(({ deliveryId, at }) => ({ deliveryId, atMs: at.getTime() + FIRST_ATTEMPT_AFTER_MS }));
  for (const response of responses) {
    const sender = receiver(response);
    const attempt = createAttempt({ sender, receiver: sender, keyRing, onDefect: rethrow });
    const outcomes = await Promise.all(
      due.map(async ({ deliveryId, atMs }) => {
        const claimed = await claimOne(trx, { deliveryId, startedAt: new Date(atMs), reclaim: false });
        if (!claimed) throw new Error(`Delivery ${deliveryId} could not be claimed.`);
        return attempt(claimed, SCHEDULE);
      }),
    );
    const recorded = await recordAttempts(trx, outcomes);
    due = due.map(({ deliveryId }, index) => ({ deliveryId, atMs: recorded[index]?.nextAttemptAt?.getTime() ?? 0 }));
  }
}

function rethrow(_deliveryId: string, error: unknown): never {
  throw error;
}

function receiver(response: Response): Sender {
  const random = createRandom(response.httpStatus);
  return {
    close: async () => {},
    send: async () => {
      const firstByteMs = 15 + random.below(140);
      const failure = response.httpStatus === 200 ? null : unexpectedStatus(response.httpStatus);
      return {
        ...response,
        ok: failure === null,
        failure,
        durationMs: firstByteMs + 2,
        timings: { dnsMs: 1, connectMs: 1, tlsMs: null, firstByteMs },
        responseHeaders: { 'content-type': 'text/plain; charset=utf-8' },
      };
    },
  };
}
