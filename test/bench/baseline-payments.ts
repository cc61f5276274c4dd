import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';

import type pg from 'pg';
import { Pool } from 'undici';

import { newId } from '../../src/lib/ids.ts';
import type { SignedMessage } from '../../src/lib/provider-signing.ts';
import { signTelebirr, verifyTelebirr } from '../../src/providers/telebirr/signing.ts';
import type { EventName } from '../support/event-catalogue.ts';
import { SANDBOX_PATHS, SANDBOX_TELEBIRR } from '../support/sandbox-accounts.ts';

const { appKey, appSecret, appId, merchantCode, signatureScheme: scheme } = SANDBOX_TELEBIRR;
const ownKey = { key: createPrivateKey(SANDBOX_TELEBIRR.merchantPrivateKey), scheme };
const providerKey = { key: createPublicKey(SANDBOX_TELEBIRR.providerPublicKey), scheme };
const JSON_TYPE = { 'content-type': 'application/json' };

type Content = { prepay_id: string; order_status: string; total_amount: string; trans_id: string };

/** The signed calls of the provider at this origin, with one token, and the signed link to its page. */
function connectProvider(origin: string) {
  const pool = new Pool(origin, { connections: 100 });
  const post = async <Reply>(path: string, headers: Record<string, string>, message: object): Promise<Reply> => {
    const request = { headers: { ...JSON_TYPE, 'x-app-key': appKey, ...headers }, body: JSON.stringify(message) };
    const at = `${SANDBOX_PATHS.TELEBIRR}/payment/v1/${path}`;
    const { statusCode, body } = await pool.request({ method: 'POST', path: at, ...request });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${path} responded with ${statusCode}: ${text}`);
    return JSON.parse(text) as Reply;
  };
  const signed = (fields: SignedMessage) => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const message = { timestamp, nonce_str: randomBytes(16).toString('hex'), ...fields };
    return { ...message, sign: signTelebirr(message, ownKey), sign_type: 'SHA256WithRSA' };
  };
  const merchant = { appid: appId, merch_code: merchantCode };
  let token: Promise<{ token: string }> | undefined;
  return {
    call: async (operation: string, content: SignedMessage): Promise<Content> => {
      token ??= post('token', {}, { appSecret });
      const { token: authorization } = await token;
      const method = `payment.${operation.toLowerCase()}`;
      const message = signed({ method, version: '1.0', biz_content: { ...merchant, ...content } });
      return (await post<{ biz_content: Content }>(`merchant/${operation}`, { authorization }, message)).biz_content;
    },
    payLink: (prepayId: string): string =>
      `${origin}/pay?${new URLSearchParams(signed({ ...merchant, prepay_id: prepayId })).toString()}`,
  };
}

type Deps = {
  database: pg.Pool;
  inTransaction: <Result>(work: (client: pg.ClientBase) => Promise<Result>) => Promise<Result>;
  /** Where the sandbox's providers are, and where they send callbacks. */
  providerOrigin: string;
  callbackUrl: string;
  /** Records an event, for a subscription unless it is null. */
  recordEvent: (client: pg.ClientBase, event: EventName, subscriptionId: number | null) => Promise<unknown>;
  wake: () => void;
};

/**
 * The payment of a session as every program has to make it: the order at the provider, its callback, the query that
 * follows, and in one transaction the statuses, a journal of four entries, the balance, two events and a delivery. Without
 * limits, leases, timelines and workflows.
 */
export function createBaselinePayments(deps: Deps) {
  const { database, inTransaction, recordEvent } = deps;
  const { call, payLink } = connectProvider(deps.providerOrigin);

  async function pay(sessionId: string, phone: string): Promise<unknown> {
    // Providers take letters and digits only.
    const id = newId('pat').replace('_', '');
    const amountSantim = await inTransaction(async (client) => {
      const values = [id, sessionId, phone, new Date()];
      const started = await client.query<{ amount_santim: string }>({ name: 'start', text: START, values });
      await recordEvent(client, 'payment.created', null);
      return Number(started.rows[0]?.amount_santim);
    });
    const { prepay_id: reference } = await call('preOrder', {
      merch_order_id: id,
      notify_url: deps.callbackUrl,
      total_amount: (amountSantim / 100).toFixed(2),
      trans_currency: 'ETB',
      trade_type: 'Checkout',
      title: 'Order',
      timeout_express: '30m',
      callback_info: phone,
    });
    await database.query({ name: 'ordered', text: ORDERED, values: [id, reference] });
    return { id, status: 'PENDING', redirectUrl: payLink(reference) };
  }

  async function book(id: string): Promise<void> {
    const order = await call('queryOrder', { merch_order_id: id });
    if (order.order_status !== 'PAY_SUCCESS') throw new Error(`the order is ${order.order_status}`);
    const santim = Math.round(Number(order.total_amount) * 100);
    const [fee, tax] = [Math.round(santim * 0.025), Math.round(santim * 0.025 * 0.15)];
    const amounts = [-santim, santim - fee - tax, fee, tax];
    await inTransaction(async (client) => {
      await client.query({ name: 'paid', text: PAID, values: [id, order.trans_id, new Date()] });
      await recordEvent(client, 'payment.succeeded', 0);
      await recordEvent(client, 'checkout.completed', null);
      await client.query({ name: 'book', text: BOOK, values: [newId('jrn'), id, amounts, amounts[1]] });
    });
    deps.wake();
  }

  return {
    pay,
    /** A callback is no proof: it triggers the query. */
    receive: async (message: Record<string, unknown>): Promise<unknown> => {
      if (!verifyTelebirr(message, providerKey)) throw new Error('the signature is not of this message');
      await book(String(message['merch_order_id']));
      return { code: '0', msg: 'success' };
    },
  };
}

const START = `
  WITH session AS (
    UPDATE baseline_session SET status = 'PROCESSING' WHERE id = $2 AND status = 'OPEN' RETURNING id, amount_santim)
  INSERT INTO baseline_payment (id, session_id, phone, amount_santim, status, created_at)
  SELECT $1, id, $3, amount_santim, 'CREATED', $4 FROM session RETURNING amount_santim`;

const ORDERED = `UPDATE baseline_payment SET status = 'PENDING', reference = $2 WHERE id = $1`;

const PAID = `
  WITH payment AS (
    UPDATE baseline_payment SET status = 'SUCCEEDED', reference = $2, paid_at = $3 WHERE id = $1 RETURNING session_id)
  UPDATE baseline_session s SET status = 'COMPLETED' FROM payment p WHERE s.id = p.session_id`;

const BOOK = `
  WITH journal AS (
    INSERT INTO baseline_journal (id, payment_id, created_at) VALUES ($1, $2, now()) RETURNING id
  ), entry AS (
    INSERT INTO baseline_entry (journal_id, position, amount_santim)
    SELECT j.id, e.position, e.amount_santim
    FROM journal j, unnest($3::bigint[]) WITH ORDINALITY AS e (amount_santim, position))
  UPDATE baseline_balance SET available_santim = available_santim + $4`;
