import { SANDBOX_PHONES } from '../../src/lib/sandbox-providers.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { CHANNELS, MINUTE_MS, anOrder, connectAdapters, openInbox, queryUntil, type Inbox } from './sandbox.ts';

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
  inbox.status = 200;
});

describe.each(CHANNELS)('simulated payments over %s', (channel) => {
  const start = async (phone: string, tx = {}) => {
    const provider = adapters.adapter(channel);
    const order = anOrder(inbox.url, { phone, ...tx });
    const accepted = await provider.initiate(order);
    return { provider, order, accepted };
  };

  test('0911000001 is accepted, then paid in full within a second', async () => {
    const { provider, order, accepted } = await start('251911000001');
    expect(accepted).toMatchObject({ kind: 'accepted', providerReference: expect.stringMatching(/./) });

    const outcome = await queryUntil(provider, order.orderId, 'succeeded');
    expect(outcome).toMatchObject({ kind: 'succeeded', amountSantim: 10_050n, currency: 'ETB' });
    const truth = await simulator.orderOf(order.orderId);
    expect(truth).toMatchObject({ paid: true, paidAmount: '100.50' });
    expect(truth!.decidedAtMs! - truth!.createdAtMs).toBeLessThan(1_000);
  });

  test('a paid order has one callback, verified as being about that order', async () => {
    const { provider, order } = await start('251911000001');
    const [callback] = await inbox.waitFor(1);
    expect(provider.parseCallback(callback!)).toEqual({ verified: true, orderId: order.orderId });
    await simulator.advance(10 * MINUTE_MS);
    expect(inbox.received).toHaveLength(1);
  });

  test('0911000002 is declined and cannot be retried', async () => {
    const { provider, order } = await start('0911000002');
    const outcome = await queryUntil(provider, order.orderId, 'declined');
    expect(outcome).toMatchObject({ kind: 'declined', failure: { code: 'DECLINED', retryable: false } });
  });

  test('0911000003 has insufficient funds and can be retried', async () => {
    const { provider, order } = await start('+251911000003');
    const outcome = await queryUntil(provider, order.orderId, 'declined');
    expect(outcome).toMatchObject({ kind: 'declined', failure: { code: 'INSUFFICIENT_FUNDS', retryable: true } });
  });

  test('0911000004 is never confirmed: pending until the session expires, then closed by the provider', async () => {
    const { provider, order } = await start('251911000004');
    await simulator.advance(29 * MINUTE_MS);
    expect(await provider.query(order.orderId)).toMatchObject({ kind: 'pending' });
    await simulator.advance(3 * MINUTE_MS);
    const outcome = await provider.query(order.orderId);
    expect(outcome).toMatchObject({ kind: 'declined', failure: { code: 'TIMED_OUT' } });
    expect(await simulator.orderOf(order.orderId)).toMatchObject({ paid: false, state: 'EXPIRED' });
  });

  test('0911000005 is paid after two minutes, not before', async () => {
    const { provider, order } = await start('251911000005');
    await simulator.advance(110_000);
    expect(await provider.query(order.orderId)).toMatchObject({ kind: 'pending' });
    await simulator.advance(11_000);
    expect(await provider.query(order.orderId)).toMatchObject({ kind: 'succeeded', amountSantim: 10_050n });
    expect(inbox.received).toHaveLength(1);
  });

  test('0911000006 is pending up to its expiry and paid after it', async () => {
    const { provider, order } = await start('251911000006');
    await simulator.advance(30 * MINUTE_MS - 5_000);
    expect(await provider.query(order.orderId)).toMatchObject({ kind: 'pending' });
    await simulator.advance(MINUTE_MS + 15_000);
    expect(await provider.query(order.orderId)).toMatchObject({ kind: 'succeeded', amountSantim: 10_050n });
    const truth = await simulator.orderOf(order.orderId);
    expect(truth!.decidedAtMs!).toBeGreaterThan(order.expiresAt.getTime());
  });

  test('0911000007 is paid without a callback, and a query finds it', async () => {
    const { provider, order } = await start('251911000007');
    expect(await queryUntil(provider, order.orderId, 'succeeded')).toMatchObject({ kind: 'succeeded' });
    await simulator.advance(10 * MINUTE_MS);
    expect(inbox.received).toHaveLength(0);
  });

  test('0911000008 is paid with another amount than requested', async () => {
    const { provider, order } = await start('251911000008');
    const outcome = await queryUntil(provider, order.orderId, 'succeeded');
    expect(outcome).toMatchObject({ kind: 'succeeded', amountSantim: 10_150n });
    expect(await simulator.orderOf(order.orderId)).toMatchObject({ amount: '100.50', paidAmount: '101.50' });
  });

  test('an unknown phone is declined as an invalid payer', async () => {
    const { accepted } = await start('251911999999');
    expect(accepted).toMatchObject({ kind: 'declined', failure: { code: 'INVALID_PAYER' } });
  });

  test('an order submitted twice is one order with one payment', async () => {
    const { provider, order, accepted } = await start('251911000001');
    const again = await provider.initiate(order);
    expect(again).toMatchObject({ kind: 'accepted', providerReference: expect.anything() });
    expect(again.kind === 'accepted' && accepted.kind === 'accepted' && again.providerReference).toBe(
      accepted.kind === 'accepted' ? accepted.providerReference : null,
    );
    expect((await simulator.journal()).orders).toHaveLength(1);
  });

  test('a query of an order that was never submitted is pending', async () => {
    const outcome = await adapters.adapter(channel).query(anOrder(inbox.url).orderId);
    expect(outcome).toMatchObject({ kind: 'pending' });
  });

  test('a callback without a 2xx response is sent again', async () => {
    inbox.status = 500;
    const { provider, order } = await start('251911000001');
    await inbox.waitFor(1);
    inbox.status = 200;
    await simulator.advance(2_000);
    await simulator.advance(10 * MINUTE_MS);
    expect(inbox.received).toHaveLength(2);
    for (const callback of inbox.received) {
      expect(provider.parseCallback(callback)).toEqual({ verified: true, orderId: order.orderId });
    }
  });
});

test('the smallest and the largest amounts are paid exactly', async () => {
  for (const amountSantim of [1n, 7_500_000n, 60_000_001n]) {
    for (const channel of CHANNELS) {
      const order = anOrder(inbox.url, { amountSantim });
      await adapters.adapter(channel).initiate(order);
      const outcome = await queryUntil(adapters.adapter(channel), order.orderId, 'succeeded');
      expect(outcome).toMatchObject({ kind: 'succeeded', amountSantim });
    }
  }
});

test('live channels and M-Pesa have no provider', () => {
  expect(adapters.find('MPESA', 'sandbox')).toBeNull();
  for (const channel of CHANNELS) expect(adapters.find(channel, 'live')).toBeNull();
});

test('the simulator lists the phones that the documentation lists', async () => {
  const response = await fetch(simulator.url);
  expect(await response.json()).toMatchObject({ phones: SANDBOX_PHONES });
});
