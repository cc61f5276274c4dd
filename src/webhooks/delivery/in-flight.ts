import { rows, type Knex } from '../../lib/db.ts';

/** A send takes at most 4.2 s, with its spread and its response: the process behind an older mark has died, or cannot reach the database. */
const LEASE_MS = 6_000;
/** Marks of older claims are renewed: their outcomes wait to be saved. */
const RENEW_AFTER_MS = 4_500;
const RENEW_EVERY_MS = 500;
const SLOW_AFTER_MS = 1_000;

/** In SQL: an attempt of this delivery is on its way to the receiver. */
export const isInFlight = (delivery: string): string =>
  `coalesce(${delivery}.in_flight_since > clock_timestamp() - interval '${LEASE_MS} milliseconds', false)`;

/** In SQL: a first attempt waits for the dispatcher. The predicate of the index webhook_delivery_queue. */
export const isQueued = (delivery: string): string =>
  `${delivery}.status = 'PENDING' AND ${delivery}.status_before_resend IS NULL`;

/** In SQL: a retry or a resend waits for its workflow. The predicate of the index webhook_delivery_workflows. */
export const isScheduled = (delivery: string): string =>
  `(${delivery}.status = 'RETRYING' OR ${delivery}.status_before_resend IS NOT NULL)`;

export type InFlightLimits = {
  /** First attempts of one subscription that are being sent by this process. */
  perSubscription: number;
  /** The same of one that hung or failed lately; and, beside them, retries and resends of any. */
  perThrottled: number;
};

type Mark = { attemptId: string; deliveryId: string };
/** By subscription, when each send began. */
type Sends = Map<string, Set<{ atMs: number }>>;

export type InFlight = ReturnType<typeof createInFlight>;

/**
 * What this process has in flight: sends, by subscription, so that a receiver that hangs uses up its own share and
 * nobody else's; and the marks of claimed deliveries, until their outcomes are saved. Marks that grow old are renewed
 * until `stop`, so that no other worker takes an attempt for interrupted whose outcome is still to be saved.
 */
export function createInFlight(db: Knex, limits: InFlightLimits) {
  const firsts: Sends = new Map();
  const retries: Sends = new Map();
  /** By delivery, since when. */
  const marks = new Map<string, Mark & { sinceMs: number }>();
  let databaseFailedAtMs = -Infinity;
  const noteFailure = (): void => {
    databaseFailedAtMs = performance.now();
  };
  // Not one after the other: one that hangs must not hold up the next.
  const renewing = setInterval(() => {
    const before = performance.now() - RENEW_AFTER_MS;
    const old = [...marks.values()].filter(({ sinceMs }) => sinceMs < before);
    if (old.length > 0) renewMarks(db, old).catch(noteFailure);
  }, RENEW_EVERY_MS).unref();
  return {
    limits,
    /** First attempts being sent, by subscription. */
    counts: (): Record<string, number> => Object.fromEntries([...firsts].map(([id, sends]) => [id, sends.size])),
    /** Subscriptions with a send that takes long: held at the share of throttled ones before its failure is known. */
    slow: (): string[] => {
      const before = performance.now() - SLOW_AFTER_MS;
      return [...firsts].filter(([, [oldest]]) => oldest && oldest.atMs < before).map(([id]) => id);
    },
    /** Whether first attempts of this subscription may wait for want of room. */
    isShort: (subscriptionId: string): boolean => sizeOf(firsts, subscriptionId) >= limits.perThrottled,
    /** @returns what ends it. */
    startFirst: (subscriptionId: string): (() => void) => start(firsts, subscriptionId),
    /** @returns what ends it; null when the subscription has its share of retries in flight. */
    startRetry: (subscriptionId: string): (() => void) | null =>
      sizeOf(retries, subscriptionId) < limits.perThrottled ? start(retries, subscriptionId) : null,

    /**
     * Holds the mark of a claimed delivery.
     * @param sinceMs before the claim, by performance.now().
     * @returns what lets go of it, once the outcome is saved.
     */
    hold: ({ attemptId, deliveryId }: Mark, sinceMs: number): (() => void) => {
      marks.set(deliveryId, { attemptId, deliveryId, sinceMs });
      return () => void marks.delete(deliveryId);
    },
    held: (): string[] => [...marks.keys()],
    holds: (deliveryId: string): boolean => marks.has(deliveryId),
    /** Marks that ran out may belong to a process that could not save or renew: not soon after a statement failed here. */
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

async function renewMarks(db: Knex, marks: Mark[]): Promise<void> {
  await rows(
    db,
    `UPDATE webhook_delivery SET in_flight_since = clock_timestamp()
     WHERE id = ANY (:deliveryIds) AND in_flight_attempt_id = ANY (:attemptIds)`,
    { deliveryIds: marks.map(({ deliveryId }) => deliveryId), attemptIds: marks.map(({ attemptId }) => attemptId) },
  );
}
