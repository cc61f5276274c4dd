import { createPublicKey } from 'node:crypto';

import { z } from 'zod';

import { formatBirr, parseBirr } from '../lib/money.ts';
import { verifyTelebirr, type SignedMessage } from '../lib/provider-signing.ts';
import { ourOrderId, readCallback, readReply, toPlainOrderId, type ProviderDeps } from './exchange.ts';
import { connectOrders, type Meaning, type OrderReply, type OrderState } from './orders.ts';
import { StatementPage, type PaymentOrder, type PayoutOrder, type Provider, type RefundOrder } from './provider.ts';
import { PAYOUT_TO, pemBlocks } from './settings.ts';
import { createTelebirrCall, type TelebirrConfig } from './telebirr-call.ts';

const text = z.string();
const optional = text.optional();

/** One refund: of its own reply, or as a query of the order lists it. */
const RefundInfo = z.object({
  refund_request_no: optional,
  refund_order_id: optional,
  refund_amount: optional,
  refund_currency: optional,
  refund_status: optional,
  fail_code: optional,
  fail_reason: optional,
});

/** A reply about a payment, a transfer or a refund. Two generations of the fabric name the code and the message differently. */
const Reply = z.object({
  status: z.number(),
  body: z.object({
    result: optional,
    code: optional,
    msg: optional,
    errorCode: optional,
    errorMsg: optional,
    biz_content: z
      .looseObject({
        merch_order_id: optional,
        prepay_id: optional,
        order_status: optional,
        trade_status: optional,
        payment_order_id: optional,
        trans_id: optional,
        trans_currency: optional,
        total_amount: optional,
        fail_code: optional,
        fail_reason: optional,
      })
      .optional()
      .catch(undefined),
  }),
});
type Content = NonNullable<z.output<typeof Reply>['body']['biz_content']>;

const PAYMENT_STATES = new Map<string, OrderState>([
  ['PAY_SUCCESS', 'paid'],
  ['Completed', 'paid'],
  ['PAY_FAILED', 'failed'],
  ['Failure', 'failed'],
  ['ORDER_CLOSED', 'expired'],
  ['Expired', 'expired'],
]);
const OUTGOING_STATES = new Map<string, OrderState>([
  ['TRANSFER_SUCCESS', 'paid'],
  ['TRANSFER_REVERSED', 'reversed'],
  ['TRANSFER_FAILED', 'failed'],
  ['REFUND_SUCCESS', 'paid'],
  ['REFUND_FAILED', 'failed'],
]);
const MEANINGS: Record<string, Meaning> = {
  INSUFFICIENT_BALANCE: 'insufficientFunds',
  USER_CANCELLED: 'cancelled',
  INVALID_PAYER: 'unknownPayer',
  TRANSFER_REFUSED: 'declined',
  INSUFFICIENT_FLOAT: 'insufficientFloat',
  TRANSFER_NOT_MADE: 'failed',
  INVALID_PAYEE: 'unknownPayee',
  ORDER_EXIST: 'exists',
  ORDER_NOT_EXIST: 'notFound',
  REFUND_REFUSED: 'declined',
  REFUND_NOT_MADE: 'failed',
  REFUND_NOT_EXIST: 'notFound',
};

type Direction = 'payment' | 'transfer';

/** A reply; `read` gives the order in the content of an accepted request. */
const replyBy = (
  direction: Direction,
  read: (content: Content, code: string) => Omit<OrderReply, 'kind' | 'orderId'>,
) =>
  Reply.transform(({ status, body: { result, biz_content: content, ...body } }): OrderReply => {
    const code = body.errorCode ?? body.code;
    const order = { kind: 'order', orderId: content?.merch_order_id && ourOrderId(content.merch_order_id) } as const;
    if (result === 'SUCCESS' && content) return { ...order, ...read(content, code ?? result) };
    // Only FAIL surely rejects a transfer, whose money is then released; a payment is rejected by a 4xx, too.
    const isRejected = code !== undefined && (result === 'FAIL' || (direction === 'payment' && status >= 400));
    const reason = body.msg ?? body.errorMsg;
    return { ...order, state: isRejected ? 'rejected' : undefined, code: code ?? 'no code', reason };
  });

const PreOrder = replyBy('payment', ({ prepay_id: reference }, code) => ({
  state: reference ? 'waiting' : undefined,
  code,
  reference,
}));

