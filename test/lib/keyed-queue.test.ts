import { setMaxListeners } from 'node:events';

import fc from 'fast-check';

import { createKeyedQueue, type KeyedQueueOptions } from '../../src/lib/keyed-queue.ts';

const STAYS = new AbortController().signal;
setMaxListeners(0, STAYS);
const RATE_LIMITED = { code: 'RATE_LIMITED', status: 429, headers: { 'Retry-After': '1' } };
const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE', status: 503, headers: { 'Retry-After': '1' } };

/** A queue, and the work begun in it, in order. */
function newQueue(changes: Partial<KeyedQueueOptions> = {}) {
  const queue = createKeyedQueue({
    runningMax: 2,
    pendingMax: { ofOne: 3, ofAll: 5 },
    waitMsMax: 3_600_000,
    ...changes,
  });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const enqueue = async (name: string, gone: AbortSignal = STAYS): Promise<string> =>
    queue.run(
      name.slice(0, 1),
      async () => {
        begun.push(name);
        await new Promise<void>((resolve) => void ends.set(name, resolve));
        return name;
      },
      gone,
    );
  /** Ends one that runs, and lets what follows from it happen. */
  const end = async (name: string): Promise<void> => {
    const resolve = ends.get(name);
    if (!resolve) throw new Error(`${name} does not run`);
    resolve();
    await settled();
  };
  return { queue, begun, enqueue, end };
}

const settled = () => new Promise<void>((resolve) => void setImmediate(resolve));

test('work of one key runs one after the other, concurrently with work of another key', async () => {
  const { begun, enqueue, end } = newQueue();
  const results = ['a1', 'a2', 'b1'].map((name) => enqueue(name));
  await settled();
  expect(begun).toEqual(['a1', 'b1']);
  await end('a1');
  expect(begun).toEqual(['a1', 'b1', 'a2']);
  await end('b1');
  await end('a2');
  expect(await Promise.all(results)).toEqual(['a1', 'a2', 'b1']);
});

test('keys take turns: a key with much queued work does not delay a key with one piece of work', async () => {
  const { begun, enqueue, end } = newQueue({ runningMax: 1 });
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) void enqueue(name);
  await settled();
  for (let turn = 0; turn < 6; turn += 1) await end(begun.at(-1) ?? '');
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('an error of queued work is thrown to its own caller only, and the next work runs', async () => {
  const { queue, begun, enqueue } = newQueue();
  const broken = queue.run('a', () => Promise.reject(new Error('broken')), STAYS);
  const thrown = queue.run(
    'a',
    () => {
      throw new Error('thrown');
    },
    STAYS,
  );
  void enqueue('a3');
  await expect(broken).rejects.toThrow('broken');
  await expect(thrown).rejects.toThrow('thrown');
  await settled();
  expect(begun).toEqual(['a3']);
});

test('work beyond the queue limit of one key is RATE_LIMITED, and other keys are still queued', async () => {
  const { begun, enqueue, end } = newQueue({ runningMax: 1 });
  for (const name of ['a1', 'a2', 'a3', 'a4']) void enqueue(name);
  await expect(enqueue('a5')).rejects.toMatchObject(RATE_LIMITED);
  for (const name of ['b1', 'b2']) void enqueue(name);
  await expect(enqueue('c1')).rejects.toMatchObject(UNAVAILABLE);
  await end('a1');
  void enqueue('c1');
  await settled();
  expect(begun).toEqual(['a1', 'b1']);
});

test('work whose caller has left is removed from the queue; running work continues', async () => {
  const { begun, enqueue, end } = newQueue({ runningMax: 1, pendingMax: { ofOne: 2, ofAll: 2 } });
  const callers = ['a1', 'a2', 'a3'].map((name) => {
    const gone = new AbortController();
    return { gone, answer: enqueue(name, gone.signal) };
  });
  const [first, second, third] = callers;
  second?.gone.abort();
  first?.gone.abort();
  await expect(second?.answer).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  // Its place is free again.
  void enqueue('a4');
  await end('a1');
  expect(await first?.answer).toBe('a1');
  await end('a3');
  expect(await third?.answer).toBe('a3');
  expect(begun).toEqual(['a1', 'a3', 'a4']);
  await expect(enqueue('a5', AbortSignal.abort())).rejects.toMatchObject({ code: 'RATE_LIMITED' });
});

test('work that has waited too long is rejected, and later work runs', async () => {
  const { begun, enqueue, end } = newQueue({ runningMax: 1, waitMsMax: 50 });
  void enqueue('a1');
  await expect(enqueue('a2')).rejects.toMatchObject(UNAVAILABLE);
  void enqueue('a3');
  await end('a1');
  expect(begun).toEqual(['a1', 'a3']);
});

test('in any order of arrivals, departures and ends, remaining work runs once, one at a time for each key', async () => {
  const step = fc.record({
    do: fc.constantFrom('enqueue', 'enqueue', 'enqueue', 'go', 'end', 'end'),
    pick: fc.nat(100),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const { begun, enqueue, end } = newQueue({ runningMax: 3, pendingMax: { ofOne: 100, ofAll: 100 } });
      const asked: { name: string; gone: AbortController; answer: Promise<string> }[] = [];
      const ended = new Set<string>();
      const runs = (): string[] => begun.filter((name) => !ended.has(name));
      for (const { do: what, pick } of steps) {
        if (what === 'enqueue') {
          const name = `${'abcde'[pick % 5]}${asked.length}`;
          const gone = new AbortController();
          const answer = enqueue(name, gone.signal);
          answer.catch(() => {});
          asked.push({ name, gone, answer });
        } else if (what === 'go') asked[pick % Math.max(asked.length, 1)]?.gone.abort();
        else if (runs().length > 0) {
          const name = runs()[pick % runs().length] ?? '';
          ended.add(name);
          await end(name);
        }
        await settled();
        const keys = runs().map((name) => name.slice(0, 1));
        expect(new Set(keys).size).toBe(keys.length);
        expect(keys.length).toBeLessThanOrEqual(3);
      }
      for (let name = runs()[0]; name; name = runs()[0]) {
        ended.add(name);
        await end(name);
      }
      const results = await Promise.allSettled(asked.map(({ answer }) => answer));
      const served = results.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
      expect(served.toSorted()).toEqual(begun.toSorted());
      const left = asked.filter((one) => !begun.includes(one.name));
      expect(left.every(({ gone }) => gone.signal.aborted)).toBe(true);
    }),
    { numRuns: 150 },
  );
});
