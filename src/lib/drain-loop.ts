export type Pump = {
  /** Requests a round. */
  trigger: () => void;
  /** Begins no more rounds; resolves when none runs. */
  stop: () => Promise<void>;
};

/**
 * Runs `round` repeatedly, never twice at once: from a trigger until a round reports that nothing is left. A trigger during
 * a round causes one more. Rounds begin at least `everyMs()` apart; the first after a pause begins at once. `round` must
 * not throw.
 */
export function createDrainLoop(round: () => Promise<boolean>, everyMs: () => number): Pump {
  let stopped = false;
  let again = false;
  let startedAt = -Infinity;
  let pumping: Promise<void> | null = null;
  const pump = async (): Promise<void> => {
    while (again && !stopped) {
      again = false;
      const waitMs = startedAt + everyMs() - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      if (stopped) break;
      startedAt = performance.now();
      if (await round()) again = true;
    }
    pumping = null;
  };
  return {
    trigger: () => {
      again = true;
      if (!stopped) pumping ??= pump();
    },
    stop: async () => {
      stopped = true;
      await pumping;
    },
  };
}
