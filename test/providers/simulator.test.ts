import { appendFileSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startTestSimulator } from '../support/simulator.ts';
import { CHANNELS, MINUTE_MS, aPayout, anOrder, connectAdapters, openInbox, type Inbox } from './sandbox.ts';

let folder: string;
let inbox: Inbox;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'simulator-'));
  inbox = await openInbox();
});

afterAll(async () => {
  await inbox.close();
  rmSync(folder, { recursive: true });
});

beforeEach(() => {
  inbox.received.length = 0;
  inbox.status = 200;
  inbox.hold = null;
});

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function start(stateFile: string) {
  const simulator = await startTestSimulator({ stateFile });
  const adapters = connectAdapters(simulator.url);
  closing.push(adapters.close, simulator.close);
  return { simulator, adapter: adapters.adapter };
}

/** The file of a process that is killed now: its last line is half written. */
function leftByKill(stateFile: string): string {
  const copy = `${stateFile}.left`;
  copyFileSync(stateFile, copy);
  appendFileSync(copy, '{"order":{"orderId":"pat0');
  return copy;
}

test('a killed simulator restarts with all orders and its clock offset', async () => {
  const stateFile = join(folder, 'orders.jsonl');
  const before = await start(stateFile);
  const paid = CHANNELS.map((channel) => ({ channel, order: anOrder(inbox.url) }));
  const waiting = anOrder(inbox.url, { phone: '251911000005' });
  for (const { channel, order } of paid) await before.adapter(channel).initiate(order);
  await before.adapter('AWASH').initiate(waiting);
  await before.simulator.advance(MINUTE_MS);
  expect(inbox.received).toHaveLength(3);

  const after = await start(leftByKill(stateFile));
  for (const { channel, order } of paid) {
    expect(await after.adapter(channel).query(order.orderId)).toMatchObject({ kind: 'succeeded' });
  }
  expect(await after.adapter('AWASH').query(waiting.orderId)).toMatchObject({ kind: 'pending' });
  const { now } = await after.simulator.journal();
  expect(Date.parse(now)).toBeGreaterThanOrEqual(Date.now() + MINUTE_MS - 5_000);
  expect(inbox.received).toHaveLength(3);
  await after.simulator.advance(MINUTE_MS);
  expect(await after.adapter('AWASH').query(waiting.orderId)).toMatchObject({ kind: 'succeeded' });
});

test('a callback without a 2xx response before the kill is sent again after the restart', async () => {
  const stateFile = join(folder, 'callbacks.jsonl');
  const before = await start(stateFile);
  inbox.status = 500;
  await before.adapter('TELEBIRR').initiate(anOrder(inbox.url));
  await before.simulator.advance(1_000);
  const left = leftByKill(stateFile);
  await before.simulator.reset();
  const seen = inbox.received.length;

  inbox.status = 200;
  const after = await start(left);
  await inbox.waitFor(seen + 1);
  await after.simulator.advance(10 * MINUTE_MS);
  expect(inbox.received).toHaveLength(seen + 1);
});

test('a killed simulator restarts with all payouts and due reversals', async () => {
  const stateFile = join(folder, 'payouts.jsonl');
  const before = await start(stateFile);
  const to = (digit: number) => ({ destination: { kind: 'phone' as const, phone: `25191100000${digit}` } });
  const [paid, slow, reversed, never, declined] = [1, 5, 6, 4, 2].map((digit) => aPayout(inbox.url, to(digit)));
  for (const order of [paid!, slow!, reversed!, never!, declined!]) await before.adapter('TELEBIRR').payout(order);
  await before.simulator.advance(1_000);
  expect(inbox.received).toHaveLength(2);

  const after = await start(leftByKill(stateFile));
  const { adapter } = after;
  expect(await adapter('TELEBIRR').payout(paid!)).toMatchObject({ kind: 'succeeded' });
  expect(await adapter('TELEBIRR').queryPayout(slow!.orderId)).toMatchObject({ kind: 'pending' });
  expect(await adapter('TELEBIRR').queryPayout(reversed!.orderId)).toMatchObject({ kind: 'succeeded' });
  expect(await adapter('TELEBIRR').queryPayout(declined!.orderId)).toMatchObject({ kind: 'declined' });
  await after.simulator.advance(3 * MINUTE_MS);
  expect(await adapter('TELEBIRR').queryPayout(slow!.orderId)).toMatchObject({ kind: 'succeeded' });
  expect(await adapter('TELEBIRR').queryPayout(reversed!.orderId)).toMatchObject({ kind: 'reversed' });
  expect(await adapter('TELEBIRR').queryPayout(never!.orderId)).toMatchObject({ kind: 'pending' });
  // Two from before the kill, one of the slow payout, one of the reversal.
  expect(inbox.received).toHaveLength(4);
  expect(await after.simulator.payoutOf(paid!.orderId)).toMatchObject({ submissions: 2 });
  expect(await after.simulator.totalsOf('TELEBIRR')).toEqual({
    received: '0.00',
    paidOut: '752.25',
    reversed: '250.75',
    refunded: '0.00',
    unpaid: '-501.50',
  });
});

test('the journal lists every order and every callback with the status of its response', async () => {
  const { simulator, adapter } = await start(join(folder, 'journal.jsonl'));
  const order = anOrder(inbox.url);
  await adapter('CBE_BIRR').initiate(order);
  await simulator.advance(1_000);
  await adapter('CBE_BIRR').query(order.orderId);
  expect(await simulator.orderOf(order.orderId)).toMatchObject({
    channel: 'CBE_BIRR',
    phone: '251911000001',
    paid: true,
    paidAmount: '100.50',
    queries: 1,
    callbacks: [{ state: 'PAID', signature: 'valid', done: true, sends: [{ status: 200 }] }],
  });
  expect(await simulator.requests('CBE_BIRR query')).toBe(1);
});

test('every provider rejects a request that the merchant did not sign', async () => {
  const { simulator } = await start(join(folder, 'unsigned.jsonl'));
  for (const path of [
    '/telebirr/payment/v1/merchant/preOrder',
    '/telebirr/payment/v1/merchant/transfer',
    '/telebirr/payment/v1/merchant/queryTransfer',
    '/telebirr/payment/v1/merchant/queryStatement',
    '/cbebirr/push',
    '/cbebirr/payout',
    '/cbebirr/payout-status',
    '/cbebirr/statement',
    '/awash/push',
    '/awash/payout',
    '/awash/payout-status',
    '/awash/statement',
  ]) {
    const response = await fetch(simulator.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ orderId: 'pat_1', amount: '1.00', phone: '0911000001', biz_content: {} }),
    });
    expect(await response.text()).toMatch(/INVALID_(TOKEN|SIGNATURE)/);
  }
  const { orders, payouts } = await simulator.journal();
  expect([orders, payouts]).toEqual([[], []]);
});

test('advancing the clock also waits for a callback that is already being sent', async () => {
  const { simulator, adapter } = await start(join(folder, 'advance.jsonl'));
  let release = (): void => {};
  inbox.hold = new Promise((resolve) => (release = resolve));
  const order = anOrder(inbox.url);
  await adapter('AWASH').initiate(order);
  await inbox.waitFor(1);
  const seen: string[] = [];
  const advanced = simulator.advance(0).then(() => seen.push('advanced'));
  // Longer than an advance that does not wait.
  await new Promise((resolve) => setTimeout(resolve, 200));
  seen.push('released');
  release();
  await advanced;
  expect(seen).toEqual(['released', 'advanced']);
  expect(await simulator.orderOf(order.orderId)).toMatchObject({ callbacks: [{ done: true }] });
});
