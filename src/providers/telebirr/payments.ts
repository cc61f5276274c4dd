import { createPrivateKey, createPublicKey } from 'node:crypto';

import { z } from 'zod';

import { formatBirr } from '../../lib/money.ts';
import { signTelebirr, verifyTelebirr, type SignedMessage } from '../../lib/provider-signing.ts';
import {
  declined,
  fromPlainOrderId,
  moneyOutcome,
  ofOrder,
  parseJson,
  readReply,
  toPlainOrderId,
  unreadable,
  type Failure,
  type ProviderDeps,
  type Reply,
} from '../exchange.ts';
import type { ParsedCallback, PaymentOrder, Provider, ProviderOutcome } from '../provider.ts';
import {
  Answer,
  codeOf,
  createTelebirrCall,
  merchant,
  NO_SUCH_ORDER,
  ORDER_EXISTS,
  stamp,
  telebirrOrder,
  type Sign,
  type TelebirrConfig,
} from './call.ts';
import { telebirrPayouts } from './payouts.ts';

const PreOrder = z.object({ prepay_id: z.string().min(1) });

const QueriedOrder = z.object({
  order_status: z.string().optional(),
  trade_status: z.string().optional(),
  payment_order_id: z.string().optional(),
  trans_id: z.string().optional(),
  trans_currency: z.string().optional(),
  total_amount: z.string().optional(),
  fail_code: z.string().optional(),
  fail_reason: z.string().optional(),
});

const FAILURES = new Map<string, Failure>(
  Object.entries({
    INSUFFICIENT_BALANCE: { code: 'INSUFFICIENT_FUNDS', message: 'The wallet has too little money.', retryable: true },
    USER_CANCELLED: { code: 'CANCELLED_BY_CUSTOMER', message: 'The customer refused the payment.', retryable: true },
    INVALID_PAYER: { code: 'INVALID_PAYER', message: 'telebirr does not know this phone number.', retryable: true },
  }),
);

/** The channel TELEBIRR. Throws at once when a key is not one. */
export function createTelebirr(deps: ProviderDeps, config: TelebirrConfig): Provider {
  const scheme = config.signatureScheme;
  const publicKey = { key: createPublicKey(config.providerPublicKey), scheme };
  const privateKey = { key: createPrivateKey(config.merchantPrivateKey), scheme };
  const sign: Sign = (message) => signTelebirr(message, privateKey);
  const call = createTelebirrCall(deps, config, sign);
  return {
    channel: 'TELEBIRR',
    ...telebirrPayouts(call, config),
    callbackResponse: { contentType: 'application/json', body: '{"code":"0","msg":"success"}' },

    async initiate(order) {
      const content = preOrderContent(order, config, deps.clock());
      const reply = await call('/payment/v1/merchant/preOrder', 'payment.preorder', content);
      if (reply.kind === 'unknown') return reply;
      const { payPageUrl } = config;
      const outcome = readPreOrder(reply, (prepayId) => {
        if (payPageUrl === null) return null;
        const link = { ...merchant(config), ...stamp(deps.clock()), prepay_id: prepayId };
        return payLink(payPageUrl, { ...link, sign: sign(link) });
      });
      return ofOrder(outcome, telebirrOrder(reply, order.orderId));
    },

    async query(orderId) {
      const content = { ...merchant(config), merch_order_id: toPlainOrderId(orderId) };
      const reply = await call('/payment/v1/merchant/queryOrder', 'payment.queryorder', content);
      return reply.kind === 'unknown' ? reply : ofOrder(readQuery(reply), telebirrOrder(reply, orderId));
    },

    parseCallback({ body }): ParsedCallback {
      const message = z.record(z.string(), z.unknown()).safeParse(parseJson(body.toString('utf8')));
      if (!message.success) return { verified: false, problem: 'not a JSON object' };
      if (!verifyTelebirr(message.data, publicKey)) return { verified: false, problem: 'sign is not of this message' };
      const orderId = fromPlainOrderId(message.data['merch_order_id']);
      return orderId ? { verified: true, orderId } : { verified: false, problem: 'merch_order_id is not one of ours' };
    },
  };
}

