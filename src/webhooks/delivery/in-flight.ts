/** A subscription whose sends take longer is held at the share of throttled ones before its failures are known. */
const SLOW_AFTER_MS = 1_000;
/** Retries and resends have these places beside the share, which first attempts may fill as fast as they get free. */
const RETRY_PLACES = 2;

export type InFlightLimits = {
  /** Of one subscription, in this process. */
  perSubscription: number;
  /** Of one that hung or failed lately. */
  perThrottled: number;
};

export type InFlight = ReturnType<typeof createInFlight>;

/**
 * The sends that this process has in flight, by subscription: a receiver that hangs uses up its own share and nobody
 * else's.
 */
export function createInFlight(limits: InFlightLimits) {
  const bySubscription = new Map<string, Set<number>>();
  let total = 0;
  const shareOf = (startedAt: Set<number>): number => {
    const [oldest = Infinity] = startedAt;
    return performance.now() - oldest > SLOW_AFTER_MS ? limits.perThrottled : limits.perSubscription;
  };
  /** As many as the subscription may have in flight, when it has no room. */
  const countOf = (startedAt: Set<number>): number =>
    startedAt.size < shareOf(startedAt) ? startedAt.size : limits.perSubscription;
  return {
    limits,
    total: () => total,
    /** For a retry or a resend. */
    hasRoom: (subscriptionId: string): boolean => {
      const startedAt = bySubscription.get(subscriptionId);
      return startedAt === undefined || startedAt.size < shareOf(startedAt) + RETRY_PLACES;
    },
    /** Whether deliveries of this subscription may have been left waiting for want of room. */
    isShort: (subscriptionId: string): boolean =>
      (bySubscription.get(subscriptionId)?.size ?? 0) >= limits.perThrottled,
    counts: (): Record<string, number> =>
      Object.fromEntries([...bySubscription].map(([id, startedAt]) => [id, countOf(startedAt)])),
    /** @returns what ends it. */
    start: (subscriptionId: string): (() => void) => {
      const startedAt = bySubscription.get(subscriptionId) ?? new Set();
      bySubscription.set(subscriptionId, startedAt);
      // Sends that start together still need a place each.
      let at = performance.now();
      while (startedAt.has(at)) at += 0.001;
      startedAt.add(at);
      total += 1;
      return () => {
        startedAt.delete(at);
        total -= 1;
        if (startedAt.size === 0) bySubscription.delete(subscriptionId);
      };
    },
  };
}
