import { type Database, rows } from '../../lib/db.ts';

/** A send takes at most 4.2 s with its spread and response: the process of an older mark has ended, or lost its database. */
const LEASE_MS = 6_000;
/** Marks older than this are renewed: their outcomes are not saved yet. */
const RENEW_AFTER_MS = 4_500;
const RENEW_EVERY_MS = 500;
const SLOW_AFTER_MS = 1_000;

/** In SQL: an attempt of this delivery is in flight. */
export const isInFlight = (delivery: string): string =>
  `coalesce(${delivery}.in_flight_since > clock_timestamp() - interval '${LEASE_MS} milliseconds', false)`;

/** In SQL: the delivery waits for its first attempt. The predicate of the index webhook_delivery_queue. */
export const isQueued = (delivery: string): string =>
  `${delivery}.status = 'PENDING' AND ${delivery}.status_before_resend IS NULL`;

/** In SQL: the delivery waits for a retry or a resend. The predicate of the index webhook_delivery_workflows. */
export const isScheduled = (delivery: string): string =>
  `(${delivery}.status = 'RETRYING' OR ${delivery}.status_before_resend IS NOT NULL)`;

/** In SQL: a recursive CTE of the subscriptions with such deliveries, by one lookup each in an index that begins with them. */
export const subscriptionsWith = (name: string, condition: string): string => `${name} (subscription_id) AS (
    SELECT min(d.subscription_id) FROM webhook_delivery d WHERE ${condition}
    UNION ALL
    SELECT (SELECT min(d.subscription_id) FROM webhook_delivery d WHERE ${condition} AND d.subscription_id > w.subscription_id)
    FROM ${name} w WHERE w.subscription_id IS NOT NULL
  )`;

export type InFlightLimits = {
  /** The maximum of first attempts of one subscription that this process sends at once. */
  perSubscription: number;
  /** The maximum for one that hung or failed recently. Also the maximum of retries and resends of any, counted separately. */
  perThrottled: number;
};

const RENEW = `
  UPDATE webhook_delivery SET in_flight_since = clock_timestamp()
  WHERE id = ANY (:deliveryIds) AND in_flight_attempt_id = ANY (:attemptIds)`;

type Mark = { attemptId: string; deliveryId: string };
/** By subscription, with the start of each send. */
type Sends = Map<string, Set<{ atMs: number }>>;

export type InFlight = ReturnType<typeof createInFlight>;

/**
 * What this process has in flight: sends by subscription, so that a hanging receiver uses up only its own share; and the
 * marks of claimed deliveries until their outcomes are saved. Old marks are renewed until `stop`, so that no other worker
 * treats an attempt as interrupted whose outcome is not saved yet.
 */
export function createInFlight(db: Database, limits: InFlightLimits) {
  const firsts: Sends = new Map();
  const retries: Sends = new Map();
  /** By delivery. */
  const marks = new Map<string, Mark & { sinceMs: number }>();
  let databaseFailedAtMs = -Infinity;
  const noteFailure = (): void => {
    databaseFailedAtMs = performance.now();
  };
  // Not awaited: one that hangs must not delay the next.
  const renewing = setInterval(() => {
    const before = performance.now() - RENEW_AFTER_MS;
    const old = [...marks.values()].filter(({ sinceMs }) => sinceMs < before);
    const deliveryIds = old.map(({ deliveryId }) => deliveryId);
    const attemptIds = old.map(({ attemptId }) => attemptId);
    if (old.length > 0) rows(db, RENEW, { deliveryIds, attemptIds }).catch(noteFailure);
  }, RENEW_EVERY_MS).unref();
  return {
    limits,
    /** First attempts being sent, by subscription. */
    counts: (): Record<string, number> => Object.fromEntries([...firsts].map(([id, sends]) => [id, sends.size])),
    /** Subscriptions with a slow send: limited to the share of throttled ones before its failure is known. */
    slow: (): string[] => {
      const before = performance.now() - SLOW_AFTER_MS;
      return [...firsts].filter(([, [oldest]]) => oldest && oldest.atMs < before).map(([id]) => id);
    },
    /** Whether its share may delay first attempts of this subscription. */
    isAtShare: (subscriptionId: string): boolean => sizeOf(firsts, subscriptionId) >= limits.perThrottled,
    /** @returns a function that ends the send. */
    startFirst: (subscriptionId: string): (() => void) => start(firsts, subscriptionId),
    /** @returns a function that ends the send; null when the subscription's share of retries is in flight. */
    startRetry: (subscriptionId: string): (() => void) | null =>
      sizeOf(retries, subscriptionId) < limits.perThrottled ? start(retries, subscriptionId) : null,

    /**
     * Keeps the mark of a claimed delivery alive.
     * @param sinceMs before the claim, by performance.now().
     * @returns a function that releases it once the outcome is saved.
     */
    hold: ({ attemptId, deliveryId }: Mark, sinceMs: number): (() => void) => {
      marks.set(deliveryId, { attemptId, deliveryId, sinceMs });
      return () => void marks.delete(deliveryId);
    },
    held: (): string[] => [...marks.keys()],
    holds: (deliveryId: string): boolean => marks.has(deliveryId),
    /** False soon after a failed statement: expired marks may belong to a process that can neither save nor renew them. */
    mayReclaim: (): boolean => performance.now() - databaseFailedAtMs >= LEASE_MS,
    noteFailure,
    stop: (): void => clearInterval(renewing),
  };
}

const sizeOf = (sends: Sends, subscriptionId: string): number => sends.get(subscriptionId)?.size ?? 0;

function start(sends: Sends, subscriptionId: string): () => void {
  const own = sends.get(subscriptionId) ?? new Set();
  sends.set(subscriptionId, own);
  const send = { atMs: performance.now() };
  own.add(send);
  return () => {
    own.delete(send);
    if (own.size === 0) sends.delete(subscriptionId);
  };
}
