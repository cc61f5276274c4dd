/**
 * How many sends each subscription has in progress in this worker. A receiver that hangs holds its own slots and
 * nobody else's.
 */
export type SendSlots = {
  perSubscriptionMax: number;
  tryTake: (subscriptionId: string) => boolean;
  release: (subscriptionId: string) => void;
  isFull: (subscriptionId: string) => boolean;
  /** The subscriptions that have none left. */
  full: () => string[];
};

export function createSendSlots(perSubscriptionMax: number): SendSlots {
  const taken = new Map<string, number>();
  return {
    perSubscriptionMax,
    tryTake: (subscriptionId) => {
      const count = taken.get(subscriptionId) ?? 0;
      if (count >= perSubscriptionMax) return false;
      taken.set(subscriptionId, count + 1);
      return true;
    },
    release: (subscriptionId) => {
      const count = taken.get(subscriptionId) ?? 0;
      if (count <= 1) taken.delete(subscriptionId);
      else taken.set(subscriptionId, count - 1);
    },
    isFull: (subscriptionId) => (taken.get(subscriptionId) ?? 0) >= perSubscriptionMax,
    full: () => [...taken].filter(([, count]) => count >= perSubscriptionMax).map(([subscriptionId]) => subscriptionId),
  };
}
