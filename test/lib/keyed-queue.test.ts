import { setMaxListeners } from 'node:events';

import fc from 'fast-check';

import { createKeyedQueue, type KeyedQueueOptions } from '../../src/lib/keyed-queue.ts';

const STAYS = new AbortController().signal;
setMaxListeners(0, STAYS);
const REFUSED = { code: 'RATE_LIMITED', status: 429, headers: { 'Retry-After': '1' } };
const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE', status: 503, headers: { 'Retry-After': '1' } };

/** A queue, and what was begun in it, in its order. */
function newQueue(changes: Partial<KeyedQueueOptions> = {}) {
  const queue = createKeyedQueue({ runningMax: 2, pendingMax: { ofOne: 3, ofAll: 5 }, waitMsMax: 1_000, ...changes });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = async (name: string, gone: AbortSignal = STAYS): Promise<string> =>
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
  return { queue, begun, ask, end };
}

const settled = () => new Promise<void>((resolve) => void setImmediate(resolve));

test('work of one key runs one after the other, that of another key beside it', async () => {
  const { begun, ask, end } = newQueue();
  const answers = ['a1', 'a2', 'b1'].map((name) => ask(name));
  await settled();
  expect(begun).toEqual(['a1', 'b1']);
  await end('a1');
  expect(begun).toEqual(['a1', 'b1', 'a2']);
  await end('b1');
  await end('a2');
  expect(await Promise.all(answers)).toEqual(['a1', 'a2', 'b1']);
});

test('keys take turns: who has asked for more waits behind who has asked for one', async () => {
  const { begun, ask, end } = newQueue({ runningMax: 1 });
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) void ask(name);
  await settled();
  for (let turn = 0; turn < 6; turn += 1) await end(begun.at(-1) ?? '');
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('what throws is thrown to its caller alone, and the next has its turn', async () => {
  const { queue, begun, ask } = newQueue();
  const broken = queue.run('a', () => Promise.reject(new Error('broken')), STAYS);
  const thrown = queue.run(
    'a',
    () => {
      throw new Error('thrown');
    },
    STAYS,
  );
  void ask('a3');
  await expect(broken).rejects.toThrow('broken');
  await expect(thrown).rejects.toThrow('thrown');
  await settled();
  expect(begun).toEqual(['a3']);
});

test('more than may wait of one key is refused, and others still wait', async () => {
  const { begun, ask, end } = newQueue({ runningMax: 1 });
  for (const name of ['a1', 'a2', 'a3', 'a4']) void ask(name);
  await expect(ask('a5')).rejects.toMatchObject(REFUSED);
  for (const name of ['b1', 'b2']) void ask(name);
  await expect(ask('c1')).rejects.toMatchObject(UNAVAILABLE);
  await end('a1');
  void ask('c1');
  await settled();
  expect(begun).toEqual(['a1', 'b1']);
});

test('who has gone leaves the row, and is never begun; who is at it stays', async () => {
  const { begun, ask, end } = newQueue({ runningMax: 1, pendingMax: { ofOne: 2, ofAll: 2 } });
  const callers = ['a1', 'a2', 'a3'].map((name) => {
    const gone = new AbortController();
    return { gone, answer: ask(name, gone.signal) };
  });
  const [first, second, third] = callers;
  second?.gone.abort();
  first?.gone.abort();
  await expect(second?.answer).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  // Its place is free again.
  void ask('a4');
  await end('a1');
  expect(await first?.answer).toBe('a1');
  await end('a3');
  expect(await third?.answer).toBe('a3');
  expect(begun).toEqual(['a1', 'a3', 'a4']);
  await expect(ask('a5', AbortSignal.abort())).rejects.toMatchObject({ code: 'RATE_LIMITED' });
});

test('what has waited too long is refused when it would begin', async () => {
  let nowMs = 0;
  const { begun, ask, end } = newQueue({ runningMax: 1, nowMs: () => nowMs });
  void ask('a1');
  const late = ask('a2');
  nowMs = 500;
  void ask('a3');
  await settled();
  nowMs = 1_001;
  await Promise.all([expect(late).rejects.toMatchObject(UNAVAILABLE), end('a1')]);
  expect(begun).toEqual(['a1', 'a3']);
});

test('whatever comes, goes and ends, in whatever order, each who stays is run once, and none of a key beside another', async () => {
  const step = fc.record({ do: fc.constantFrom('ask', 'ask', 'ask', 'go', 'end', 'end'), pick: fc.nat(100) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const { begun, ask, end } = newQueue({ runningMax: 3, pendingMax: { ofOne: 100, ofAll: 100 } });
      const asked: { name: string; gone: AbortController; answer: Promise<string> }[] = [];
      const ended = new Set<string>();
      const runs = (): string[] => begun.filter((name) => !ended.has(name));
      for (const { do: what, pick } of steps) {
        if (what === 'ask') {
          const name = `${'abcde'[pick % 5]}${asked.length}`;
          const gone = new AbortController();
          const answer = ask(name, gone.signal);
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
      const answers = await Promise.allSettled(asked.map(({ answer }) => answer));
      const served = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
      expect(served.toSorted()).toEqual(begun.toSorted());
      const left = asked.filter((one) => !begun.includes(one.name));
      expect(left.every(({ gone }) => gone.signal.aborted)).toBe(true);
    }),
    { numRuns: 150 },
  );
});
