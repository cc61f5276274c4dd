import { existsSync } from 'node:fs';

import { openDatabase, rows, type Knex } from '../../lib/db.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import { toPlainOrderId } from '../../providers/exchange.ts';
import type { SimulatedChannel } from '../../sandbox/simulator/faults.ts';
import type { Order } from '../../sandbox/simulator/order.ts';
import type { Payout } from '../../sandbox/simulator/payout.ts';
import { openStateFile } from '../../sandbox/simulator/state-file.ts';

/**
 * Lets a simulator that never ran remember the demo's past as we do: what was paid and paid out before it started.
 * Otherwise its lists would not know it, and every reconciliation of those days would differ.
 */
export async function writeSimulatorHistory(databaseUrl: string, stateFile: string): Promise<void> {
  if (existsSync(stateFile)) return;
  const db = openDatabase({ url: databaseUrl, poolMax: 1, applicationName: 'meskot-seed', unlimitedStatements: true });
  try {
    const [orders, payouts] = [await paidOrders(db), await sentPayouts(db)];
    const file = openStateFile(stateFile);
    for (const order of orders) file.saveOrder(order);
    for (const payout of payouts) file.savePayout(payout);
  } finally {
    await db.destroy();
  }
}

/** Nobody is called back about the past. */
const SETTLED = { callbackUrl: 'http://localhost', faults: [], queries: 1, callbacks: [] };

type Paid = {
  id: string;
  channel: SimulatedChannel;
  phone: string;
  receivedSantim: Santim;
  currency: string;
  providerReference: string;
  createdAt: Date;
  endedAt: Date;
  expiresAt: Date;
  checkoutOrderNo: string;
};

async function paidOrders(db: Knex): Promise<Order[]> {
  const found = await rows<Paid>(
    db,
    `SELECT a.id, a.channel, a.phone, a.received_santim, a.currency, a.provider_reference, a.created_at, a.ended_at,
            s.expires_at, t.checkout_order_no
     FROM payment_attempt a JOIN checkout_session s ON s.id = a.session_id JOIN transaction t ON t.id = a.transaction_id
     WHERE a.environment = 'sandbox' AND a.received_santim IS NOT NULL`,
  );
  return found.map((paid) => ({
    ...SETTLED,
    channel: paid.channel,
    orderId: providersId(paid),
    phone: paid.phone,
    amount: formatBirr(paid.receivedSantim),
    currency: paid.currency,
    title: `Order ${paid.checkoutOrderNo}`,
    returnUrl: null,
    expiresAtMs: paid.expiresAt.getTime(),
    reference: paid.providerReference,
    transactionReference: paid.providerReference,
    createdAtMs: paid.createdAt.getTime(),
    behaviour: 'approve',
    state: 'PAID',
    decidedAtMs: paid.endedAt.getTime(),
    paidAmount: formatBirr(paid.receivedSantim),
    rejection: null,
  }));
}

type Sent = {
  id: string;
  channel: SimulatedChannel;
  phone: string;
  accountName: string;
  amountSantim: Santim;
  currency: string;
  status: 'PENDING' | 'SUCCESS' | 'REVERSED';
  providerReference: string | null;
  submittedAt: Date;
  completedAt: Date | null;
  reversedAt: Date | null;
};

async function sentPayouts(db: Knex): Promise<Payout[]> {
  const found = await rows<Sent>(
    db,
    `SELECT id, channel, phone, account_name, amount_santim, currency, status, provider_reference, submitted_at, completed_at,
            reversed_at
     FROM withdrawal
     WHERE environment = 'sandbox' AND submitted_at IS NOT NULL AND status IN ('PENDING', 'SUCCESS', 'REVERSED')
       AND phone IS NOT NULL`,
  );
  return found.map((sent) => ({
    ...SETTLED,
    channel: sent.channel,
    orderId: providersId(sent),
    payee: { phone: sent.phone },
    accountName: sent.accountName,
    amount: formatBirr(sent.amountSantim),
    currency: sent.currency,
    reference: sent.providerReference ?? sent.id,
    transactionReference: sent.providerReference ?? sent.id,
    createdAtMs: sent.submittedAt.getTime(),
    behaviour: sent.status === 'PENDING' ? 'never' : 'pay',
    state: sent.status === 'PENDING' ? 'ACCEPTED' : sent.status === 'REVERSED' ? 'REVERSED' : 'PAID',
    decidedAtMs: sent.completedAt?.getTime() ?? null,
    paidAmount: sent.status === 'PENDING' ? null : formatBirr(sent.amountSantim),
    failure: null,
    reversedAtMs: sent.reversedAt?.getTime() ?? null,
    submissions: 1,
  }));
}

/** telebirr takes letters and digits only. */
function providersId({ channel, id }: { channel: SimulatedChannel; id: string }): string {
  return channel === 'TELEBIRR' ? toPlainOrderId(id) : id;
}
