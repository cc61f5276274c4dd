import { createPrivateKey, createPublicKey } from 'node:crypto';

import { z } from 'zod';

import type { Clock } from '../lib/clock.ts';
import { formatBirr } from '../lib/money.ts';
import { signTelebirr, verifyTelebirr, type SignedMessage } from '../lib/provider-signing.ts';
import { fromPlainOrderId, parseJson, toPlainOrderId, unreadable, type ProviderDeps, type Reply } from './exchange.ts';
import {
  connectOrders,
  declined,
  declinedBy,
  EXPIRED,
  moneyOutcome,
  paymentFailures,
  payoutFailures,
  payoutRejected,
  phoneOnly,
  rejectedRequest,
  statementPage,
  type Protocol,
  type RowType,
} from './orders.ts';
import type {
  PaymentOrder,
  PayoutOrder,
  PayoutOutcome,
  Provider,
  ProviderOutcome,
  StatementPage,
  Unknown,
} from './provider.ts';
import { codeOf, createTelebirrCall, Envelope, merchant, stamp } from './telebirr-call.ts';
import type { Sign, TelebirrCall, TelebirrConfig } from './telebirr-call.ts';

const Named = z.object({ merch_order_id: z.string() });
const PreOrder = z.object({ prepay_id: z.string().min(1) });

/** A payment or a transfer. */
const Order = z.object({
  order_status: z.string().optional(),
  trade_status: z.string().optional(),
  payment_order_id: z.string().optional(),
  trans_id: z.string().optional(),
  trans_currency: z.string().optional(),
  total_amount: z.string().optional(),
  fail_code: z.string().optional(),
  fail_reason: z.string().optional(),
});

const text = z.string();
const StatementRow = z.object({
  merch_order_id: text,
  trans_type: text,
  trans_amount: text,
  trans_currency: text,
  trans_id: text,
  trans_time: text,
});
const Statement = Envelope.extend({
  result: z.literal('SUCCESS'),
  biz_content: z.object({ records: z.array(StatementRow).max(500), next_page_token: text }),
});
const ROW_TYPES = new Map<string, RowType>([
  ['C2B', 'payment'],
  ['B2C', 'payout'],
  ['B2C_REVERSAL', 'payoutReversal'],
]);

const PAYMENT_FAILURES = paymentFailures({
  INSUFFICIENT_BALANCE: 'insufficientFunds',
  USER_CANCELLED: 'cancelled',
  INVALID_PAYER: 'unknownPhone',
});
const PAYOUT_FAILURES = payoutFailures({
  TRANSFER_REFUSED: 'declined',
  INSUFFICIENT_FLOAT: 'insufficientFunds',
  TRANSFER_NOT_MADE: 'failed',
  INVALID_PAYEE: 'unknownPayee',
});

/** The channel TELEBIRR. Throws at once when a key is not one. */
export function createTelebirr(deps: ProviderDeps, config: TelebirrConfig): Provider {
  const scheme = config.signatureScheme;
  const publicKey = { key: createPublicKey(config.providerPublicKey), scheme };
  const privateKey = { key: createPrivateKey(config.merchantPrivateKey), scheme };
  const sign: Sign = (message) => signTelebirr(message, privateKey);
  const call = createTelebirrCall(deps, config, sign);
  return {
    channel: 'TELEBIRR',
    capabilities: { payoutTo: ['phone'] },
    callbackResponse: { contentType: 'application/json', body: '{"code":"0","msg":"success"}' },
    ...connectOrders(
      protocolOf(call, {
        clock: deps.clock,
        config,
        linkOf: (prepayId) =>
          payLink(config, { ...merchant(config), ...stamp(deps.clock()), prepay_id: prepayId }, sign),
      }),
    ),
    statement: async (day, cursor) => {
      const page = { bill_date: day.replaceAll('-', ''), page_token: cursor ?? '' };
      return readStatement(await call('queryStatement', page));
    },

    parseCallback({ body }) {
      const message = z.record(z.string(), z.unknown()).safeParse(parseJson(body.toString('utf8')));
      if (!message.success) return { verified: false, problem: 'not a JSON object' };
      if (!verifyTelebirr(message.data, publicKey)) return { verified: false, problem: 'sign is not of this message' };
      const orderId = fromPlainOrderId(message.data['merch_order_id']);
      return orderId ? { verified: true, orderId } : { verified: false, problem: 'merch_order_id is not one of ours' };
    },
  };
}

type Deps = { clock: Clock; config: TelebirrConfig; linkOf: (prepayId: string) => string | null };

/**
 * Payouts (B2C) and the statement are not published. B2C on the platform below telebirr is a transfer from an
 * organisation to a customer's phone, with a later result call. Assumed are the fabric's conventions (token, signed
 * message, notify) and the platform's codes as preOrder uses them: a payee that is an organisation is 5000 and a short
 * code 04, so a customer is 1000 and a phone 01. Method names, paths, statuses and the statement are assumed as well, and
 * described in src/sandbox/simulator/telebirr.ts.
 */
function protocolOf(call: TelebirrCall, { clock, config, linkOf }: Deps): Protocol<Envelope> {
  return {
    schema: Envelope,
    wireId: toPlainOrderId,
    orderOf: ({ biz_content }) => Named.safeParse(biz_content).data?.merch_order_id,
    codeOf,
    isRejection: ({ result }) => result !== 'SUCCESS',
    isNotFound: (envelope) => codeOf(envelope) === 'ORDER_NOT_EXIST',
    payments: {
      initiate: async (order) => call('preOrder', preOrderContent(order, config, clock())),
      query: async (orderId) => call('queryOrder', { merch_order_id: toPlainOrderId(orderId) }),
      readInitiated: (envelope) => readPreOrder(envelope, linkOf),
      readRejected: readRejectedOrder,
      read: readPayment,
    },
    payouts: {
      submit: async (order) => {
        const payee = phoneOnly(order);
        return payee.kind === 'declined' ? payee : call('transfer', transferContent(order, payee.phone));
      },
      query: async (orderId) => call('queryTransfer', { merch_order_id: toPlainOrderId(orderId) }),
      readRejected: (envelope) => {
        const code = codeOf(envelope);
        if (envelope.result !== 'FAIL' || code === null) return rejectedRequest(code);
        return payoutRejected(PAYOUT_FAILURES, code);
      },
      read: readTransfer,
    },
  };
}

