import { z } from 'zod';

import { formatBirr } from '../../lib/money.ts';
import type { SignedMessage } from '../../lib/provider-signing.ts';
import { ourOrderId, readReply, toPlainOrderId } from '../exchange.ts';
import type { OrderCalls, OrderReply, OrderState } from '../orders.ts';
import type { RefundOrder } from '../provider.ts';
import { Reply, type Content } from './replies.ts';
import type { TelebirrWire } from './wire.ts';

const optional = z.string().optional();
const STATES = new Map<string, OrderState>([
  ['REFUND_SUCCESS', 'paid'],
  ['REFUND_FAILED', 'failed'],
]);

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
      state: status === undefined ? undefined : (STATES.get(status) ?? 'waiting'),
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

/**
 * A refund is published, how to query it is not, except that a query's reply has its refunds in a field that is not signed,
 * refund_info: it is assumed to be a list of what the refund's own reply has, with refund_request_no.
 */
export function connectRefunds({ call }: TelebirrWire): Pick<OrderCalls, 'refund' | 'queryRefund'> {
  return {
    refund: async (order) => readReply(await call('refund', refundContent(order)), refundBy(order, itself)),
    queryRefund: async (order) => {
      const reply = await call('queryOrder', { merch_order_id: toPlainOrderId(order.paymentId) });
      return readReply(reply, refundBy(order, listedRefund(order)));
    },
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
