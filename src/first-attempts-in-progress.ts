import type { SendSlots } from './webhooks/slots.ts';

/** In progress at once in one worker, over all subscriptions: sockets, not processor time. */
const IN_PROGRESS_MAX = 500;
/** From then on deliveries to receivers that hung or failed lately wait for the others. */
const IN_PROGRESS_HALF = IN_PROGRESS_MAX / 2;
/** A started delivery whose attempt has not begun by then has an engine that is behind: the attempt is made directly. */
const START_SLOW_MS = 100;
/** So long it gets no new ones then: a few a second find out when it is itself again. */
const BEHIND_MS = 1_000;
/** A start whose attempt another worker made is forgotten after this. */
const START_FORGOTTEN_MS = 15_000;

export type InProgress = ReturnType<typeof createInProgress>;

type Start = {
  subscriptionId: string;
  holdsSlot: boolean;
  /** Its workflow is at the attempt. */
  begun: boolean;
  /** Runs until the attempt begins. */
  slow: NodeJS.Timeout | undefined;
  forget: NodeJS.Timeout;
};

function endTimers({ slow, forget }: Start): void {
  clearTimeout(slow);
  clearTimeout(forget);
}

/** The first attempts under way in this worker: those a workflow makes, and those made directly. */
export function createInProgress(slots: SendSlots, onRoom: () => void) {
  const started = new Map<string, Start>();
  const direct = new Map<string, Promise<void>>();
  let behindUntil = -Infinity;
  const count = (): number => started.size + direct.size;
  const isHalfFull = (): boolean => count() >= IN_PROGRESS_HALF;
  const remove = (from: Map<string, unknown>, deliveryId: string): void => {
    // Otherwise nothing was left lying for want of room: no need to look.
    const wasShort = isHalfFull();
    if (from.delete(deliveryId) && wasShort) onRoom();
  };
  return {
    room: () => IN_PROGRESS_MAX - count(),
    isHalfFull,
    started: () => started.size,
    isBehind: () => performance.now() < behindUntil,
    has: (deliveryId: string) => started.has(deliveryId) || direct.has(deliveryId),
    hasBegun: (deliveryId: string) => started.get(deliveryId)?.begun ?? false,
    addStart: (
      row: { deliveryId: string; subscriptionId: string },
      on: { onSlow: (() => void) | null; onForgotten: () => void },
    ) => {
      const beSlow = (): void => {
        behindUntil = performance.now() + BEHIND_MS;
        on.onSlow?.();
      };
      const slow = on.onSlow ? setTimeout(beSlow, START_SLOW_MS) : undefined;
      const forget = setTimeout(on.onForgotten, START_FORGOTTEN_MS);
      const start: Start = { subscriptionId: row.subscriptionId, holdsSlot: true, begun: false, slow, forget };
      started.set(row.deliveryId, start);
    },
    begin: async (deliveryId: string): Promise<boolean> => {
      const start = started.get(deliveryId);
      clearTimeout(start?.slow);
      if (start) start.begun = true;
      await direct.get(deliveryId);
      return start?.holdsSlot ?? false;
    },
    /** True if the start held it; now it is the caller's. */
    takeSlot: (deliveryId: string): boolean => {
      const start = started.get(deliveryId);
      if (!start?.holdsSlot) return false;
      start.holdsSlot = false;
      return true;
    },
    forgetStart: (deliveryId: string): Start | undefined => {
      const start = started.get(deliveryId);
      if (start) endTimers(start);
      remove(started, deliveryId);
      return start;
    },
    addDirect: (deliveryId: string, attempt: { work: Promise<void>; onSettled: () => void }) => {
      const settled = attempt.work.finally(() => {
        remove(direct, deliveryId);
        attempt.onSettled();
      });
      direct.set(deliveryId, settled);
    },
    settle: async () => {
      // Starts first: a slow one would be taken over while we wait for the others.
      for (const start of started.values()) {
        endTimers(start);
        if (start.holdsSlot) slots.release(start.subscriptionId);
      }
      started.clear();
      while (direct.size > 0) await Promise.all(direct.values());
    },
  };
}