const orderBy = (direction: Direction, states: ReadonlyMap<string, OrderState>) =>
  replyBy(direction, (content) => {
    const isPayment = direction === 'payment';
    const status = content.order_status ?? (isPayment ? (content.trade_status ?? 'no status') : undefined);
    // WAIT_PAY, PAYING, TRANSFER_PROCESSING, and any status telebirr adds: not decided yet.
    const state = status === undefined ? undefined : (states.get(status) ?? 'waiting');
    return {
      state,
      code: content.fail_code ?? status ?? 'no status',
      reason: content.fail_reason,
      // A paid or reversed transfer is known by its transaction alone.
      reference: content.trans_id || (isPayment || state === 'waiting' ? content.payment_order_id : undefined),
      amount: content.total_amount,
      currency: content.trans_currency,
    };
  });
const [Payment, Transfer] = [orderBy('payment', PAYMENT_STATES), orderBy('transfer', OUTGOING_STATES)];

type RefundIds = Pick<RefundOrder, 'refundId' | 'paymentId'>;

/** Undefined: the content has no such refund. Null: it cannot be read. */
type FindRefund = (content: Content) => z.output<typeof RefundInfo> | undefined | null;

/** A reply about a refund. It names the refunded order alone; `find` gives the refund in its content. */
const refundBy = ({ refundId, paymentId }: RefundIds, find: FindRefund) =>
  Reply.transform(({ body: { result, biz_content: content, ...body } }): OrderReply => {
    const order = { kind: 'order', orderId: refundId } as const;
    if (result !== 'SUCCESS' || !content) {
      const [code = 'no code', reason] = [body.errorCode ?? body.code, body.msg ?? body.errorMsg];
      return { ...order, state: result === 'FAIL' ? 'rejected' : undefined, code, reason };
    }
    const paid = ourOrderId(content.merch_order_id ?? '');
    if (paid !== paymentId) return { ...order, orderId: paid, state: undefined, code: result };
    const refund = find(content);
    if (refund === null) return { ...order, state: undefined, code: result };
    if (!refund) return { ...order, state: 'rejected', code: 'REFUND_NOT_EXIST' };
    const { refund_status: status, refund_amount: amount, refund_currency: currency } = refund;
    return {
      ...order,
      // REFUNDING, REFUND_DUPLICATED (it was requested before), and any status telebirr adds: not decided yet.
      state: status === undefined ? undefined : (OUTGOING_STATES.get(status) ?? 'waiting'),
      code: refund.fail_code ?? status ?? 'no status',
      reason: refund.fail_reason,
      reference: refund.refund_order_id,
      amount,
      currency,
    };
  });

const itself: FindRefund = (content) => RefundInfo.safeParse(content).data ?? null;
/** Read by itself: its shape is assumed, and a payment's reply with another one must stay readable. */
const RefundList = z.union([z.array(RefundInfo), z.null(), z.literal('')]).optional();
const listedRefund =
  ({ refundId }: RefundIds): FindRefund =>
  ({ refund_info }) => {
    const { data: refunds, success } = RefundList.safeParse(refund_info);
    if (!success) return null;
    return (refunds || []).find((one) => one.refund_request_no === toPlainOrderId(refundId));
  };

const ROW_TYPES: Record<string, string> = {
  REFUND: 'refund',
  C2B: 'payment',
  B2C: 'payout',
  B2C_REVERSAL: 'payoutReversal',
};
const Row = z
  .object({
    merch_order_id: text,
    trans_type: text,
    trans_amount: text,
    trans_currency: text,
    trans_id: text,
    trans_time: text,
  })
  .transform((row) => ({
    orderId: ourOrderId(row.merch_order_id),
    type: ROW_TYPES[row.trans_type],
    amountSantim: parseBirr(row.trans_amount),
    currency: row.trans_currency,
    providerReference: row.trans_id,
    at: new Date(Number(row.trans_time)),
  }));
const Statement = z
  .object({
    body: z.object({
      result: z.literal('SUCCESS'),
      biz_content: z.object({ records: z.array(Row), next_page_token: text }),
    }),
  })
  .transform(({ body: { biz_content: page } }) => ({
    kind: 'page',
    rows: page.records,
    next: page.next_page_token || null,
  }))
  .pipe(StatementPage);

