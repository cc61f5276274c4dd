import type { RawCallback } from '../../src/providers/provider.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import {
  CHANNELS,
  MINUTE_MS,
  aPayout,
  anOrder,
  connectAdapters,
  openInbox,
  queryPayoutUntil,
  type Inbox,
} from './sandbox.ts';

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

describe.each(CHANNELS)('simulated payout faults of %s', (channel) => {
  const provider = () => adapters.adapter(channel);
  const parsed = (callback: RawCallback | undefined) => callback && provider().parseCallback(callback);

  /** Makes a payout under the injected fault, and moves the clock past all its callbacks. */
  const pay = async () => {
    const order = aPayout(inbox.url);
    expect(await provider().payout(order)).toMatchObject({ kind: 'accepted' });
    await simulator.advance(1_000);
    return order;
  };

  test('a provider that hangs before it acts gives unknown within the timeout and creates no payout', async () => {
    await simulator.fault({ kind: 'hang', next: 2 });
    const order = aPayout(inbox.url);
    const unknown = { kind: 'unknown', reason: 'timeout' };
    expect(await impatient.adapter(channel).payout(order)).toMatchObject(unknown);
    expect(await impatient.adapter(channel).queryPayout(order.orderId)).toMatchObject(unknown);
    expect(await provider().queryPayout(order.orderId)).toMatchObject({ kind: 'not-found' });
    expect(await provider().payout(order)).toMatchObject({ kind: 'accepted' });
  });

  test('a provider that hangs after it acted gives unknown within the timeout; a second submission pays nothing more', async () => {
    await simulator.fault({ kind: 'hangAfter', on: 'payout', next: 1 });
    const order = aPayout(inbox.url);
    expect(await impatient.adapter(channel).payout(order)).toMatchObject({ kind: 'unknown', reason: 'timeout' });
    const again = await provider().payout(order);
    expect(['accepted', 'succeeded']).toContain(again.kind);
    expect(await queryPayoutUntil(provider(), order.orderId, 'succeeded')).toMatchObject({ kind: 'succeeded' });
    expect((await simulator.totalsOf(channel)).paidOut).toBe('250.75');
  });

  test('a server error is unknown, whether the payout was created or not', async () => {
    await simulator.fault({ kind: 'serverError', on: 'payout', next: 1 });
    await simulator.fault({ kind: 'serverErrorAfter', on: 'payout', next: 1 });
    const [lost, made] = [aPayout(inbox.url), aPayout(inbox.url)];
    for (const order of [lost, made]) {
      expect(await provider().payout(order)).toMatchObject({ kind: 'unknown', reason: 'http' });
    }
    expect((await simulator.journal()).payouts.map(({ withdrawalId }) => withdrawalId)).toEqual([made.orderId]);
    await simulator.fault({ kind: 'serverError', on: 'queryPayout', next: 1 });
    expect(await provider().queryPayout(made.orderId)).toMatchObject({ kind: 'unknown', reason: 'http' });
    expect(await provider().queryPayout(lost.orderId)).toMatchObject({ kind: 'not-found' });
  });

  test('a lost callback leaves the payout to be found by a query', async () => {
    await simulator.fault({ kind: 'callbackLost' });
    const { orderId } = await pay();
    await simulator.advance(10 * MINUTE_MS);
    // One of the test before may still arrive.
    expect(inbox.received.map(parsed)).not.toContainEqual({ verified: true, orderId });
    expect(await provider().queryPayout(orderId)).toMatchObject({ kind: 'succeeded' });
  });

  test('a delayed callback arrives after its delay', async () => {
    await simulator.fault({ kind: 'callbackLate', delayMs: 5 * MINUTE_MS });
    await pay();
    await simulator.advance(4 * MINUTE_MS);
    expect(inbox.received).toHaveLength(0);
    await simulator.advance(2 * MINUTE_MS);
    expect(inbox.received).toHaveLength(1);
  });

  test('a doubled callback arrives twice, both verified', async () => {
    await simulator.fault({ kind: 'callbackDoubled' });
    const { orderId } = await pay();
    expect(inbox.received.map(parsed)).toEqual([
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
    expect(texts[1]).toMatch(/Pending|ACCEPTED/);
    expect(await provider().queryPayout(orderId)).toMatchObject({ kind: 'succeeded' });
  });

  test('a callback may arrive before the reply to the payout', async () => {
    await simulator.fault({ kind: 'callbackBeforeAnswer', next: 1 });
    let seenBeforeAnswer = -1;
    const order = aPayout(inbox.url);
    const answer = await provider()
      .payout(order)
      .finally(() => (seenBeforeAnswer = inbox.received.length));
    expect(seenBeforeAnswer).toBe(1);
    expect(answer).toMatchObject({ kind: 'succeeded' });
  });

  test.each(['callbackUnsigned', 'callbackWronglySigned'] as const)(
    'a callback with the fault %s is not verified',
    async (kind) => {
      await simulator.fault({ kind });
      const { orderId } = await pay();
      expect(parsed(inbox.received[0])).toMatchObject({ verified: false });
      expect(await provider().queryPayout(orderId)).toMatchObject({ kind: 'succeeded' });
    },
  );

  test('a callback with any field changed is not verified', async () => {
    const { orderId } = await pay();
    const [genuine] = inbox.received;
    const message = JSON.parse(genuine!.body.toString()) as Record<string, unknown>;
    for (const name of Object.keys(message).filter((field) => field !== 'sign_type')) {
      const body = Buffer.from(JSON.stringify({ ...message, [name]: `1${String(message[name])}` }));
      expect(parsed({ headers: genuine!.headers, body })).toMatchObject({ verified: false });
    }
    expect(parsed(genuine)).toEqual({ verified: true, orderId });
  });

  test('a payout that is accepted and then fails is reported as failed by query and callback', async () => {
    await simulator.fault({ kind: 'payoutAcceptedThenFailed', next: 1 });
    const { orderId } = await pay();
    expect(await provider().queryPayout(orderId)).toMatchObject({ kind: 'declined', failure: { code: 'DECLINED' } });
    expect(parsed(inbox.received[0])).toEqual({ verified: true, orderId });
    expect((await simulator.totalsOf(channel)).paidOut).toBe('0.00');
  });

  test('a reversal happens once, after the configured delay', async () => {
    await simulator.fault({ kind: 'payoutReversed', delayMs: 60 * MINUTE_MS, next: 1 });
    const order = await pay();
    await simulator.advance(58 * MINUTE_MS);
    expect(await provider().queryPayout(order.orderId)).toMatchObject({ kind: 'succeeded' });
    await simulator.advance(3 * MINUTE_MS);
    expect(await provider().queryPayout(order.orderId)).toMatchObject({ kind: 'reversed' });
    expect(await provider().payout(order)).toMatchObject({ kind: 'reversed' });
    expect(inbox.received).toHaveLength(2);
    expect(await simulator.totalsOf(channel)).toMatchObject({ paidOut: '250.75', reversed: '250.75', unpaid: '0.00' });
  });

  test('delayed callbacks of a payment and of its reversal arrive once each, in any order', async () => {
    await simulator.fault({ kind: 'callbackLate', delayMs: 5 * MINUTE_MS, next: 1 });
    await simulator.fault({ kind: 'payoutReversed', delayMs: MINUTE_MS, next: 1 });
    await pay();
    await simulator.advance(30 * MINUTE_MS);
    expect(inbox.received).toHaveLength(2);
  });

  test('a paid payout can be reported as unknown for minutes', async () => {
    await simulator.fault({ kind: 'payoutUnknown', delayMs: 5 * MINUTE_MS, next: 1 });
    const order = aPayout(inbox.url);
    const unknown = { kind: 'unknown', reason: 'http' };
    expect(await provider().payout(order)).toMatchObject(unknown);
    await simulator.advance(4 * MINUTE_MS);
    expect(await provider().payout(order)).toMatchObject(unknown);
    expect(await provider().queryPayout(order.orderId)).toMatchObject(unknown);
    expect(await simulator.payoutOf(order.orderId)).toMatchObject({ paid: true, submissions: 2 });
    const other = aPayout(inbox.url);
    expect(await provider().payout(other)).toMatchObject({ kind: 'accepted' });
    await simulator.advance(2 * MINUTE_MS);
    expect(await provider().queryPayout(order.orderId)).toMatchObject({ kind: 'succeeded' });
    expect(await provider().payout(order)).toMatchObject({ kind: 'succeeded' });
    expect((await simulator.totalsOf(channel)).paidOut).toBe('501.50');
  });

  test('a paid payout can be left without a reply for minutes', async () => {
    await simulator.fault({ kind: 'payoutSilent', delayMs: MINUTE_MS, next: 1 });
    const order = aPayout(inbox.url);
    const unknown = { kind: 'unknown', reason: 'timeout' };
    expect(await impatient.adapter(channel).payout(order)).toMatchObject(unknown);
    expect(await impatient.adapter(channel).queryPayout(order.orderId)).toMatchObject(unknown);
    await simulator.advance(2 * MINUTE_MS);
    expect(await provider().queryPayout(order.orderId)).toMatchObject({ kind: 'succeeded' });
  });

  test('a lagging query is pending until it catches up, also for a reversal', async () => {
    await simulator.fault({ kind: 'queryLag', delayMs: 2 * MINUTE_MS });
    await simulator.fault({ kind: 'payoutReversed', delayMs: MINUTE_MS });
    const { orderId } = await pay();
    expect(inbox.received).toHaveLength(1);
    expect(await provider().queryPayout(orderId)).toMatchObject({ kind: 'pending' });
    await simulator.advance(2 * MINUTE_MS);
    expect(await provider().queryPayout(orderId)).toMatchObject({ kind: 'succeeded' });
    await simulator.advance(MINUTE_MS);
    expect(await provider().queryPayout(orderId)).toMatchObject({ kind: 'reversed' });
  });

  test('a payout of another amount is reported by a query with that amount', async () => {
    await simulator.fault({ kind: 'paidWrongAmount' });
    const { orderId } = await pay();
    expect(await provider().queryPayout(orderId)).toMatchObject({ kind: 'succeeded', amountSantim: 25_175n });
  });
});

test('a fault of payouts does not affect payments, and the reverse', async () => {
  const provider = adapters.adapter('CBE_BIRR');
  await simulator.fault({ kind: 'callbackLost', of: 'payout', next: 1 });
  await provider.initiate(anOrder(inbox.url));
  await provider.payout(aPayout(inbox.url));
  await simulator.fault({ kind: 'callbackLost', of: 'payment', next: 1 });
  await provider.payout(aPayout(inbox.url));
  await provider.initiate(anOrder(inbox.url));
  await simulator.advance(1_000);
  expect(inbox.received).toHaveLength(2);
  expect((await simulator.journal()).orders.map(({ callbacks }) => callbacks.length)).toEqual([1, 0]);
  expect((await simulator.journal()).payouts.map(({ callbacks }) => callbacks.length)).toEqual([0, 1]);
});

test('a payout with an expired telebirr token requests a new token and succeeds', async () => {
  const provider = adapters.adapter('TELEBIRR');
  await provider.payout(aPayout(inbox.url));
  await simulator.fault({ kind: 'tokenExpired', on: 'payout', next: 1 });
  const order = aPayout(inbox.url);
  expect(await provider.payout(order)).toMatchObject({ kind: 'accepted' });
  expect(await simulator.payoutOf(order.orderId)).toMatchObject({ submissions: 1 });
});
