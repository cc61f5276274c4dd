import { SANDBOX_PAYOUTS } from '../../src/lib/sandbox-providers.ts';
import type { PayoutDestination, PayoutOrder } from '../../src/providers/provider.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import {
  CHANNELS,
  MINUTE_MS,
  aPayout,
  connectAdapters,
  openInbox,
  queryPayoutUntil,
  type Inbox,
  type SandboxChannel,
} from './sandbox.ts';

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

const toPhone = (digit: number): PayoutDestination => ({ kind: 'phone', phone: `25191100000${digit}` });
const toAccount = (digit: number): PayoutDestination => ({
  kind: 'bank',
  bankCode: 'CBET',
  accountNumber: `100012345678${digit}`,
});

const WAYS: [string, SandboxChannel, (digit: number) => PayoutDestination][] = [
  ...CHANNELS.map((channel): (typeof WAYS)[number] => [`${channel} to a phone`, channel, toPhone]),
  ['AWASH to a bank account', 'AWASH', toAccount],
];

describe.each(WAYS)('simulated payouts over %s', (_name, channel, to) => {
  const pay = async (digit: number, tx: Partial<PayoutOrder> = {}) => {
    const provider = adapters.adapter(channel);
    const order = aPayout(inbox.url, { destination: to(digit), ...tx });
    return { provider, order, answer: await provider.payout(order) };
  };

  test('1 is accepted, then paid in full within a second, with one callback', async () => {
    const { provider, order, answer } = await pay(1);
    expect(answer).toMatchObject({ kind: 'accepted', providerReference: expect.stringMatching(/./) });
    const outcome = await queryPayoutUntil(provider, order.orderId, 'succeeded');
    expect(outcome).toMatchObject({
      kind: 'succeeded',
      providerReference: expect.stringMatching(/./),
      amountSantim: 25_075n,
      currency: 'ETB',
    });
    const truth = await simulator.payoutOf(order.orderId);
    expect(truth).toMatchObject({ channel, paid: true, reversed: false, paidAmount: '250.75', submissions: 1 });
    expect(truth!.decidedAtMs! - truth!.createdAtMs).toBeLessThan(1_000);
    await simulator.advance(10 * MINUTE_MS);
    expect(inbox.received).toHaveLength(1);
    expect(provider.parseCallback(inbox.received[0]!)).toEqual({ verified: true, orderId: order.orderId });
  });

  test('2 is declined at once and remains declined', async () => {
    const { provider, order, answer } = await pay(2);
    const expected = { kind: 'declined', failure: { code: 'DECLINED', retryable: false } };
    expect(answer).toMatchObject(expected);
    expect(await provider.queryPayout(order.orderId)).toMatchObject(expected);
    expect(await provider.payout(order)).toMatchObject(expected);
    expect(await simulator.payoutOf(order.orderId)).toMatchObject({ paid: false, submissions: 2 });
    await simulator.advance(10 * MINUTE_MS);
    expect(inbox.received).toHaveLength(0);
  });

  test("3 is declined because the operator's float is too small", async () => {
    const { provider, order, answer } = await pay(3);
    const expected = { kind: 'declined', failure: { code: 'INSUFFICIENT_FUNDS', providerCode: 'INSUFFICIENT_FLOAT' } };
    expect(answer).toMatchObject(expected);
    expect(await provider.queryPayout(order.orderId)).toMatchObject(expected);
  });

  test('4 is never decided', async () => {
    const { provider, order, answer } = await pay(4);
    expect(answer).toMatchObject({ kind: 'accepted' });
    await simulator.advance(72 * 60 * MINUTE_MS);
    expect(await provider.queryPayout(order.orderId)).toMatchObject({ kind: 'pending' });
    expect(inbox.received).toHaveLength(0);
    expect(await simulator.payoutOf(order.orderId)).toMatchObject({ paid: false, state: 'ACCEPTED' });
  });

  test('5 is paid after two minutes, not before', async () => {
    const { provider, order } = await pay(5);
    await simulator.advance(110_000);
    expect(await provider.queryPayout(order.orderId)).toMatchObject({ kind: 'pending' });
    await simulator.advance(11_000);
    expect(await provider.queryPayout(order.orderId)).toMatchObject({ kind: 'succeeded', amountSantim: 25_075n });
  });

  test('6 is paid, and reversed a minute later, with a callback for both', async () => {
    const { provider, order } = await pay(6);
    await simulator.advance(1_000);
    const paid = await provider.queryPayout(order.orderId);
    expect(paid).toMatchObject({ kind: 'succeeded' });
    expect(inbox.received).toHaveLength(1);
    await simulator.advance(MINUTE_MS);
    const reversed = await provider.queryPayout(order.orderId);
    expect(reversed).toMatchObject({ kind: 'reversed' });
    const references = [paid, reversed].map((outcome) => 'providerReference' in outcome && outcome.providerReference);
    expect(references[0]).toBe(references[1]);
    expect(inbox.received.map((callback) => provider.parseCallback(callback))).toEqual([
      { verified: true, orderId: order.orderId },
      { verified: true, orderId: order.orderId },
    ]);
    expect(await simulator.payoutOf(order.orderId)).toMatchObject({ paid: true, reversed: true, paidAmount: '250.75' });
    await simulator.advance(10 * MINUTE_MS);
    expect(inbox.received).toHaveLength(2);
  });

  test('7 is paid without a callback, and a query finds it', async () => {
    const { provider, order } = await pay(7);
    await simulator.advance(10 * MINUTE_MS);
    expect(await provider.queryPayout(order.orderId)).toMatchObject({ kind: 'succeeded' });
    expect(inbox.received).toHaveLength(0);
  });

  test('8 is accepted and then fails', async () => {
    const { provider, order, answer } = await pay(8);
    expect(answer).toMatchObject({ kind: 'accepted' });
    const outcome = await queryPayoutUntil(provider, order.orderId, 'declined');
    expect(outcome).toMatchObject({ kind: 'declined', failure: { code: 'DECLINED', retryable: true } });
    expect(await inbox.waitFor(1)).toHaveLength(1);
    expect(await simulator.payoutOf(order.orderId)).toMatchObject({ paid: false });
  });

  test('a payout submitted twice returns the status of the first submission and is paid once', async () => {
    const { provider, order, answer } = await pay(1);
    expect(await provider.payout(order)).toEqual(answer);
    await simulator.advance(1_000);
    expect(await provider.payout(order)).toMatchObject({ kind: 'succeeded', amountSantim: 25_075n });
    const { payouts, totals } = await simulator.journal();
    expect(payouts).toMatchObject([{ submissions: 3, paid: true }]);
    expect(totals[channel]).toMatchObject({ paidOut: '250.75' });
  });

  test('fifty concurrent submissions are one payout', async () => {
    const provider = adapters.adapter(channel);
    const order = aPayout(inbox.url, { destination: to(1) });
    const answers = await Promise.all(Array.from({ length: 50 }, () => provider.payout(order)));
    expect(new Set(answers.map(({ kind }) => kind))).not.toContain('declined');
    await simulator.advance(1_000);
    expect(await simulator.payoutOf(order.orderId)).toMatchObject({ submissions: 50, paidAmount: '250.75' });
    expect(inbox.received).toHaveLength(1);
    expect((await simulator.totalsOf(channel)).paidOut).toBe('250.75');
  });

  test('another amount or payee under a used id pays nothing and is unknown until queried', async () => {
    const { provider, order } = await pay(1);
    for (const tx of [{ amountSantim: 25_076n }, { destination: to(5) }]) {
      expect(await provider.payout({ ...order, ...tx })).toMatchObject({ kind: 'unknown', reason: 'unreadable' });
    }
    await simulator.advance(10 * MINUTE_MS);
    expect(await provider.queryPayout(order.orderId)).toMatchObject({ kind: 'succeeded', amountSantim: 25_075n });
    expect((await simulator.totalsOf(channel)).paidOut).toBe('250.75');
  });

  test('a query of a payout that was never submitted is not-found', async () => {
    const outcome = await adapters.adapter(channel).queryPayout(aPayout(inbox.url).orderId);
    expect(outcome).toMatchObject({ kind: 'not-found' });
  });
});

