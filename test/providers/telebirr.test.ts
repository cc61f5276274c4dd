import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { createHttpClient } from '../../src/lib/http-client.ts';
import { stopListening } from '../../src/lib/ports.ts';
import { createTelebirrToken } from '../../src/providers/telebirr/wire.ts';
import { SANDBOX_TELEBIRR } from '../support/sandbox-accounts.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { MINUTE_MS, anOrder, connectAdapters, openInbox, queryUntil, type Inbox } from './sandbox.ts';

let simulator: TestSimulator;
let inbox: Inbox;
let adapters: ReturnType<typeof connectAdapters>;
let nowMs: number;

beforeAll(async () => {
  simulator = await startTestSimulator();
  inbox = await openInbox();
});

afterAll(async () => {
  await inbox.close();
  await simulator.close();
});

beforeEach(async () => {
  await simulator.reset();
  inbox.received.length = 0;
  nowMs = Date.now();
  adapters = connectAdapters(simulator.url, { clock: () => new Date(nowMs) });
});

afterEach(() => adapters.close());

const initiate = (tx = {}) => adapters.adapter('TELEBIRR').initiate(anOrder(inbox.url, tx));
const tokensAskedFor = () => simulator.requests('TELEBIRR token');

test('one token serves all calls until 5 minutes before it expires', async () => {
  await initiate();
  await initiate();
  nowMs += 54 * MINUTE_MS;
  expect(await initiate()).toMatchObject({ kind: 'accepted' });
  expect(await tokensAskedFor()).toBe(1);
  nowMs += 2 * MINUTE_MS;
  expect(await initiate()).toMatchObject({ kind: 'accepted' });
  expect(await tokensAskedFor()).toBe(2);
});

test('fifty concurrent calls request one token', async () => {
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => initiate()));
  expect(outcomes.filter(({ kind }) => kind !== 'accepted')).toEqual([]);
  expect(await tokensAskedFor()).toBe(1);
});

test('a caller whose time is over gets no token, and those that wait for the same request do', async () => {
  const delayed = createServer((_request, response) => {
    const body = { token: 'Bearer T', effectiveDate: '20260101000000', expirationDate: '20260101010000' };
    setTimeout(() => response.end(JSON.stringify(body)), 500);
  });
  await once(delayed.listen(0, '127.0.0.1'), 'listening');
  const http = createHttpClient();
  const baseUrl = `http://127.0.0.1:${(delayed.address() as AddressInfo).port}`;
  const config = { ...SANDBOX_TELEBIRR, baseUrl, payPageUrl: null };
  const tokens = createTelebirrToken({ http, clock: () => new Date(nowMs), timeoutMs: 10_000 }, config);
  const limits = [50, 10_000].map((limitMs) => tokens.get(AbortSignal.timeout(limitMs)));
  expect(await Promise.all(limits)).toMatchObject([
    { kind: 'unknown', reason: 'timeout' },
    { kind: 'token', token: 'Bearer T' },
  ]);
  await http.close();
  await stopListening(delayed);
});

test('a token that telebirr rejects is renewed within the call', async () => {
  await initiate();
  await simulator.fault({ kind: 'tokenExpired', next: 1 });
  expect(await initiate()).toMatchObject({ kind: 'accepted' });
  expect(await tokensAskedFor()).toBe(2);
});

test('a token expired by telebirr’s clock is renewed within the call', async () => {
  await initiate();
  await simulator.advance(61 * MINUTE_MS);
  expect(await initiate()).toMatchObject({ kind: 'accepted' });
});

test('telebirr rejecting every token is unknown after two tries', async () => {
  await simulator.fault({ kind: 'tokenExpired' });
  expect(await initiate()).toMatchObject({ kind: 'unknown', reason: 'http' });
  expect(await simulator.requests('TELEBIRR initiate')).toBe(2);
});

test('the order has a plain id, a plain title, and whole minutes that outlast the session', async () => {
  const expiresAt = new Date(nowMs + 29.5 * MINUTE_MS);
  const order = anOrder(inbox.url, { expiresAt });
  await adapters.adapter('TELEBIRR').initiate(order);
  const placed = await simulator.orderOf(order.orderId);
  expect(placed).toMatchObject({ title: 'Abyssinia Coffee order 7 beans cups', phone: '251911000001' });
  expect(placed!.orderId).toMatch(/^[A-Za-z0-9]{1,64}$/);
  const outlastsMs = placed!.expiresAtMs! - expiresAt.getTime();
  expect(outlastsMs).toBeGreaterThanOrEqual(0);
  expect(outlastsMs).toBeLessThan(MINUTE_MS);
});

describe('the pay page', () => {
  const open = async (tx = {}) => {
    const order = anOrder(inbox.url, { phone: '251911000004', ...tx });
    const accepted = await adapters.adapter('TELEBIRR').initiate(order);
    if (accepted.kind !== 'accepted' || !accepted.redirectUrl) throw new Error('no pay page');
    return { order, payUrl: new URL(accepted.redirectUrl), reference: accepted.providerReference };
  };
  const press = (reference: string | null, decision: string) =>
    fetch(`${simulator.url}/telebirr/payment/web/${reference}/decision`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `decision=${decision}`,
    });

  test('opens by its signed link and shows the behaviour of the phone', async () => {
    const { payUrl } = await open();
    const page = await fetch(payUrl);
    expect(page.status).toBe(200);
    const html = await page.text();
    expect(html).toContain('100.50 ETB');
    expect(html).toContain('Without a decision here, the payment from 251911000004: never answers.');
  });

  test('is linked at the address that customers reach, or not at all without one', async () => {
    const linkAt = async (simulatorPublicUrl: string | null) => {
      const { adapter, close } = connectAdapters(simulator.url, { simulatorPublicUrl });
      const accepted = await adapter('TELEBIRR').initiate(anOrder(inbox.url));
      await close();
      return accepted.kind === 'accepted' ? accepted.redirectUrl : accepted.kind;
    };
    expect(await linkAt('https://pay.example.et/')).toMatch(
      /^https:\/\/pay\.example\.et\/telebirr\/payment\/web\/paygate\?/,
    );
    expect(await linkAt(null)).toBeNull();
  });

  test('does not open by a changed link', async () => {
    const { payUrl } = await open();
    payUrl.searchParams.set('timestamp', '1');
    expect((await fetch(payUrl)).status).toBe(400);
  });

  test('"Pay now" pays at once, sends the customer back and calls us', async () => {
    const { order, reference } = await open();
    const answer = await press(reference, 'pay');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, order.returnUrl]);
    expect(await adapters.adapter('TELEBIRR').query(order.orderId)).toMatchObject({ kind: 'succeeded' });
    await inbox.waitFor(1);
  });

  test('"Decline" cancels the payment, and a later "Pay now" changes nothing', async () => {
    const { order, reference } = await open();
    await press(reference, 'decline');
    await press(reference, 'pay');
    const outcome = await queryUntil(adapters.adapter('TELEBIRR'), order.orderId, 'declined');
    expect(outcome).toMatchObject({ kind: 'declined', failure: { code: 'CANCELLED_BY_CUSTOMER', retryable: true } });
  });

  test('shows a title as text, never as markup', async () => {
    const { payUrl } = await open({ title: '<script>x</script>' });
    expect(await (await fetch(payUrl)).text()).not.toContain('<script>');
  });
});
