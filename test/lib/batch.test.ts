import { createBatch } from '../../src/lib/batch.ts';

const EVERY_MS = 20;

/** A batch whose runs are noted and end when they are told to. */
function buildBatch() {
  const runs: { inputs: number[]; end: () => void; fail: (error: Error) => void }[] = [];
  const call = createBatch<number, string>(
    (inputs) =>
      new Promise((resolve, reject) => {
        runs.push({ inputs, end: () => resolve(inputs.map((input) => `answer ${input}`)), fail: reject });
      }),
    { sizeMax: 3, everyMs: EVERY_MS },
  );
  const untilRuns = async (count: number): Promise<void> => {
    while (runs.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  return { call, runs, untilRuns };
}

test('calls of one moment share a batch, and each gets its own answer', async () => {
  const { call, runs, untilRuns } = buildBatch();
  const answers = Promise.all([call(1), call(2)]);
  await untilRuns(1);
  expect(runs[0]?.inputs).toEqual([1, 2]);
  runs[0]?.end();
  expect(await answers).toEqual(['answer 1', 'answer 2']);
});

test('calls after a batch has begun are gathered for the next; a full batch waits for nothing', async () => {
  const { call, runs, untilRuns } = buildBatch();
  void call(1);
  await untilRuns(1);
  const begun = performance.now();
  void call(2);
  void call(3);
  await untilRuns(2);
  expect(performance.now() - begun).toBeGreaterThan(EVERY_MS / 2);
  expect(runs[1]?.inputs).toEqual([2, 3]);
  for (let input = 4; input <= 7; input += 1) void call(input);
  await untilRuns(4);
  expect(runs.slice(2).map((run) => run.inputs)).toEqual([[4, 5, 6], [7]]);
});

test('a batch that is held up holds up no other, and one that fails fails its own calls only', async () => {
  const { call, runs, untilRuns } = buildBatch();
  const heldUp = call(1);
  await untilRuns(1);
  const failing = call(2);
  await untilRuns(2);
  runs[1]?.fail(new Error('lost'));
  await expect(failing).rejects.toThrow('lost');
  runs[0]?.end();
  expect(await heldUp).toBe('answer 1');
});
