import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { newId } from '../../src/lib/ids.ts';
import { toPlainOrderId } from '../../src/providers/exchange.ts';
import { CHANNELS, aPayout, anOrder, connectAdapters } from './sandbox.ts';

const TOKEN = { token: 'Bearer t', effectiveDate: '20260101000000', expirationDate: '20260101010000' };

/** A provider with scripted responses. */
let server: Server;
let reply: { status: number; body: unknown };
let adapters: ReturnType<typeof connectAdapters>;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    const isToken = request.url?.endsWith('/token') ?? false;
    response.statusCode = isToken ? 200 : reply.status;
    response.end(JSON.stringify(isToken ? TOKEN : reply.body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  adapters = connectAdapters(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterAll(async () => {
  await adapters.close();
  server.closeAllConnections();
  server.close();
});

const sayJson = (body: unknown, status = 200): void => void (reply = { status, body });

/** The order that a reply is about, as each provider writes it. */
const named = (orderId: string) => ({
  transactionId: orderId,
  merch_order_id: toPlainOrderId(orderId),
});

const SIGNED_PUSH = ['PUSHED', 'PENDING', 'NOT_FOUND', 'COMPLETED', 'EXPIRED', 'FAILED', 'ACCEPTED', 'REVERSED'].map(
  (state) => ({ state, resultCode: '0' }),
);

/** Each provider's responses for a payment and a payout: made, paid, refused, and unknown. */
const WORDS = {
  TELEBIRR: [
    { prepay_id: 'P1' },
    ...['PAY_SUCCESS', 'PAY_FAILED', 'ORDER_CLOSED', 'WAIT_PAY'].map((order_status) => ({ order_status })),
    ...['TRANSFER_SUCCESS', 'TRANSFER_REVERSED', 'TRANSFER_FAILED', 'TRANSFER_PROCESSING'].map((order_status) => ({
      order_status,
    })),
  ],
  CBE_BIRR: SIGNED_PUSH,
  AWASH: SIGNED_PUSH,
};
const MONEY = { amount: '100.50', total_amount: '100.50', currency: 'ETB', trans_currency: 'ETB' };
const REFERENCE = { reference: 'R1', trans_id: 'R1', payment_order_id: 'R1' };

describe.each(CHANNELS)('a provider reply from %s', (channel) => {
  const answer = (content: object) =>
    channel === 'TELEBIRR' ? { result: 'SUCCESS', code: '0', biz_content: content } : content;
  const provider = () => adapters.adapter(channel);
  const CALLS = {
    initiate: (orderId: string) => provider().initiate(anOrder('http://127.0.0.1:1/', { orderId })),
    query: (orderId: string) => provider().query(orderId),
    payout: (orderId: string) => provider().payout(aPayout('http://127.0.0.1:1/', { orderId })),
    queryPayout: (orderId: string) => provider().queryPayout(orderId),
  };
  const about = (order: object, word: object) => sayJson(answer({ ...MONEY, ...REFERENCE, ...word, ...order }));

  test.each(Object.keys(CALLS) as (keyof typeof CALLS)[])(
    'a reply to %s about another order is unknown',
    async (name) => {
      const { orderId } = anOrder('http://127.0.0.1:1/');
      const other = anOrder('http://127.0.0.1:1/').orderId;
      let believed = 0;
      for (const word of WORDS[channel]) {
        about(named(orderId), word);
        if ((await CALLS[name](orderId)).kind !== 'unknown') believed += 1;
        about(named(other), word);
        expect(await CALLS[name](orderId)).toMatchObject({ kind: 'unknown' });
        about({}, word);
        expect(await CALLS[name](orderId)).toMatchObject({ kind: 'unknown', reason: 'unreadable' });
      }
      expect(believed).toBeGreaterThan(0);
    },
  );

  test('a rejection that names another order is unknown', async () => {
    const other = named(anOrder('http://127.0.0.1:1/').orderId);
    const rejection = { ...other, state: 'REJECTED', resultCode: 'DECLINED' };
    sayJson({ ...rejection, result: 'FAIL', code: 'DECLINED', biz_content: other });
    for (const name of ['initiate', 'payout'] as const) {
      expect(await CALLS[name](anOrder('http://127.0.0.1:1/').orderId)).toMatchObject({ kind: 'unknown' });
    }
  });
});

test.each([
  { refund_info: {} },
  { refund_info: 'none' },
  { refund_info: [{ refund_amount: 10 }] },
  { refund_amount: 10 },
])(
  'a paid order of telebirr is read as paid with %j; its refund is unknown where their list cannot be read',
  async (other) => {
    const { orderId: paymentId } = anOrder('http://127.0.0.1:1/');
    const paid = { ...MONEY, ...REFERENCE, order_status: 'PAY_SUCCESS', merch_order_id: toPlainOrderId(paymentId) };
    sayJson({ result: 'SUCCESS', code: '0', biz_content: { ...paid, ...other } });
    const telebirr = adapters.adapter('TELEBIRR');
    expect(await telebirr.query(paymentId)).toMatchObject({ kind: 'succeeded', amountSantim: 10_050n });
    const kind = 'refund_info' in other ? 'unknown' : 'not-found';
    expect(await telebirr.queryRefund({ refundId: newId('rfd'), paymentId })).toMatchObject({ kind });
  },
);
