import { addisDay } from '../../src/lib/dates.ts';
import type { PayoutOrder, Provider, StatementRow } from '../../src/providers/provider.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { CHANNELS, MINUTE_MS, aPayout, anOrder, connectAdapters, openInbox, type Inbox } from './sandbox.ts';

const NOON = new Date('2026-03-02T09:00:00.000Z');
const TODAY = '2026-03-02';

let simulator: TestSimulator;
let inbox: Inbox;
let adapters: ReturnType<typeof connectAdapters>;
let startedMs: number;

beforeAll(async () => {
  // A day that does not end while a test runs.
  simulator = await startTestSimulator({ clock: () => new Date(NOON.getTime() + Date.now() - startedMs) });
  inbox = await openInbox();
  adapters = connectAdapters(simulator.url);
});

afterAll(async () => {
  await adapters.close();
  await inbox.close();
  await simulator.close();
});

beforeEach(async () => {
  startedMs = Date.now();
  await simulator.reset();
});

async function listAll(provider: Provider, day = TODAY): Promise<{ rows: StatementRow[]; pages: number }> {
  const rows: StatementRow[] = [];
  for (let [pages, cursor]: [number, string | null] = [1, null]; ; pages += 1) {
    const page = await provider.statement(day, cursor);
    if (page.kind === 'unknown') throw new Error(page.message);
    expect(page.rows.length).toBeLessThanOrEqual(500);
    rows.push(...page.rows);
    if (page.next === null) return { rows, pages };
    cursor = page.next;
  }
}

const inHalfAnHour = () => new Date(NOON.getTime() + 30 * MINUTE_MS);

