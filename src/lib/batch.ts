/** Concurrent batches of one kind: a batch that waits for a lock delays only itself. */
const CONCURRENT_MAX = 4;

/**
 * Gathers calls into batches that begin at least `everyMs` apart; a full batch begins at once. A single call is a batch of
 * one and loses no time; under load, many calls share one statement.
 * @param run resolves with results in the order of its inputs; if it throws, all calls of the batch are rejected.
 */
export function createBatch<Input, Output>(
  run: (inputs: Input[]) => Promise<Output[]>,
  limits: { sizeMax: number; everyMs: number },
): (input: Input) => Promise<Output> {
  type Call = { input: Input; resolve: (output: Output) => void; reject: (error: unknown) => void };
  const pending: Call[] = [];
  let running = 0;
  let startedAt = -Infinity;
  /** For a batch that is neither full nor due. */
  let timer: NodeJS.Timeout | undefined;
  let isStarting = false;

  const plan = (): void => {
    if (isStarting || pending.length === 0 || running >= CONCURRENT_MAX) return;
    const waitMs = pending.length >= limits.sizeMax ? 0 : startedAt + limits.everyMs - performance.now();
    if (waitMs > 0) {
      timer ??= setTimeout(start, waitMs);
      return;
    }
    clearTimeout(timer);
    isStarting = true;
    // Calls made in the same turn of the event loop share a batch.
    setImmediate(start);
  };
  const start = (): void => {
    timer = undefined;
    isStarting = false;
    startedAt = performance.now();
    running += 1;
    void runOne(pending.splice(0, limits.sizeMax));
    plan();
  };
  const runOne = async (calls: Call[]): Promise<void> => {
    try {
      const outputs = await run(calls.map((call) => call.input));
      calls.forEach((call, index) => call.resolve(outputs[index] as Output));
    } catch (error) {
      for (const call of calls) call.reject(error);
    } finally {
      running -= 1;
      plan();
    }
  };
  return async (input) =>
    new Promise((resolve, reject) => {
      pending.push({ input, resolve, reject });
      plan();
    });
}
