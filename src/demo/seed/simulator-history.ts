import { existsSync } from 'node:fs';

import { addisDay, DAY_MS, HOUR_MS, startOfAddisDay } from '../../lib/dates.ts';
import { type Queryable, rows } from '../../lib/db.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import { toPlainOrderId } from '../../providers/exchange.ts';
import type { SimulatedChannel } from '../../sandbox/simulator/faults.ts';
import { openStateFile } from '../../sandbox/simulator/order-store.ts';
import { createOrder, type Order } from '../../sandbox/simulator/order.ts';

/** A payment has a title, a payout and a refund the name of who gets it. */
type Row = {
  id: string;
  channel: SimulatedChannel;
  phone: string;
  amountSantim: Santim;
  currency: string;
  providerReference: string | null;
  createdAt: Date;
  decidedAt: Date | null;
  reversedAt: Date | null;
  expiresAt: Date;
  status: 'PENDING' | 'SUCCESS' | 'REVERSED';
  title: string | null;
  /** The payment that a refund returns. */
  refundOf: string | null;
  accountName: string;
};

/**
 * Gives a simulator that never ran the demo's payments, payouts and refunds. Otherwise its statements would lack them, and every
 * reconciliation of those days would find discrepancies; it finds one.
 */
export async function writeSimulatorHistory(db: Queryable, stateFile: string): Promise<void> {
  if (existsSync(stateFile)) return;
  const found = await rows<Row>(
    db,
    `SELECT a.id, a.channel, a.phone, a.received_santim AS amount_santim, a.currency, a.provider_reference, a.created_at,
            a.ended_at AS decided_at, NULL AS reversed_at, s.expires_at, 'SUCCESS' AS status,
            'Order ' || t.checkout_order_no AS title, NULL AS refund_of,
            NULL AS account_name
     FROM payment_attempt a JOIN checkout_session s ON s.id = a.session_id JOIN transaction t ON t.id = a.transaction_id
     WHERE a.environment = 'sandbox' AND a.received_santim IS NOT NULL
     UNION ALL
     SELECT id, channel, phone, amount_santim, currency, provider_reference, submitted_at,
            completed_at, reversed_at, submitted_at, status, NULL, NULL, account_name
     FROM withdrawal
     WHERE environment = 'sandbox' AND submitted_at IS NOT NULL AND status IN ('PENDING', 'SUCCESS', 'REVERSED')
       AND phone IS NOT NULL
     UNION ALL
     SELECT r.id, r.channel, a.phone, r.amount_santim, r.currency, r.provider_reference, r.submitted_at,
            r.completed_at, NULL, r.submitted_at, r.status, NULL, a.id, ''
     FROM refund r JOIN payment_attempt a ON a.id = r.attempt_id
     WHERE r.environment = 'sandbox' AND r.status = 'SUCCESS'`,
  );
  openStateFile(stateFile).append(...[...found, unknownPayment()].map((row) => ({ order: orderOf(row) })));
}

export const UNKNOWN_PAYMENT_SANTIM = 1_280_00n;

/** A payment of yesterday that only the provider has, so that the comparison of that day finds a discrepancy. */
function unknownPayment(): Row {
  const paidAt = new Date(startOfAddisDay(addisDay(new Date(Date.now() - DAY_MS))).getTime() + 10 * HOUR_MS);
  return {
    id: 'pat_01DEM0NLYATTHEPR0V1DER0000',
    channel: 'AWASH',
    phone: '251911000001',
    amountSantim: UNKNOWN_PAYMENT_SANTIM,
    currency: 'ETB',
    providerReference: 'DEMO000000000',
    createdAt: paidAt,
    decidedAt: paidAt,
    reversedAt: null,
    expiresAt: paidAt,
    status: 'SUCCESS',
    title: 'Paid at the branch',
    refundOf: null,
    accountName: '',
  };
}

/** An order whose callbacks are done. */
function orderOf(row: Row): Order {
  const { id, channel, phone, currency, status, title, refundOf } = row;
  const simulatedId = (one: string): string => (channel === 'TELEBIRR' ? toPlainOrderId(one) : one);
  const [amount, reference] = [formatBirr(row.amountSantim), row.providerReference ?? id];
  const isOpen = status === 'PENDING';
  const isPayment = title !== null;
  const request = {
    direction: isPayment ? ('payment' as const) : refundOf === null ? ('payout' as const) : ('refund' as const),
    channel,
    orderId: simulatedId(id),
    amount,
    currency,
    callbackUrl: 'http://localhost',
    phone,
    bankCode: '',
    accountNumber: '',
    title: title ?? row.accountName,
    returnUrl: null,
    expiresAtMs: isPayment ? row.expiresAt.getTime() : null,
    ...(refundOf !== null && { refundOf: simulatedId(refundOf) }),
  };
  const behaviour = isPayment ? 'approve' : isOpen ? 'never' : 'pay';
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
