import { newId } from '../../src/lib/ids.ts';
import { SANDBOX_REFUNDS } from '../../src/lib/sandbox-providers.ts';
import type { Provider, RefundOrder, RefundOutcome } from '../../src/providers/provider.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { anOrder, CHANNELS, connectAdapters, MINUTE_MS, openInbox, queryUntil, type Inbox } from './sandbox.ts';

let simulator: TestSimulator;
let inbox: Inbox;
let adapters: ReturnType<typeof connectAdapters>;

beforeAll(async () => {
  simulator = await startTestSimulator();
  inbox = await openInbox();
  adapters = connectAdapters(simulator.url);
});
afterAll(async () => {
  await adapters.close();
  await inbox.close();
  await simulator.close();
});
beforeEach(async () => {
  await simulator.reset();
  inbox.received.length = 0;
});

async function queryRefundUntil(provider: Provider, order: RefundOrder, kind: RefundOutcome['kind']) {
  const endMs = Date.now() + 10_000;
  for (;;) {
    const outcome = await provider.queryRefund(order);
    if (outcome.kind === kind || Date.now() > endMs) return outcome;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe.each(CHANNELS)('simulated refunds over %s', (channel) => {
  const provider = () => adapters.adapter(channel);
  const hasCallback = channel !== 'TELEBIRR';

  /** A paid order of 100.50 from this phone. */
  const pay = async (digit: number) => {
    const order = paymentOf(digit);
    await provider().initiate(order);
    if (digit === 4) await adapters.find(channel, 'sandbox')?.decide?.(order.orderId, 'approve');
    if (digit === 5) await simulator.advance(3 * MINUTE_MS);
    if (digit === 6) await simulator.advance(31 * MINUTE_MS);
    await queryUntil(provider(), order.orderId, 'succeeded');
    inbox.received.length = 0;
    return order.orderId;
  };
  const paymentOf = (digit: number) => anOrder(inbox.url, { phone: `25191100000${digit}` });
  const orderOf = (paymentId: string, changes: Partial<RefundOrder> = {}): RefundOrder => ({
    refundId: newId('rfd'),
    paymentId,
    amountSantim: 40_25n,
    currency: 'ETB',
    reason: 'Returned',
    notifyUrl: inbox.url,
    ...changes,
  });
  const refund = async (digit: number) => {
    const order = orderOf(await pay(digit));
    return { order, answer: await provider().refund(order) };
  };

  test('1 is accepted, then refunded within a second, and listed in the statement of its day', async () => {
    const { order, answer } = await refund(1);
    expect(answer).toMatchObject({ kind: 'accepted' });
    const outcome = await queryRefundUntil(provider(), order, 'succeeded');
    expect(outcome).toMatchObject({ kind: 'succeeded', amountSantim: 40_25n, currency: 'ETB' });
    const { providerReference } = outcome as Extract<RefundOutcome, { kind: 'succeeded' }>;
    expect(await simulator.refundOf(order.refundId)).toMatchObject({ paid: true, submissions: 1 });
    expect(await simulator.totalsOf(channel)).toMatchObject({ received: '100.50', refunded: '40.25', unpaid: '60.25' });
    const day = new Date(Date.now() + 3 * 3_600_000).toISOString().slice(0, 10);
    const page = await provider().statement(day, null);
    const listed = page.kind === 'page' ? page.rows.filter(({ type }) => type === 'refund') : [];
    expect(listed).toMatchObject([{ orderId: order.refundId, amountSantim: 40_25n, providerReference }]);
    // That of the payment may be late.
    const isOfRefund = (callback: (typeof inbox.received)[number]): boolean => {
      const parsed = provider().parseCallback(callback);
      return parsed.verified && parsed.orderId === order.refundId;
    };
    if (!hasCallback) return expect(inbox.received.filter(isOfRefund)).toEqual([]);
    await until('the callback of the refund', () => inbox.received.some(isOfRefund));
  });

  test('the same refund again moves nothing and reports the first one; with another amount it is no outcome', async () => {
    const { order } = await refund(1);
    await queryRefundUntil(provider(), order, 'succeeded');
    expect(await provider().refund(order)).toMatchObject({ kind: 'succeeded', amountSantim: 40_25n });
    expect(await provider().refund({ ...order, amountSantim: 1_00n })).toMatchObject({ kind: 'unknown' });
    expect((await simulator.totalsOf(channel)).refunded).toBe('40.25');
  });

  test('several refunds of one payment are known apart, and more than is left is no outcome', async () => {
    const paymentId = await pay(7);
    const [first, second] = [orderOf(paymentId), orderOf(paymentId, { amountSantim: 60_25n })];
    for (const order of [first, second]) await provider().refund(order);
    expect(await queryRefundUntil(provider(), second, 'succeeded')).toMatchObject({ amountSantim: 60_25n });
    expect(await queryRefundUntil(provider(), first, 'succeeded')).toMatchObject({ amountSantim: 40_25n });
    const more = orderOf(paymentId, { amountSantim: 1n });
    expect(await provider().refund(more)).toMatchObject({ kind: 'unknown', reason: 'unreadable' });
    expect(await provider().queryRefund(more)).toMatchObject({ kind: 'not-found' });
  });

  test('4 is never decided', async () => {
    const { order, answer } = await refund(4);
    expect(answer).toMatchObject({ kind: 'accepted' });
    await simulator.advance(2 * 24 * 60 * MINUTE_MS);
    expect(await provider().queryRefund(order)).toMatchObject({ kind: 'pending' });
  });

  test('5 is refunded after two minutes', async () => {
    const { order } = await refund(5);
    expect(await provider().queryRefund(order)).toMatchObject({ kind: 'pending' });
    await simulator.advance(2 * MINUTE_MS + 1_000);
    expect(await provider().queryRefund(order)).toMatchObject({ kind: 'succeeded' });
  });

  test('6 is declined at once', async () => {
    const { order, answer } = await refund(6);
    const declined = { kind: 'declined', failure: { code: 'DECLINED', message: 'The provider declined the refund.' } };
    expect(answer).toMatchObject(declined);
    expect(await provider().queryRefund(order)).toMatchObject(declined);
  });

  test('7 is refunded without a callback', async () => {
    const { order } = await refund(7);
    expect(await queryRefundUntil(provider(), order, 'succeeded')).toMatchObject({ kind: 'succeeded' });
    expect(inbox.received).toEqual([]);
  });

  test('8 is declined because the account has too little', async () => {
    const order = paymentOf(8);
    await provider().initiate(order);
    await queryUntil(provider(), order.orderId, 'succeeded');
    const answer = await provider().refund(orderOf(order.orderId));
    expect(answer).toMatchObject({ kind: 'declined', failure: { code: 'INSUFFICIENT_FUNDS' } });
  });

  test('9 is paid within a second, and its refund is accepted, then fails', async () => {
    const { order, answer } = await refund(9);
    expect(answer).toMatchObject({ kind: 'accepted' });
    const outcome = await queryRefundUntil(provider(), order, 'declined');
    expect(outcome).toMatchObject({ failure: { code: 'DECLINED', message: expect.stringContaining('it failed') } });
    expect((await simulator.totalsOf(channel)).refunded).toBe('0.00');
  });

  test('a refund of an unknown or unpaid order is no outcome: it is queried again', async () => {
    const unpaid = paymentOf(5);
    await provider().initiate(unpaid);
    for (const paymentId of [unpaid.orderId, newId('pat')]) {
      expect(await provider().refund(orderOf(paymentId))).toMatchObject({ kind: 'unknown' });
      expect(await provider().queryRefund(orderOf(paymentId))).toMatchObject({ kind: 'not-found' });
    }
  });

  test.each(['serverErrorAfter', 'serverError'] as const)(
    '%s: the outcome is unknown, and a query has it',
    async (kind) => {
      const order = orderOf(await pay(7));
      await simulator.fault({ kind, channel, on: 'refund', next: 1 });
      expect(await provider().refund(order)).toMatchObject({ kind: 'unknown', reason: 'http' });
      const found = kind === 'serverErrorAfter' ? 'succeeded' : 'not-found';
      expect(await queryRefundUntil(provider(), order, found)).toMatchObject({ kind: found });
    },
  );

  test('while its provider fails every call about it, it is unknown', async () => {
    await simulator.fault({ kind: 'payoutUnknown', of: 'refund', channel, next: 1, delayMs: 5 * MINUTE_MS });
    const { order, answer } = await refund(7);
    expect(answer).toMatchObject({ kind: 'unknown' });
    expect(await provider().queryRefund(order)).toMatchObject({ kind: 'unknown' });
    await simulator.advance(6 * MINUTE_MS);
    expect(await provider().queryRefund(order)).toMatchObject({ kind: 'succeeded' });
  });
});

test('the simulator lists what it does with refunds', async () => {
  expect(await (await fetch(`${simulator.url}/`)).json()).toMatchObject({ refunds: SANDBOX_REFUNDS });
});
