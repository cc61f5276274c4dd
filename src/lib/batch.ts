/**
 * Gathers calls into batches without waiting: while one batch runs, the next one collects. Alone, a call is a batch of
 * one and loses no time; under load, many calls share one statement.
 * @param run answers in the order of its inputs; if it throws, all calls of the batch are rejected.
 */
export function createBatch<Input, Output>(
  run: (inputs: Input[]) => Promise<Output[]>,
  limits: { sizeMax: number; concurrentMax: number },
): (input: Input) => Promise<Output> {
  type Call = { input: Input; resolve: (output: Output) => void; reject: (error: unknown) => void };
  const waiting: Call[] = [];
  let running = 0;

  const start = (): void => {
    while (running < limits.concurrentMax && waiting.length > 0) {
      running += 1;
      void runOne(waiting.splice(0, limits.sizeMax));
    }
  };
  const runOne = async (calls: Call[]): Promise<void> => {
    try {
      const outputs = await run(calls.map((call) => call.input));
      calls.forEach((call, index) => call.resolve(outputs[index] as Output));
    } catch (error) {
      for (const call of calls) call.reject(error);
    } finally {
      running -= 1;
      start();
    }
  };
  return async (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      // Calls made in the same turn of the event loop share a batch.
      if (waiting.length === 1) setImmediate(start);
    });
}
