import { setImmediate as nextTurn } from 'node:timers/promises';

/** Concurrent batches of one kind: a batch that waits for a lock delays only itself. */
const CONCURRENT_MAX = 4;

/**
 * Gathers calls into batches that begin at least `everyMs` apart, or at once where enough calls for a full batch wait. A
 * single call is a batch of one and loses no time; under load, many calls share one statement.
 * @param run resolves with results in the order of its inputs; if it throws, all calls of the batch are rejected.
 */
export function createBatch<Input, Output>(
  run: (inputs: Input[]) => Promise<Output[]>,
  { sizeMax, everyMs }: { sizeMax: number; everyMs: number },
): (input: Input) => Promise<Output> {
  type Call = { input: Input; resolve: (output: Output) => void; reject: (error: unknown) => void };
  const pending: Call[] = [];
  let running = 0;

  const runOne = async (calls: Call[]): Promise<void> => {
    running += 1;
    try {
      const outputs = await run(calls.map((call) => call.input));
      calls.forEach((call, index) => call.resolve(outputs[index] as Output));
    } catch (error) {
      for (const call of calls) call.reject(error);
    }
    running -= 1;
    loop.trigger();
  };
  const startOne = async (): Promise<boolean> => {
    // Calls made in the same turn of the event loop share a batch.
    await nextTurn();
    if (pending.length > 0 && running < CONCURRENT_MAX) void runOne(pending.splice(0, sizeMax));
    return pending.length > 0 && running < CONCURRENT_MAX;
  };
  const loop = createDrainLoop(startOne, () => (pending.length >= sizeMax ? 0 : everyMs));
  return async (input) =>
    new Promise((resolve, reject) => {
      pending.push({ input, resolve, reject });
      loop.trigger();
    });
}

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
    /** Requests a round. */
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
