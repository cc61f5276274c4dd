import { existsSync } from 'node:fs';

import { addisDay, DAY_MS, HOUR_MS, startOfAddisDay } from '../../lib/dates.ts';
import { type Queryable, rows } from '../../lib/db.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import { manifestOf } from '../../merchants/channels/channel.ts';
import { toPlainOrderId } from '../../providers/exchange.ts';
import { openStateFile } from '../../sandbox/simulator/order-store.ts';
import { createOrder, type Order } from '../../sandbox/simulator/order.ts';

/** `title`: of a payout or a refund the name of who gets it. */
type Row = Pick<Order, 'direction' | 'channel' | 'phone' | 'currency' | 'title'> & {
  id: string;
  amountSantim: Santim;
  providerReference: string | null;
  createdAt: Date;
  decidedAt: Date | null;
  reversedAt: Date | null;
  /** Of payments. */
  expiresAt: Date | null;
  status: 'PENDING' | 'SUCCESS' | 'REVERSED';
  /** The payment that a refund returns. */
  refundOf: string | null;
};

export const UNKNOWN_PAYMENT_SANTIM = 1_280_00n;

/**
 * Gives a simulator that never ran the demo's payments, payouts and refunds. Otherwise its statements would lack them, and every
 * reconciliation of those days would find discrepancies; it finds one: a payment of yesterday that only the provider has.
 */
export async function writeSimulatorHistory(db: Queryable, stateFile: string): Promise<void> {
  if (existsSync(stateFile)) return;
  const yesterday = startOfAddisDay(addisDay(new Date(Date.now() - DAY_MS)));
  const found = await rows<Row>(
    db,
    `SELECT 'payment' AS direction, a.id, a.channel, a.phone, a.received_santim AS amount_santim, a.currency,
            a.provider_reference, a.created_at, a.ended_at AS decided_at, CAST(NULL AS timestamptz) AS reversed_at,
            s.expires_at, 'SUCCESS' AS status, 'Order ' || t.checkout_order_no AS title, NULL AS refund_of
     FROM payment_attempt a JOIN checkout_session s ON s.id = a.session_id JOIN transaction t ON t.id = a.transaction_id
     WHERE a.environment = 'sandbox' AND a.received_santim IS NOT NULL
     UNION ALL
     SELECT 'payout', id, channel, phone, amount_santim, currency, provider_reference, submitted_at,
            completed_at, reversed_at, NULL, status, account_name, NULL
     FROM payout
     WHERE kind = 'withdrawal' AND environment = 'sandbox' AND submitted_at IS NOT NULL AND status IN ('PENDING', 'SUCCESS', 'REVERSED')
       AND phone IS NOT NULL
     UNION ALL
     SELECT 'refund', r.id, r.channel, a.phone, r.amount_santim, r.currency, r.provider_reference, r.submitted_at,
            r.completed_at, NULL, NULL, r.status, '', a.id
     FROM payout r JOIN payment_attempt a ON a.id = r.attempt_id
     WHERE r.environment = 'sandbox' AND r.status = 'SUCCESS'
     UNION ALL
     SELECT 'payment', 'pat_01DEM0NLYATTHEPR0V1DER0000', 'AWASH', '251911000001', CAST(:unknownSantim AS bigint), 'ETB',
            'DEMO000000000', CAST(:paidAt AS timestamptz), :paidAt, NULL, :paidAt, 'SUCCESS', 'Paid at the branch', NULL`,
    { unknownSantim: UNKNOWN_PAYMENT_SANTIM, paidAt: new Date(yesterday.getTime() + 10 * HOUR_MS) },
  );
  openStateFile(stateFile).append(...found.map((row) => ({ order: orderOf(row) })));
}

/** An order whose callbacks are done. */
function orderOf(row: Row): Order {
  const { direction, id, channel, phone, currency, status, title, refundOf } = row;
  const simulatedId = (one: string): string => (manifestOf(channel).hasPlainOrderIds ? toPlainOrderId(one) : one);
  const [amount, reference] = [formatBirr(row.amountSantim), row.providerReference ?? id];
  const isOpen = status === 'PENDING';
  const request = {
    direction,
    channel,
    orderId: simulatedId(id),
    amount,
    currency,
    callbackUrl: 'http://localhost',
    phone,
    bankCode: '',
    accountNumber: '',
    title,
    returnUrl: null,
    expiresAtMs: row.expiresAt?.getTime() ?? null,
    ...(refundOf !== null && { refundOf: simulatedId(refundOf) }),
  };
  const behaviour = direction === 'payment' ? 'approve' : isOpen ? 'never' : 'pay';
  return {
    ...createOrder(request, { behaviour, faults: {}, createdAtMs: row.createdAt.getTime() }),
    state: isOpen ? 'ACCEPTED' : status === 'SUCCESS' ? 'PAID' : status,
    reference,
    transactionReference: reference,
    decidedAtMs: row.decidedAt?.getTime() ?? null,
    reversedAtMs: row.reversedAt?.getTime() ?? null,
    paidAmount: isOpen ? null : amount,
  };
}