describe.each(CHANNELS)('the limits of payouts over %s', (channel) => {
  test('a payout to an unknown phone is declined and creates no payout', async () => {
    const provider = adapters.adapter(channel);
    const order = aPayout(inbox.url, { destination: { kind: 'phone', phone: '251911999999' } });
    expect(await provider.payout(order)).toMatchObject({ kind: 'declined', failure: { code: 'INVALID_PAYEE' } });
    expect(await provider.queryPayout(order.orderId)).toMatchObject({ kind: 'not-found' });
  });

  test('the smallest and the largest amounts are paid out exactly', async () => {
    const provider = adapters.adapter(channel);
    for (const amountSantim of [1n, 7_500_000n, 60_000_001n]) {
      const order = aPayout(inbox.url, { amountSantim });
      await provider.payout(order);
      const outcome = await queryPayoutUntil(provider, order.orderId, 'succeeded');
      expect(outcome).toMatchObject({ kind: 'succeeded', amountSantim });
    }
  });

  test('payouts succeed to the destinations in capabilities.payoutTo only', async () => {
    const provider = adapters.adapter(channel);
    const outcome = await provider.payout(aPayout(inbox.url, { destination: toAccount(1) }));
    if (provider.capabilities.payoutTo.includes('bank')) expect(outcome).toMatchObject({ kind: 'accepted' });
    else expect(outcome).toMatchObject({ kind: 'declined', failure: { providerCode: 'NOT_SENT' } });
    expect(provider.capabilities.payoutTo).toContain('phone');
  });
});

test('an account that ends in 0 or 9 is paid as one that ends in 1', async () => {
  for (const digit of [0, 9]) {
    const order = aPayout(inbox.url, { destination: toAccount(digit) });
    await adapters.adapter('AWASH').payout(order);
    const outcome = await queryPayoutUntil(adapters.adapter('AWASH'), order.orderId, 'succeeded');
    expect(outcome).toMatchObject({ kind: 'succeeded' });
  }
});

test('the simulator lists the behaviour of its phones and accounts for payouts', async () => {
  const response = await fetch(simulator.url);
  expect(await response.json()).toMatchObject({ payouts: SANDBOX_PAYOUTS });
});
