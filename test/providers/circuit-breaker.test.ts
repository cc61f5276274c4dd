import type { Variables } from '../../src/config.ts';
import { CIRCUIT } from '../../src/providers/circuit-breaker.ts';
import type { RequestKind } from '../../src/sandbox/simulator/faults.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { connectLive } from './live.ts';
import { anOrder, aPayout, CHANNELS, openInbox, type Inbox } from './sandbox.ts';

const HELD_BACK = { kind: 'unknown', reason: 'circuit-open' };

let simulator: TestSimulator;
let inbox: Inbox;
let connections: ReturnType<typeof connectLive>[] = [];
let nowMs: number;

beforeAll(async () => {
  simulator = await startTestSimulator();
  inbox = await openInbox();
});
beforeEach(async () => {
  await simulator.reset();
  nowMs = Date.now();
});
afterEach(async () => {
  await Promise.all(connections.map((one) => one.close()));
  connections = [];
});
afterAll(async () => {
  await inbox.close();
  await simulator.close();
});

/** The live providers of a new process, with a clock that stands still until it is moved. */
function connect(settings: Variables = {}) {
  const connection = connectLive(simulator.url, { clock: () => new Date(nowMs), settings });
  connections.push(connection);
  return connection;
}

/** Makes calls one after the other. */
async function times<Result>(count: number, call: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let made = 0; made < count; made += 1) results.push(await call());
  return results;
}

describe.each(CHANNELS)('the circuit breaker of %s', (channel) => {
  const requests = (kind: RequestKind) => simulator.requests(`${channel} ${kind}`);
  const provider = (settings?: Variables) => connect(settings).live(channel);
  const failing = { kind: 'serverError', channel } as const;

  test('opens after five server errors in a row, and then makes no call about any order', async () => {
    const live = provider();
    await simulator.fault(failing);
    const outcomes = await times(5, () => live.query(anOrder(inbox.url).orderId));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: 'unknown', reason: 'http', status: 500 });
    expect(await live.initiate(anOrder(inbox.url))).toMatchObject(HELD_BACK);
    expect(await live.query(anOrder(inbox.url).orderId)).toMatchObject(HELD_BACK);
    expect([await requests('query'), await requests('initiate')]).toEqual([5, 0]);
  });

  test('of payouts opens by itself: payments go on, and the other way round', async () => {
    const live = provider();
    await simulator.fault({ ...failing, on: 'queryPayout' });
    await times(5, () => live.queryPayout(aPayout(inbox.url).orderId));
    expect(await live.payout(aPayout(inbox.url))).toMatchObject(HELD_BACK);
    expect(await requests('payout')).toBe(0);
    expect(await live.query(anOrder(inbox.url).orderId)).toMatchObject({ kind: 'pending' });
    await simulator.clearFaults();
    await simulator.fault({ ...failing, on: 'query' });
    nowMs += CIRCUIT.openMs;
    await times(5, () => live.query(anOrder(inbox.url).orderId));
    expect(await live.initiate(anOrder(inbox.url))).toMatchObject(HELD_BACK);
    expect(await live.payout(aPayout(inbox.url))).toMatchObject({ kind: 'accepted' });
  });

  test('opens after time-outs', async () => {
    const live = provider({ [`${channel}_TIMEOUT_MS`]: '500' });
    await simulator.fault({ kind: 'hang', channel });
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => live.query(anOrder(inbox.url).orderId)));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: 'unknown', reason: 'timeout' });
    expect(await live.query(anOrder(inbox.url).orderId)).toMatchObject(HELD_BACK);
  });

  test('lets one probe through after 15 s, while other calls are held back, and closes when it succeeds', async () => {
    const live = provider();
    await simulator.fault({ ...failing, next: 5 });
    const query = async () => live.query(anOrder(inbox.url).orderId);
    await times(5, query);
    nowMs += CIRCUIT.openMs - 1;
    expect(await query()).toMatchObject(HELD_BACK);
    nowMs += 1;
    const [probe, ...others] = await Promise.all([query(), query(), query()]);
    expect(probe).toMatchObject({ kind: 'pending' });
    for (const other of others) expect(other).toMatchObject(HELD_BACK);
    expect(await requests('query')).toBe(6);
    expect(await live.payout(aPayout(inbox.url))).toMatchObject({ kind: 'accepted' });
  });

  test('closes when the provider rejects the probe: it is available', async () => {
    const wrong = channel === 'TELEBIRR' ? { TELEBIRR_SIGNATURE_SCHEME: 'PKCS1' } : { [`${channel}_TOKEN`]: 'wrong' };
    const live = provider(wrong);
    await simulator.fault({ ...failing, next: 5 });
    const query = async () => live.query(anOrder(inbox.url).orderId);
    await times(5, query);
    expect(await query()).toMatchObject(HELD_BACK);
    nowMs += CIRCUIT.openMs;
    expect(await query()).toMatchObject({ kind: 'unknown', reason: expect.not.stringContaining('circuit') });
    for (const outcome of await Promise.all([query(), query()])) expect(outcome).not.toMatchObject(HELD_BACK);
  });

  test('stays open for another 15 s when the probe fails', async () => {
    const live = provider();
    await simulator.fault({ ...failing, next: 6 });
    await times(5, () => live.query(anOrder(inbox.url).orderId));
    nowMs += CIRCUIT.openMs;
    expect(await live.query(anOrder(inbox.url).orderId)).toMatchObject({ reason: 'http' });
    nowMs += CIRCUIT.openMs - 1;
    expect(await live.query(anOrder(inbox.url).orderId)).toMatchObject(HELD_BACK);
    expect(await requests('query')).toBe(6);
  });

  test('is not opened by declines, unknown orders or failed statements', async () => {
    const live = provider();
    await simulator.fault({ ...failing, on: 'statement' });
    const refused = { ...aPayout(inbox.url), destination: { kind: 'phone', phone: '251911000002' } } as const;
    for (const _ of Array.from({ length: 10 })) {
      expect(await live.query(anOrder(inbox.url).orderId)).toMatchObject({ kind: 'pending' });
      expect(await live.payout({ ...refused, orderId: aPayout('').orderId })).toMatchObject({ kind: 'declined' });
    }
    for (const outcome of await times(10, () => live.statement('2026-01-05', null))) {
      expect(outcome).toMatchObject({ kind: 'unknown', reason: 'http' });
    }
    expect(await live.query(anOrder(inbox.url).orderId)).toMatchObject({ kind: 'pending' });
  });

  test('is not opened by wrong credentials, which are those of one account', async () => {
    const wrong = channel === 'TELEBIRR' ? { TELEBIRR_APP_SECRET: 'wrong' } : { [`${channel}_TOKEN`]: 'wrong' };
    const live = provider(wrong);
    for (const outcome of await times(12, () => live.query(anOrder(inbox.url).orderId))) {
      expect(outcome.kind).toBe('unknown');
      expect(outcome).not.toMatchObject(HELD_BACK);
    }
  });
});