/**
 * The channel TELEBIRR. Throws at once when a key is not one.
 *
 * A refund is published, how to query it is not, except that a query's reply has its refunds in a field that is not signed,
 * refund_info: it is assumed to be a list of what the refund's own reply has, with refund_request_no.
 *
 * Payouts (B2C) and the statement are not published. B2C on the platform below telebirr is a transfer from an
 * organisation to a customer's phone, with a later result call. Assumed are the fabric's conventions (token, signed
 * message, notify) and the platform's codes as preOrder uses them: a payee that is an organisation is 5000 and a short
 * code 04, so a customer is 1000 and a phone 01. Method names, paths, statuses and the statement are assumed as well, and
 * described in src/sandbox/simulator/telebirr.ts.
 */
export function createTelebirr(deps: ProviderDeps, config: TelebirrConfig): Provider {
  const { signatureScheme: scheme } = config;
  const providerKeys = pemBlocks(config.providerPublicKey).map((block) => ({ key: createPublicKey(block), scheme }));
  const { call, payLink } = createTelebirrCall(deps, config);
  const query = async (operation: string, orderId: string) =>
    call(operation, { merch_order_id: toPlainOrderId(orderId) });
  return {
    channel: 'TELEBIRR',
    callbackResponse: { contentType: 'application/json', body: '{"code":"0","msg":"success"}' },
    ...connectOrders({
      secrets: [config.appKey, config.appSecret, config.merchantPrivateKey],
      payoutTo: PAYOUT_TO.TELEBIRR,
      meanings: MEANINGS,
      async initiate(order) {
        const reply = readReply(await call('preOrder', preOrderContent(order, config, deps.clock())), PreOrder);
        if (reply.kind === 'unknown' || !reply.reference) return reply;
        return { ...reply, redirectUrl: payLink(reply.reference) };
      },
      query: async (orderId) => readReply(await query('queryOrder', orderId), Payment),
      payout: async (order) => readReply(await call('transfer', transferContent(order)), Transfer),
      queryPayout: async (orderId) => readReply(await query('queryTransfer', orderId), Transfer),
      refund: async (order) => readReply(await call('refund', refundContent(order)), refundBy(order, itself)),
      queryRefund: async (order) =>
        readReply(await query('queryOrder', order.paymentId), refundBy(order, listedRefund(order))),
    }),
    statement: async (day, cursor) =>
      readReply(
        await call('queryStatement', { bill_date: day.replaceAll('-', ''), page_token: cursor ?? '' }),
        Statement,
      ),
    parseCallback: ({ body }) =>
      readCallback(body, 'merch_order_id', (message) => providerKeys.some((key) => verifyTelebirr(message, key))),
  };
}

function commonContent(order: PaymentOrder | PayoutOrder): SignedMessage {
  return {
    merch_order_id: toPlainOrderId(order.orderId),
    notify_url: order.notifyUrl,
    total_amount: formatBirr(order.amountSantim),
    trans_currency: order.currency,
  };
}

function preOrderContent(order: PaymentOrder, config: TelebirrConfig, now: Date): SignedMessage {
  // Whole minutes, upwards: telebirr must not close an order that our session still accepts.
  const minutes = Math.max(1, Math.ceil((order.expiresAt.getTime() - now.getTime()) / 60_000));
  // telebirr rejects punctuation in titles.
  const title = order.title.replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ').trim();
  return {
    ...commonContent(order),
    redirect_url: order.returnUrl,
    trade_type: 'Checkout',
    title: title.slice(0, 64) || 'Payment',
    timeout_express: `${minutes}m`,
    business_type: 'BuyGoods',
    payee_identifier: config.merchantCode,
    payee_identifier_type: '04',
    payee_type: '5000',
    ...(config.phoneInCallbackInfo ? { callback_info: order.phone } : {}),
  };
}

function refundContent(order: RefundOrder): SignedMessage {
  return {
    merch_order_id: toPlainOrderId(order.paymentId),
    refund_request_no: toPlainOrderId(order.refundId),
    refund_reason: order.reason,
    actual_amount: formatBirr(order.amountSantim),
    trans_currency: order.currency,
  };
}

function transferContent(order: PayoutOrder): SignedMessage {
  return {
    ...commonContent(order),
    trade_type: 'B2C',
    business_type: 'BusinessPayment',
    payee_identifier: order.destination.kind === 'phone' ? order.destination.phone : '',
    payee_identifier_type: '01',
    payee_type: '1000',
    payee_name: order.accountName,
  };
}
