import { setImmediate as nextTurn } from 'node:timers/promises';

import { createDrainLoop } from './drain-loop.ts';

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
