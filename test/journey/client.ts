import { createPrivateKey } from 'node:crypto';

import { signTelebirr } from '../../src/providers/telebirr/signing.ts';
import type { Order } from '../../src/sandbox/simulator/order.ts';
import { until } from '../support/until.ts';
import type { Company } from './company.ts';
import type { Reply } from './send.ts';

/** The data of a response. */
type Data = Record<string, string>;
export type Holder = 'sara' | 'dawit' | 'hana' | 'sandbox' | 'live';
export type Client = ReturnType<typeof createClient>;

/** The requests of the company's people and of a merchant, each with a key of its own: three operators, two environments. */
export function createClient(company: Pick<Company, 'url' | 'operatorsUrl' | 'send' | 'meskot'>) {
  const keys: Record<Holder, string> = { sara: '', dawit: '', hana: '', sandbox: '', live: '' };

  /** `route`: as "GET /api/checkout/balance". */
  const call = (by: Holder, route: string, body?: unknown): Promise<Reply> => {
    const [method = '', path = ''] = route.split(' ');
    const address = path.startsWith('/api/ops/') ? company.operatorsUrl + path : path;
    return company.send(method, address, { key: keys[by], body });
  };
  /** The data of a successful response. */
  async function ok<T = Data>(by: Holder, route: string, body?: unknown): Promise<T> {
    const reply = await call(by, route, body);
    if (reply.status >= 300) throw new Error(`${route} answered ${reply.status}: ${reply.text}`);
    return reply.body.data as T;
  }
  const statusOf = async (by: 'sandbox' | 'live', { sessionId }: { sessionId: string }) =>
    (await ok(by, `GET /api/checkout/hooks/status/${sessionId}?wait=1`))['status'];

  return {
    keys,
    call,
    ok,
    statusOf,
    /** How a request was refused. */
    refusal: async (by: Holder, route: string, body?: unknown) => {
      const { status, body: answer } = await call(by, route, body);
      return { status, code: answer.error?.code, message: answer.message };
    },
    acceptInvitation: async (by: Holder, token: string | undefined): Promise<void> => {
      const isMerchant = by === 'sandbox' || by === 'live';
      const address = `${isMerchant ? company.url : company.operatorsUrl}/api/invitations/accept`;
      const { body } = await company.send('POST', address, { body: { token } });
      keys[by] = (body.data as { secret: string }).secret;
    },
    /** A command on the machine of an operator. */
    asOperator: async <T = Data>(by: Holder, ...args: string[]): Promise<T> => {
      const settings = { MESKOT_URL: company.operatorsUrl, MESKOT_OPERATOR_KEY: keys[by] };
      return JSON.parse(await company.meskot([...args, '--json'], settings)) as T;
    },
    untilPaid: async (by: 'sandbox' | 'live', payment: { sessionId: string }) =>
      until('the payment to succeed', async () => (await statusOf(by, payment)) === 'SUCCESS', 40_000),
    /** Starts a telebirr payment; in live the customer confirms it on the page of `redirectUrl`. */
    async startPayment(by: 'sandbox' | 'live', order: { no: string; amount: number; phone: string }) {
      const body = { checkoutOrderNo: order.no, amount: order.amount, currency: 'ETB' };
      const session = await ok(by, 'POST /api/checkout/sessions', body);
      const { sessionId = '', transactionId = '' } = session;
      const payer = { channel: 'TELEBIRR', phone: order.phone };
      const payment = await ok(by, `POST /api/checkout/sessions/${sessionId}/pay`, payer);
      return {
        sessionId,
        transactionId,
        attemptId: payment['attemptId'] ?? '',
        redirectUrl: payment['redirectUrl'] ?? '',
      };
    },
    /** What the customer's browser does on telebirr's page. */
    async confirmOnPage({ redirectUrl }: { redirectUrl: string }): Promise<Reply> {
      const page = await company.send('GET', redirectUrl);
      const [, decision = ''] = /action="\.\/([^"]+)"/.exec(page.text) ?? [];
      const { origin, pathname } = new URL(redirectUrl);
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return company.send('POST', `${origin}${pathname.replace('paygate', decision)}`, {
        body: 'decision=pay',
        headers,
      });
    },
    /** Sends telebirr's message that this order is paid, signed with this key. */
    async notify(order: Order | undefined, privateKey: string): Promise<Reply> {
      if (!order) throw new Error('no such order');
      const { orderId, amount, currency } = order;
      const paid = { trade_status: 'Completed', total_amount: amount, trans_currency: currency, trans_id: 'FORGED' };
      const message = { merch_order_id: orderId, ...paid };
      const sign = signTelebirr(message, { key: createPrivateKey(privateKey), scheme: 'PSS' });
      const body = { ...message, sign, sign_type: 'SHA256WithRSA' };
      return company.send('POST', order.callbackUrl, { body });
    },
  };
}
