import { isDatabaseUnavailable, rows, type Knex } from '../../lib/db.ts';

/** A send takes at most 4.2 s, with its spread and its response: the process behind an older mark has died, or cannot reach the database. */
const LEASE_MS = 6_000;
/** Marks of older claims are renewed: their outcomes wait to be saved. */
const RENEW_AFTER_MS = 4_500;

/** In SQL: an attempt of this delivery is on its way to the receiver. */
export const isInFlight = (delivery: string): string =>
  `coalesce(${delivery}.sending_since > clock_timestamp() - interval '${LEASE_MS} milliseconds', false)`;

export type InFlightLimits = {
  /** First attempts of one subscription that are being sent by this process. */
  perSubscription: number;
  /** The same of one that hung or failed lately; and, beside them, retries and resends of any. */
  perThrottled: number;
};

type Mark = { attemptId: string; deliveryId: string };

export type InFlight = ReturnType<typeof createInFlight>;

/**
 * What this process has in flight: sends, by subscription, so that a receiver that hangs uses up its own share and
 * nobody else's; and the marks of claimed deliveries, until their outcomes are saved.
 */
export function createInFlight(db: Knex, limits: InFlightLimits) {
  const firsts = new Map<string, number>();
  const retries = new Map<string, number>();
  /** By delivery, since when. */
  const marks = new Map<string, Mark & { sinceMs: number }>();
  let databaseFailedAtMs = -Infinity;

  const start = (counts: Map<string, number>, subscriptionId: string): (() => void) => {
    counts.set(subscriptionId, (counts.get(subscriptionId) ?? 0) + 1);
    return () => {
      const left = (counts.get(subscriptionId) ?? 0) - 1;
      if (left > 0) counts.set(subscriptionId, left);
      else counts.delete(subscriptionId);
    };
  };
  return {
    limits,
    /** First attempts being sent, by subscription. */
    counts: (): Record<string, number> => Object.fromEntries(firsts),
    /** Whether first attempts of this subscription may wait for want of room. */
    isShort: (subscriptionId: string): boolean => (firsts.get(subscriptionId) ?? 0) >= limits.perThrottled,
    /** @returns what ends it. */
    startFirst: (subscriptionId: string): (() => void) => start(firsts, subscriptionId),
    /** @returns what ends it; null when the subscription has its share of retries in flight. */
    startRetry: (subscriptionId: string): (() => void) | null =>
      (retries.get(subscriptionId) ?? 0) < limits.perThrottled ? start(retries, subscriptionId) : null,

    /** Holds the mark of a claimed delivery. @returns what lets go of it, once the outcome is saved. */
    hold: ({ attemptId, deliveryId }: Mark): (() => void) => {
      marks.set(deliveryId, { attemptId, deliveryId, sinceMs: performance.now() });
      return () => void marks.delete(deliveryId);
    },
    held: (): string[] => [...marks.keys()],
    holds: (deliveryId: string): boolean => marks.has(deliveryId),
    /** Renews old marks, so that no other worker takes an attempt for interrupted whose outcome is still to be saved. */
    renew: async (): Promise<void> => {
      const before = performance.now() - RENEW_AFTER_MS;
      const old = [...marks.values()].filter(({ sinceMs }) => sinceMs < before);
      if (old.length > 0) await renewMarks(db, old);
    },

    /** Marks that ran out are not taken for those of dead processes soon after the database was away: who holds outcomes saves them first. */
    mayReclaim: (): boolean => performance.now() - databaseFailedAtMs >= LEASE_MS,
    noteFailure: (error: unknown): void => {
      if (isDatabaseUnavailable(error)) databaseFailedAtMs = performance.now();
    },
  };
}

async function renewMarks(db: Knex, marks: Mark[]): Promise<void> {
  await rows(
    db,
    `UPDATE webhook_delivery SET sending_since = clock_timestamp()
     WHERE id = ANY (:deliveryIds) AND sending_attempt_id = ANY (:attemptIds)`,
    { deliveryIds: marks.map(({ deliveryId }) => deliveryId), attemptIds: marks.map(({ attemptId }) => attemptId) },
  );
}
