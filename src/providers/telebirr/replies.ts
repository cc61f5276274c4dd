import { z } from 'zod';

import { ourOrderId } from '../exchange.ts';
import type { Meaning, OrderReply, OrderState } from '../orders.ts';

const optional = z.string().optional();

/** A reply about a payment, a transfer or a refund. Two generations of the fabric name the code and the message differently. */
export const Reply = z.object({
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
export type Content = NonNullable<z.output<typeof Reply>['body']['biz_content']>;

/** What its codes stand for. */
export const MEANINGS: Record<string, Meaning> = {
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
export const replyBy = (
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

/** A reply about an order, by what its statuses stand for. */
export const orderBy = (direction: Direction, states: ReadonlyMap<string, OrderState>) =>
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