function preOrderContent(order: PaymentOrder, config: TelebirrConfig, now: Date): SignedMessage {
  // Whole minutes, upwards: telebirr must not close an order that our session still accepts.
  const minutes = Math.max(1, Math.ceil((order.expiresAt.getTime() - now.getTime()) / 60_000));
  return {
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

function readPreOrder(envelope: Envelope, linkOf: (prepayId: string) => string | null): ProviderOutcome {
  const content = PreOrder.safeParse(envelope.biz_content);
  if (!content.success) return unreadable('an order without prepay_id');
  const prepayId = content.data.prepay_id;
  const providerCode = codeOf(envelope);
  return { kind: 'accepted', providerReference: prepayId, redirectUrl: linkOf(prepayId), providerCode };
}

/** Declined only by FAIL or a status in the 400s. Any other error leaves the outcome unknown. */
function readRejectedOrder(envelope: Envelope, status: number): ProviderOutcome {
  const code = codeOf(envelope);
  // An earlier request created the order and its reply was lost: the order exists, without a link.
  if (code === 'ORDER_EXIST') return { kind: 'pending', providerReference: null, providerCode: code };
  if (code === null || (envelope.result !== 'FAIL' && status < 400)) return rejectedRequest(code);
  return declinedBy(PAYMENT_FAILURES, code, envelope.msg ?? envelope.errorMsg ?? 'telebirr rejected the order.');
}

function readPayment(envelope: Envelope): ProviderOutcome {
  const parsed = Order.safeParse(envelope.biz_content);
  if (!parsed.success) return unreadable('a reply without a readable order');
  const order = parsed.data;
  const status = order.order_status ?? order.trade_status ?? '';
  switch (status) {
    case 'PAY_SUCCESS':
    case 'Completed': {
      const [reference, amount] = [order.trans_id ?? order.payment_order_id, order.total_amount];
      return moneyOutcome('succeeded', { reference, amount, currency: order.trans_currency, providerCode: status });
    }
    case 'PAY_FAILED':
    case 'Failure': {
      const code = order.fail_code ?? status;
      const message = order.fail_reason ?? 'telebirr declined the payment.';
      const otherwise = { code: 'DECLINED', message, retryable: false } as const;
      return declined(PAYMENT_FAILURES.get(code) ?? otherwise, code);
    }
    case 'ORDER_CLOSED':
    case 'Expired':
      return declined(EXPIRED, status);
    default:
      // WAIT_PAY, PAYING, and any status telebirr adds: not paid yet.
      return { kind: 'pending', providerReference: order.payment_order_id ?? null, providerCode: status || null };
  }
}

/** The pay page's address with the signed order; null where there is no page. The signature is base64, so it is encoded. */
function payLink(config: TelebirrConfig, order: Record<string, string>, sign: Sign): string | null {
  if (config.payPageUrl === null) return null;
  const query = new URLSearchParams({ ...order, sign: sign(order), sign_type: 'SHA256WithRSA' });
  return `${config.payPageUrl}?${query.toString()}&version=1.0&trade_type=Checkout`;
}

function transferContent(order: PayoutOrder, phone: string): SignedMessage {
  return {
    merch_order_id: toPlainOrderId(order.orderId),
    notify_url: order.notifyUrl,
    trade_type: 'B2C',
    total_amount: formatBirr(order.amountSantim),
    trans_currency: order.currency,
    business_type: 'BusinessPayment',
    payee_identifier: phone,
    payee_identifier_type: '01',
    payee_type: '1000',
    payee_name: order.accountName,
  };
}

function readTransfer(envelope: Envelope, undecided: 'accepted' | 'pending'): PayoutOutcome {
  const parsed = Order.safeParse(envelope.biz_content);
  const status = parsed.data?.order_status;
  if (!parsed.success || status === undefined) return unreadable('a reply without a readable transfer');
  const { trans_id: reference, total_amount: amount, trans_currency: currency, ...transfer } = parsed.data;
  switch (status) {
    case 'TRANSFER_SUCCESS':
      return moneyOutcome('succeeded', { reference, amount, currency, providerCode: status });
    case 'TRANSFER_REVERSED':
      return moneyOutcome('reversed', { reference, amount, currency, providerCode: status });
    case 'TRANSFER_FAILED': {
      const message = transfer.fail_reason ?? 'telebirr did not make the payout.';
      return declinedBy(PAYOUT_FAILURES, transfer.fail_code ?? status, message);
    }
    default:
      // TRANSFER_PROCESSING, and any status telebirr adds: not decided yet.
      return { kind: undecided, providerReference: transfer.payment_order_id ?? null, providerCode: status };
  }
}

function readStatement(reply: Reply | Unknown): StatementPage | Unknown {
  return statementPage(reply, Statement, ({ biz_content: { records, next_page_token: next } }) => ({
    rows: records.map((record) => ({
      orderId: fromPlainOrderId(record.merch_order_id) ?? record.merch_order_id,
      type: ROW_TYPES.get(record.trans_type),
      amount: record.trans_amount,
      currency: record.trans_currency,
      reference: record.trans_id,
      atMs: Number(record.trans_time),
    })),
    next,
  }));
}