function preOrderContent(order: PaymentOrder, config: TelebirrConfig, now: Date): SignedMessage {
  // Whole minutes, upwards: telebirr must not close an order that our session still accepts.
  const minutes = Math.max(1, Math.ceil((order.expiresAt.getTime() - now.getTime()) / 60_000));
  return {
    ...merchant(config),
    merch_order_id: toPlainOrderId(order.orderId),
    notify_url: order.notifyUrl,
    redirect_url: order.returnUrl,
    trade_type: 'Checkout',
    // telebirr rejects punctuation in titles.
    title:
      order.title
        .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
        .trim()
        .slice(0, 64) || 'Payment',
    total_amount: formatBirr(order.amountSantim),
    trans_currency: order.currency,
    timeout_express: `${minutes}m`,
    business_type: 'BuyGoods',
    payee_identifier: config.merchantCode,
    payee_identifier_type: '04',
    payee_type: '5000',
    ...(config.phoneInCallbackInfo ? { callback_info: order.phone } : {}),
  };
}

function readPreOrder(reply: Reply, linkOf: (prepayId: string) => string | null): ProviderOutcome {
  const read = readReply(reply, Answer);
  if (read.kind === 'unknown') return read;
  const code = codeOf(read.value);
  // An earlier request created the order and its reply was lost: the order exists, without a link.
  if (code === ORDER_EXISTS) return { kind: 'pending', providerReference: null, providerCode: code };
  if (read.value.result !== 'SUCCESS') return rejection(reply.status, read.value);
  const content = PreOrder.safeParse(read.value.biz_content);
  if (!content.success) return unreadable('an order without prepay_id');
  const prepayId = content.data.prepay_id;
  return { kind: 'accepted', providerReference: prepayId, redirectUrl: linkOf(prepayId), providerCode: code };
}

function readQuery(reply: Reply): ProviderOutcome {
  const read = readReply(reply, Answer);
  if (read.kind === 'unknown') return read;
  const code = codeOf(read.value);
  if (code === NO_SUCH_ORDER) return { kind: 'pending', providerReference: null, providerCode: code };
  if (read.value.result !== 'SUCCESS') return unreadable(`the query was rejected with ${code ?? 'no code'}`);
  const parsed = QueriedOrder.safeParse(read.value.biz_content);
  if (!parsed.success) return unreadable('a reply without a readable order');
  const order = parsed.data;
  const status = order.order_status ?? order.trade_status ?? '';
  const reference = order.trans_id ?? order.payment_order_id ?? null;
  switch (status) {
    case 'PAY_SUCCESS':
    case 'Completed':
      return moneyOutcome('succeeded', {
        reference,
        amount: order.total_amount,
        currency: order.trans_currency,
        providerCode: status,
      });
    case 'PAY_FAILED':
    case 'Failure':
      return paymentFailed(order.fail_code ?? status, order.fail_reason);
    case 'ORDER_CLOSED':
    case 'Expired':
      return declined({ code: 'TIMED_OUT', message: 'telebirr closed the order.', retryable: true }, status);
    default:
      // WAIT_PAY, PAYING, and any status telebirr adds: not paid yet.
      return { kind: 'pending', providerReference: order.payment_order_id ?? null, providerCode: status || null };
  }
}

function paymentFailed(providerCode: string, reason: string | undefined): ProviderOutcome {
  const known = FAILURES.get(providerCode);
  return declined(
    known ?? { code: 'DECLINED', message: reason ?? 'telebirr declined.', retryable: false },
    providerCode,
  );
}

/** Declined only by FAIL or a status in the 400s. Any other error leaves the outcome unknown. */
function rejection(status: number, response: Answer): ProviderOutcome {
  const providerCode = codeOf(response);
  const isNegative = response.result === 'FAIL' || status >= 400;
  if (!isNegative || providerCode === null)
    return unreadable(`neither an order nor a rejection: ${providerCode ?? 'no code'}`);
  const message = response.msg ?? response.errorMsg ?? 'telebirr refused the order.';
  return declined(FAILURES.get(providerCode) ?? { code: 'REJECTED', message, retryable: false }, providerCode);
}

/** The pay page's address with the signed order; the signature is base64, so it must be encoded. */
function payLink(pageUrl: string, signedOrder: Record<string, string>): string {
  const query = new URLSearchParams({ ...signedOrder, sign_type: 'SHA256WithRSA' });
  return `${pageUrl}?${query.toString()}&version=1.0&trade_type=Checkout`;
}
