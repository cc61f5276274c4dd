import { existsSync } from 'node:fs';

import { type Database, openDatabase, rows } from '../../lib/db.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import { toPlainOrderId } from '../../providers/exchange.ts';
import type { SimulatedChannel } from '../../sandbox/simulator/faults.ts';
import type { Order } from '../../sandbox/simulator/order.ts';
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
    openStateFile(stateFile).append(...orders.map((order) => ({ order })));
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
  const found = await rows<Row & { expiresAt: Date; title: string }>(
    db,
    `SELECT a.id, a.channel, a.phone, a.received_santim AS amount_santim, a.currency, a.provider_reference, a.created_at,
            a.ended_at AS decided_at, s.expires_at, 'Order ' || t.checkout_order_no AS title
     FROM payment_attempt a JOIN checkout_session s ON s.id = a.session_id JOIN transaction t ON t.id = a.transaction_id
     WHERE a.environment = 'sandbox' AND a.received_santim IS NOT NULL`,
  );
  return found.map((row) => ({
    ...recorded(row),
    direction: 'payment',
    title: row.title,
    returnUrl: null,
    expiresAtMs: row.expiresAt.getTime(),
    behaviour: 'approve',
    state: 'PAID',
    paidAmount: formatBirr(row.amountSantim),
    reversedAtMs: null,
  }));
}

async function submittedPayouts(db: Database): Promise<Order[]> {
  const found = await rows<Row & { accountName: string; state: Order['state']; reversedAt: Date | null }>(
    db,
    `SELECT id, channel, phone, account_name, amount_santim, currency, provider_reference,
            CASE status WHEN 'PENDING' THEN 'ACCEPTED' WHEN 'SUCCESS' THEN 'PAID' ELSE status END AS state,
            submitted_at AS created_at, completed_at AS decided_at, reversed_at
     FROM withdrawal
     WHERE environment = 'sandbox' AND submitted_at IS NOT NULL AND status IN ('PENDING', 'SUCCESS', 'REVERSED')
       AND phone IS NOT NULL`,
  );
  return found.map(({ state, accountName, ...row }) => ({
    ...recorded(row),
    direction: 'payout',
    title: accountName,
    returnUrl: null,
    expiresAtMs: null,
    behaviour: state === 'ACCEPTED' ? 'never' : 'pay',
    state,
    paidAmount: state === 'ACCEPTED' ? null : formatBirr(row.amountSantim),
    reversedAtMs: row.reversedAt?.getTime() ?? null,
  }));
}

/** What payments and payouts share. Their callbacks are done. */
function recorded({ id, channel, phone, amountSantim, currency, providerReference, createdAt, decidedAt }: Row) {
  const reference = providerReference ?? id;
  return {
    channel,
    phone,
    bankCode: '',
    accountNumber: '',
    orderId: channel === 'TELEBIRR' ? toPlainOrderId(id) : id,
    amount: formatBirr(amountSantim),
    currency,
    callbackUrl: 'http://localhost',
    reference,
    transactionReference: reference,
    createdAtMs: createdAt.getTime(),
    decidedAtMs: decidedAt?.getTime() ?? null,
    failure: null,
    faults: {},
    submissions: 1,
    queries: 1,
    callbacks: [],
  };
}
