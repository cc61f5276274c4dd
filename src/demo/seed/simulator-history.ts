import { existsSync } from 'node:fs';

import { type Database, openDatabase, rows } from '../../lib/db.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import { toPlainOrderId } from '../../providers/exchange.ts';
import type { SimulatedChannel } from '../../sandbox/simulator/faults.ts';
import type { Order, Payout } from '../../sandbox/simulator/order.ts';
import { openStateFile } from '../../sandbox/simulator/state-file.ts';

/**
 * Gives a simulator that never ran the demo's payments and payouts. Otherwise its statements would lack them, and every
 * reconciliation of those days would find discrepancies.
 */
export async function writeSimulatorHistory(databaseUrl: string, stateFile: string): Promise<void> {
  if (existsSync(stateFile)) return;
  const db = openDatabase({ url: databaseUrl, poolMax: 1, applicationName: 'meskot-seed', unlimitedStatements: true });
  try {
    const orders = [...(await paidOrders(db)), ...(await submittedPayouts(db))];
    const file = openStateFile(stateFile);
    for (const order of orders) file.saveOrder(order);
  } finally {
    await db.destroy();
  }
}

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

async function paidOrders(db: Database): Promise<Order[]> {
  const found = await rows<Row & { expiresAt: Date; checkoutOrderNo: string }>(
    db,
    `SELECT a.id, a.channel, a.phone, a.received_santim AS amount_santim, a.currency, a.provider_reference, a.created_at,
            a.ended_at AS decided_at, s.expires_at, t.checkout_order_no
     FROM payment_attempt a JOIN checkout_session s ON s.id = a.session_id JOIN transaction t ON t.id = a.transaction_id
     WHERE a.environment = 'sandbox' AND a.received_santim IS NOT NULL`,
  );
  return found.map((row) => ({
    ...recorded(row),
    phone: row.phone,
    title: `Order ${row.checkoutOrderNo}`,
    returnUrl: null,
    expiresAtMs: row.expiresAt.getTime(),
    behaviour: 'approve',
    state: 'PAID',
    paidAmount: formatBirr(row.amountSantim),
    rejection: null,
  }));
}

type PayoutRow = Row & { accountName: string; status: 'PENDING' | 'SUCCESS' | 'REVERSED'; reversedAt: Date | null };

async function submittedPayouts(db: Database): Promise<Payout[]> {
  const found = await rows<PayoutRow>(
    db,
    `SELECT id, channel, phone, account_name, amount_santim, currency, status, provider_reference,
            submitted_at AS created_at, completed_at AS decided_at, reversed_at
     FROM withdrawal
     WHERE environment = 'sandbox' AND submitted_at IS NOT NULL AND status IN ('PENDING', 'SUCCESS', 'REVERSED')
       AND phone IS NOT NULL`,
  );
  const states = { PENDING: 'ACCEPTED', SUCCESS: 'PAID', REVERSED: 'REVERSED' } as const;
  return found.map((row) => ({
    ...recorded(row),
    payee: { phone: row.phone },
    accountName: row.accountName,
    behaviour: row.status === 'PENDING' ? 'never' : 'pay',
    state: states[row.status],
    paidAmount: row.status === 'PENDING' ? null : formatBirr(row.amountSantim),
    failure: null,
    reversedAtMs: row.reversedAt?.getTime() ?? null,
  }));
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
    faults: [],
    submissions: 1,
    queries: 1,
    callbacks: [],
  };
}
