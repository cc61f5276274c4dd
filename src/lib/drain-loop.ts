/**
 * Works in rounds, never two at once: from a trigger until a round returns false, for nothing left to do. A trigger during a
 * round causes one more. Rounds begin at least `everyMs()` apart, which a trigger evaluates anew; the first after a pause
 * begins at once. `round` must not throw.
 */
export function createDrainLoop(round: () => Promise<boolean>, everyMs: () => number) {
  let stopped = false;
  let again = false;
  let startedAt = -Infinity;
  let running: Promise<void> | null = null;
  let endWait = (): void => {};
  const msLeft = (): number => startedAt + everyMs() - performance.now();
  const drain = async (): Promise<void> => {
    while (again && !stopped) {
      again = false;
      if (msLeft() > 0) {
        await new Promise<void>((resolve) => {
          endWait = resolve;
          setTimeout(resolve, msLeft());
        });
      }
      if (stopped) break;
      startedAt = performance.now();
      if (await round()) again = true;
    }
    running = null;
  };
  return {
    trigger: (): void => {
      again = true;
      if (msLeft() <= 0) endWait();
      if (!stopped) running ??= drain();
    },
    /** Begins no more rounds; resolves when none runs. */
    stop: async (): Promise<void> => {
      stopped = true;
      await running;
    },
  };
}
