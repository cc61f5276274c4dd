export type Pump = {
  /** There may be work. */
  poke: () => void;
  /** Pumps no more; resolves when nothing runs. */
  stop: () => Promise<void>;
};

/**
 * Does work in rounds, never two at once: from a poke until a round says that there is nothing (more) to do. Poked
 * meanwhile, it looks once more. `round` must not throw.
 */
export function createPump(round: () => Promise<boolean>): Pump {
  let stopped = false;
  let again = false;
  let pumping: Promise<void> | null = null;
  const pump = async (): Promise<void> => {
    while (again && !stopped) {
      again = false;
      if (await round()) again = true;
    }
    pumping = null;
  };
  return {
    poke: () => {
      again = true;
      if (!stopped) pumping ??= pump();
    },
    stop: async () => {
      stopped = true;
      await pumping;
    },
  };
}
