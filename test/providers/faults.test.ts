import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { CHANNELS, MINUTE_MS, anOrder, connectAdapters, openInbox, queryUntil, type Inbox } from './sandbox.ts';

const TIMEOUT_MS = 800;

let simulator: TestSimulator;
let inbox: Inbox;
let adapters: ReturnType<typeof connectAdapters>;
let impatient: ReturnType<typeof connectAdapters>;

beforeAll(async () => {
  simulator = await startTestSimulator();
  inbox = await openInbox();
  adapters = connectAdapters(simulator.url);
  impatient = connectAdapters(simulator.url, { timeoutMs: TIMEOUT_MS });
});

afterAll(async () => {
  await adapters.close();
  await impatient.close();
  await inbox.close();
  await simulator.close();
});

beforeEach(async () => {
  await simulator.reset();
  inbox.received.length = 0;
});

describe.each(CHANNELS)('simulated payment faults of %s', (channel) => {
  const provider = () => adapters.adapter(channel);

  /** Pays an order under the injected fault, and moves the clock past all its callbacks. */
  const pay = async () => {
    const order = anOrder(inbox.url);
    expect(await provider().initiate(order)).toMatchObject({ kind: 'accepted' });
    await simulator.advance(1_000);
    return order;
  };

  test('a hanging provider gives unknown within the timeout', async () => {
    await simulator.fault({ kind: 'hang', next: 2 });
    const order = anOrder(inbox.url);
    expect(await impatient.adapter(channel).initiate(order)).toMatchObject({ kind: 'unknown', reason: 'timeout' });
    expect(await impatient.adapter(channel).query(order.orderId)).toMatchObject({ kind: 'unknown', reason: 'timeout' });
    expect(await simulator.orderOf(order.orderId)).toBeUndefined();
    await simulator.clearFaults();
    expect(await provider().initiate(order)).toMatchObject({ kind: 'accepted' });
  });

  test('an order created without a reply is unknown, and found by a query', async () => {
    await simulator.fault({ kind: 'hangAfter', on: 'initiate', next: 1 });
    const order = anOrder(inbox.url);
    const first = await impatient.adapter(channel).initiate(order);
    expect(first).toMatchObject({ kind: 'unknown', reason: 'timeout' });
    expect(await queryUntil(provider(), order.orderId, 'succeeded')).toMatchObject({ kind: 'succeeded' });
  });

  test('a server error is unknown, whether the order was created or not', async () => {
    await simulator.fault({ kind: 'serverError', on: 'initiate', next: 1 });
    await simulator.fault({ kind: 'serverErrorAfter', on: 'initiate', next: 1 });
    const [lost, made] = [anOrder(inbox.url), anOrder(inbox.url)];
    expect(await provider().initiate(lost)).toMatchObject({ kind: 'unknown', reason: 'http' });
    expect(await provider().initiate(made)).toMatchObject({ kind: 'unknown', reason: 'http' });
    expect((await simulator.journal()).orders.map(({ attemptId }) => attemptId)).toEqual([made.orderId]);
    await simulator.fault({ kind: 'serverError', on: 'query', next: 1 });
    expect(await provider().query(made.orderId)).toMatchObject({ kind: 'unknown', reason: 'http' });
  });

  test('a lost callback leaves the payment to be found by a query', async () => {
    await simulator.fault({ kind: 'callbackLost' });
    const order = await pay();
    await simulator.advance(10 * MINUTE_MS);
    expect(inbox.received).toHaveLength(0);
    expect(await provider().query(order.orderId)).toMatchObject({ kind: 'succeeded' });
  });

  test('a delayed callback arrives after its delay', async () => {
    await simulator.fault({ kind: 'callbackLate', delayMs: 5 * MINUTE_MS });
    const order = await pay();
    await simulator.advance(4 * MINUTE_MS);
    expect(inbox.received).toHaveLength(0);
    expect(await provider().query(order.orderId)).toMatchObject({ kind: 'succeeded' });
    await simulator.advance(2 * MINUTE_MS);
    expect(inbox.received).toHaveLength(1);
  });

  test('a doubled callback arrives twice, both verified', async () => {
    await simulator.fault({ kind: 'callbackDoubled' });
    const { orderId } = await pay();
    expect(inbox.received.map((callback) => provider().parseCallback(callback))).toEqual([
      { verified: true, orderId },
      { verified: true, orderId },
    ]);
  });

  test('a callback out of order reports pending after paid; a query still reports paid', async () => {
    await simulator.fault({ kind: 'callbackOutOfOrder' });
    const { orderId } = await pay();
    const texts = inbox.received.map(({ body }) => body.toString());
    expect(texts).toHaveLength(2);
    expect(texts[0]).toMatch(/Completed|COMPLETED|PAID/);
    expect(texts[1]).toMatch(/Paying|PENDING|PUSHED/);
    expect(await provider().query(orderId)).toMatchObject({ kind: 'succeeded' });
  });

  test('a callback may arrive before the reply to the order', async () => {
    await simulator.fault({ kind: 'callbackBeforeAnswer', next: 1 });
    const order = anOrder(inbox.url);
    let seenBeforeAnswer = -1;
    await provider()
      .initiate(order)
      .then(() => (seenBeforeAnswer = inbox.received.length));
    expect(seenBeforeAnswer).toBe(1);
    expect(await provider().query(order.orderId)).toMatchObject({ kind: 'succeeded' });
  });

  test.each(['callbackUnsigned', 'callbackWronglySigned'] as const)(
    'a callback with the fault %s is not verified',
    async (kind) => {
      await simulator.fault({ kind });
      const { orderId } = await pay();
      expect(provider().parseCallback(inbox.received[0]!)).toMatchObject({ verified: false });
      expect(await provider().query(orderId)).toMatchObject({ kind: 'succeeded' });
    },
  );

  test('a verified callback with another amount does not change the result of a query', async () => {
    await simulator.fault({ kind: 'callbackWrongAmount' });
    const { orderId } = await pay();
    expect(inbox.received[0]!.body.toString()).toContain('101.50');
    expect(provider().parseCallback(inbox.received[0]!)).toEqual({ verified: true, orderId });
    expect(await provider().query(orderId)).toMatchObject({ kind: 'succeeded', amountSantim: 10_050n });
  });

  test('a payment of another amount is reported by a query with that amount', async () => {
    await simulator.fault({ kind: 'paidWrongAmount' });
    const { orderId } = await pay();
    expect(await provider().query(orderId)).toMatchObject({ kind: 'succeeded', amountSantim: 10_150n });
  });

  test('a lagging query is pending until it catches up', async () => {
    await simulator.fault({ kind: 'queryLag', delayMs: MINUTE_MS });
    const { orderId } = await pay();
    expect(inbox.received).toHaveLength(1);
    expect(await provider().query(orderId)).toMatchObject({ kind: 'pending' });
    await simulator.advance(MINUTE_MS);
    expect(await provider().query(orderId)).toMatchObject({ kind: 'succeeded' });
  });

  test('a callback with any field changed is not verified', async () => {
    const { orderId } = await pay();
    const [genuine] = inbox.received;
    const message = JSON.parse(genuine!.body.toString()) as Record<string, unknown>;
    for (const name of Object.keys(message).filter((field) => field !== 'sign_type')) {
      const body = Buffer.from(JSON.stringify({ ...message, [name]: `1${String(message[name])}` }));
      expect(provider().parseCallback({ headers: genuine!.headers, body })).toMatchObject({ verified: false });
    }
    expect(provider().parseCallback(genuine!)).toEqual({ verified: true, orderId });
  });

  test.each(['', '{', '[]', 'null', '"text"', '{}', '{"__proto__":1}', `${'['.repeat(10_000)}`])(
    'the callback %p is not verified, and breaks nothing',
    (text) => {
      expect(provider().parseCallback({ headers: {}, body: Buffer.from(text) })).toMatchObject({ verified: false });
    },
  );
});

test('a fault can be for one channel only', async () => {
  await simulator.fault({ kind: 'serverError', channel: 'AWASH' });
  expect(await adapters.adapter('CBE_BIRR').initiate(anOrder(inbox.url))).toMatchObject({ kind: 'accepted' });
  expect(await adapters.adapter('AWASH').initiate(anOrder(inbox.url))).toMatchObject({ kind: 'unknown' });
  await simulator.clearFaults();
  expect(await adapters.adapter('AWASH').initiate(anOrder(inbox.url))).toMatchObject({ kind: 'accepted' });
});

test('a fault for the next two orders spares the third', async () => {
  await simulator.fault({ kind: 'callbackLost', next: 2 });
  for (let made = 0; made < 3; made += 1) await adapters.adapter('TELEBIRR').initiate(anOrder(inbox.url));
  await simulator.advance(1_000);
  expect(inbox.received).toHaveLength(1);
});

test('an invalid admin call is rejected with the reason', async () => {
  for (const [path, body] of [
    ['/admin/faults', { kind: 'nonsense' }],
    ['/admin/faults', { kind: 'hang', nxt: 1 }],
    ['/admin/clock', { advanceMs: -1 }],
  ] as const) {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(simulator.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ problems: [expect.any(String)] });
  }
});
