import { existsSync } from 'node:fs';

import { type Queryable, rows } from '../../lib/db.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import { toPlainOrderId } from '../../providers/exchange.ts';
import type { SimulatedChannel } from '../../sandbox/simulator/faults.ts';
import type { Payment, Payout } from '../../sandbox/simulator/order.ts';
import { openStateFile } from '../../sandbox/simulator/state-file.ts';

type Row = {
  id: string;
  channel: SimulatedChannel;
  phone: string;
  amountSantim: Santim;
  currency: string;
  providerReference: string | null;
  createdAt: Date;
  decidedAt: Date | null;
};
type PaymentRow = Row & { expiresAt: Date; title: string };
type PayoutRow = Row & { accountName: string; state: 'ACCEPTED' | 'PAID' | 'REVERSED'; reversedAt: Date | null };

/**
 * Gives a simulator that never ran the demo's payments and payouts. Otherwise its statements would lack them, and every
 * reconciliation of those days would find discrepancies.
 */
export async function writeSimulatorHistory(db: Queryable, stateFile: string): Promise<void> {
  if (existsSync(stateFile)) return;
  const payments = await rows<PaymentRow>(
    db,
    `SELECT a.id, a.channel, a.phone, a.received_santim AS amount_santim, a.currency, a.provider_reference, a.created_at,
            a.ended_at AS decided_at, s.expires_at, 'Order ' || t.checkout_order_no AS title
     FROM payment_attempt a JOIN checkout_session s ON s.id = a.session_id JOIN transaction t ON t.id = a.transaction_id
     WHERE a.environment = 'sandbox' AND a.received_santim IS NOT NULL`,
  );
  const payouts = await rows<PayoutRow>(
    db,
    `SELECT id, channel, phone, account_name, amount_santim, currency, provider_reference,
            CASE status WHEN 'PENDING' THEN 'ACCEPTED' WHEN 'SUCCESS' THEN 'PAID' ELSE status END AS state,
            submitted_at AS created_at, completed_at AS decided_at, reversed_at
     FROM withdrawal
     WHERE environment = 'sandbox' AND submitted_at IS NOT NULL AND status IN ('PENDING', 'SUCCESS', 'REVERSED')
       AND phone IS NOT NULL`,
  );
  const orders = [...payments.map(paymentOf), ...payouts.map(payoutOf)];
  openStateFile(stateFile).append(...orders.map((order) => ({ order })));
}

function paymentOf(row: PaymentRow): Payment {
  return {
    ...recorded(row),
    phone: row.phone,
    title: row.title,
    returnUrl: null,
    expiresAtMs: row.expiresAt.getTime(),
    behaviour: 'approve',
    state: 'PAID',
    paidAmount: formatBirr(row.amountSantim),
    reversedAtMs: null,
  };
}

function payoutOf(row: PayoutRow): Payout {
  const { state, accountName, phone, reversedAt } = row;
  const isOpen = state === 'ACCEPTED';
  return {
    ...recorded(row),
    payee: { phone },
    accountName,
    behaviour: isOpen ? 'never' : 'pay',
    state,
    paidAmount: isOpen ? null : formatBirr(row.amountSantim),
    reversedAtMs: reversedAt?.getTime() ?? null,
  };
}

/** What payments and payouts share. Their callbacks are done. */
function recorded({ id, channel, amountSantim, currency, providerReference, createdAt, decidedAt }: Row) {
  const reference = providerReference ?? id;
  return {
    channel,
    orderId: channel === 'TELEBIRR' ? toPlainOrderId(id) : id,
    amount: formatBirr(amountSantim),
    currency,
    callbackUrl: 'http://localhost',
    reference,
    transactionReference: reference,
    createdAtMs: createdAt.getTime(),
    decidedAtMs: decidedAt?.getTime() ?? null,
    failure: null,
    faults: [],
    submissions: 1,
    queries: 1,
    callbacks: [],
  };
}