test.each(['CBE_BIRR', 'AWASH'] as const)(
  'an order of %s is pushed once however often its submission is repeated around an outage',
  async (channel) => {
    const live = connect().live(channel);
    const order = anOrder(inbox.url);
    await simulator.fault({ kind: 'serverErrorAfter', channel, on: 'initiate', next: 5 });
    await times(5, () => live.initiate(order));
    expect(await live.initiate(order)).toMatchObject(HELD_BACK);
    nowMs += CIRCUIT.openMs;
    expect(['accepted', 'succeeded']).toContain((await live.initiate(order)).kind);
    expect((await simulator.journal()).orders.filter((one) => one.attemptId === order.orderId)).toHaveLength(1);
  },
);

test('half of at least ten calls in 30 s open the circuit, older calls do not count', async () => {
  const live = connect().live('CBE_BIRR');
  const one = async (isFailing: boolean) => {
    if (isFailing) await simulator.fault({ kind: 'serverError', next: 1 });
    return live.query(anOrder(inbox.url).orderId);
  };
  for (const isFailing of [true, true, true, true, false]) await one(isFailing);
  nowMs += CIRCUIT.windowMs + 1;
  for (const isFailing of [false, true, false, true, false, true, false, true, false]) {
    expect(await one(isFailing)).not.toMatchObject(HELD_BACK);
  }
  await one(true);
  expect(await one(false)).toMatchObject(HELD_BACK);
});

test('a clock that is set back does not keep the circuit open', async () => {
  const live = connect().live('AWASH');
  await simulator.fault({ kind: 'serverError', next: 5 });
  await times(5, () => live.query(anOrder(inbox.url).orderId));
  nowMs -= 60_000;
  expect(await live.query(anOrder(inbox.url).orderId)).toMatchObject({ kind: 'pending' });
});

test('each channel has a circuit of its own, and the sandbox has none', async () => {
  const { find, live } = connect();
  await simulator.fault({ kind: 'serverError', channel: 'CBE_BIRR' });
  await times(6, () => live('CBE_BIRR').query(anOrder(inbox.url).orderId));
  expect(await live('AWASH').query(anOrder(inbox.url).orderId)).toMatchObject({ kind: 'pending' });
  const sandbox = find('CBE_BIRR', 'sandbox');
  for (const outcome of await times(6, async () => sandbox?.query(anOrder(inbox.url).orderId))) {
    expect(outcome).toMatchObject({ reason: 'http' });
  }
});
