import { createBatch } from '../../src/lib/batch.ts';

/** A batch of at most three whose runs are recorded and end when the test lets them. */
function buildBatch(everyMs = 20) {
  const runs: { inputs: number[]; end: () => void; fail: (error: Error) => void }[] = [];
  const call = createBatch<number, string>(
    (inputs) =>
      new Promise((resolve, reject) => {
        runs.push({ inputs, end: () => resolve(inputs.map((input) => `answer ${input}`)), fail: reject });
      }),
    { sizeMax: 3, everyMs },
  );
  const untilRuns = async (count: number): Promise<void> => {
    while (runs.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  return { call, runs, untilRuns };
}

/** Lets the event loop turn so often: no time that matters passes. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('concurrent calls share a batch, and each gets its own result', async () => {
  const { call, runs, untilRuns } = buildBatch();
  const answers = Promise.all([call(1), call(2)]);
  await untilRuns(1);
  expect(runs[0]?.inputs).toEqual([1, 2]);
  runs[0]?.end();
  expect(await answers).toEqual(['answer 1', 'answer 2']);
});

test('calls after a batch has begun are gathered for the next, until its time has come', async () => {
  const { call, runs, untilRuns } = buildBatch(100);
  void call(1);
  await untilRuns(1);
  void call(2);
  await turns(2);
  void call(3);
  await untilRuns(2);
  expect(runs[1]?.inputs).toEqual([2, 3]);
});

test('while enough calls for a full batch wait, batches begin one right after the other; the rest waits for its time', async () => {
  const { call, runs, untilRuns } = buildBatch(200);
  for (let input = 1; input <= 7; input += 1) void call(input);
  const startedAt = performance.now();
  await untilRuns(2);
  expect(runs.map((run) => run.inputs)).toEqual([
    [1, 2, 3],
    [4, 5, 6],
  ]);
  expect(performance.now() - startedAt).toBeLessThan(150);
  await untilRuns(3);
  expect(runs[2]?.inputs).toEqual([7]);
  expect(performance.now() - startedAt).toBeGreaterThan(150);
});

test('a batch that waits for one in progress runs once, with all calls made meanwhile', async () => {
  const { call, runs } = buildBatch(0);
  for (let input = 1; input <= 4; input += 1) {
    void call(input);
    await turns(2);
  }
  expect(runs.map((run) => run.inputs)).toEqual([[1], [2], [3], [4]]);
  void call(5);
  void call(6);
  await turns(2);
  expect(runs).toHaveLength(4);
  runs[0]?.end();
  await turns(2);
  expect(runs.slice(4).map((run) => run.inputs)).toEqual([[5, 6]]);
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