describe.each(CHANNELS)('the statements of %s', (channel) => {
  const provider = () => adapters.adapter(channel);
  const payIn = async (tx = {}) => {
    const order = anOrder(inbox.url, { expiresAt: inHalfAnHour(), ...tx });
    await provider().initiate(order);
    return order;
  };
  const payOut = async (phone = '251911000001') => {
    const order = aPayout(inbox.url, { destination: { kind: 'phone', phone } });
    await provider().payout(order);
    return order;
  };

  test('a statement lists the payments, payouts and reversals of a day, oldest first, under our ids', async () => {
    const paid = await payIn();
    await simulator.advance(1_000);
    const out = await payOut();
    await simulator.advance(1_000);
    const reversed = await payOut('251911000006');
    await payOut('251911000002');
    await payOut('251911000004');
    await payIn({ phone: '251911000002' });
    await simulator.advance(2 * MINUTE_MS);

    const { rows } = await listAll(provider());
    expect(rows).toMatchObject([
      { orderId: paid.orderId, type: 'payment', amountSantim: 10_050n, currency: 'ETB' },
      { orderId: out.orderId, type: 'payout', amountSantim: 25_075n, currency: 'ETB' },
      { orderId: reversed.orderId, type: 'payout', amountSantim: 25_075n },
      { orderId: reversed.orderId, type: 'payoutReversal', amountSantim: 25_075n },
    ]);
    for (const { at } of rows) expect(addisDay(at)).toBe(TODAY);
    expect(await provider().query(paid.orderId)).toMatchObject({ providerReference: rows[0]!.providerReference });
    expect(await provider().queryPayout(out.orderId)).toMatchObject({ providerReference: rows[1]!.providerReference });
    expect(rows[3]!.providerReference).toBe(rows[2]!.providerReference);
  });

  test('the statement of a day without movements is one empty page', async () => {
    expect(await provider().statement('2026-03-01', null)).toEqual({ kind: 'page', rows: [], next: null });
  });

  test('a statement ends at midnight in Addis Ababa, and lists a reversal on the day of the reversal', async () => {
    // From noon in Addis Ababa, 11 h 59 min 30 s later a reversal is due on the next day.
    await simulator.advance((12 * 60 - 1) * MINUTE_MS + 30_000);
    const order = await payOut('251911000006');
    await simulator.advance(2 * MINUTE_MS);
    expect((await listAll(provider())).rows).toMatchObject([{ orderId: order.orderId, type: 'payout' }]);
    const { rows } = await listAll(provider(), '2026-03-03');
    expect(rows).toMatchObject([{ orderId: order.orderId, type: 'payoutReversal' }]);
  });

  test('the pages of a long statement neither lose nor repeat a row while money moves', async () => {
    const orders: PayoutOrder[] = [];
    // In batches: a busy machine responds to hundreds only after the adapters' timeout.
    while (orders.length < 450) orders.push(...(await Promise.all(Array.from({ length: 25 }, () => payOut()))));
    await simulator.advance(1_000);
    const first = await provider().statement(TODAY, null);
    if (first.kind === 'unknown') throw new Error(first.message);
    expect(first.next).not.toBeNull();
    const later = await payOut();
    await simulator.advance(1_000);

    const { rows, pages } = await listAll(provider());
    expect(pages).toBe(Math.ceil(451 / first.rows.length));
    expect(rows.map(({ orderId }) => orderId).toSorted()).toEqual(
      [...orders, later].map(({ orderId }) => orderId).toSorted(),
    );
    const second = await provider().statement(TODAY, first.next);
    if (second.kind === 'unknown') throw new Error(second.message);
    const seen = new Set(first.rows.map(({ orderId }) => orderId));
    expect(second.rows.filter(({ orderId }) => seen.has(orderId))).toEqual([]);
  });

  test('a fault removes a row from the statement or changes its amount, but not the order', async () => {
    await simulator.fault({ kind: 'listDropped', channel, next: 1 });
    const dropped = await payIn();
    await simulator.fault({ kind: 'listWrongAmount', channel, of: 'payout', next: 1 });
    const wrong = await payOut();
    const right = await payOut();
    await simulator.advance(1_000);
    const { rows } = await listAll(provider());
    expect(rows.map(({ orderId }) => orderId)).not.toContain(dropped.orderId);
    expect(rows.find(({ orderId }) => orderId === wrong.orderId)).toMatchObject({ amountSantim: 25_175n });
    expect(rows.find(({ orderId }) => orderId === right.orderId)).toMatchObject({ amountSantim: 25_075n });
    expect(await provider().query(dropped.orderId)).toMatchObject({ kind: 'succeeded' });
    expect(await provider().queryPayout(wrong.orderId)).toMatchObject({ kind: 'succeeded', amountSantim: 25_075n });
  });

  test('a statement that fails or times out is unknown', async () => {
    const impatient = connectAdapters(simulator.url, { timeoutMs: 500 });
    await simulator.fault({ kind: 'serverError', on: 'statement', next: 1 });
    expect(await provider().statement(TODAY, null)).toMatchObject({ kind: 'unknown', reason: 'http' });
    await simulator.fault({ kind: 'hang', on: 'statement', next: 1 });
    const silent = await impatient.adapter(channel).statement(TODAY, null);
    expect(silent).toMatchObject({ kind: 'unknown', reason: 'timeout' });
    await impatient.close();
  });

  test.each([
    ['2026-02-30', null],
    ['yesterday', null],
    [TODAY, 'nonsense'],
  ])('a statement of the day %s from cursor %p is rejected and so unknown', async (day, cursor) => {
    expect(await provider().statement(day, cursor)).toMatchObject({ kind: 'unknown', reason: 'unreadable' });
  });

  test('a provider owes its receipts less its payouts', async () => {
    await payIn({ amountSantim: 100_000n });
    await payOut();
    await payOut('251911000006');
    await simulator.advance(2 * MINUTE_MS);
    expect(await simulator.totalsOf(channel)).toEqual({
      received: '1000.00',
      paidOut: '501.50',
      reversed: '250.75',
      refunded: '0.00',
      unpaid: '749.25',
    });
  });
});
