import { HOUR_MS } from '../../lib/dates.ts';
import { first } from '../../lib/db.ts';
import { createCheck } from '../../payouts/check.ts';
import { createRefund } from '../../payouts/refunds/create.ts';
import { REFUND } from '../../payouts/refunds/refund.ts';
import type { RefundOutcome } from '../../providers/provider.ts';
import { DEMO_KEY_ID } from './demo.ts';
import { advance, scriptedProvider, silentLogger, type HistoryItem, type SeedContext } from './history.ts';

const PROVIDER_TAKES_MS = 3_000;

/** Two refunds, 26 and 20 hours before: the provider has paid one, and has accepted the other, which then failed. */
export function refundItems(until: Date): HistoryItem[] {
  return (['succeeded', 'declined'] as const).map((end, index) => {
    const key = `RETURN-00${index + 1}`;
    const at = new Date(until.getTime() - (26 - 6 * index) * HOUR_MS);
    return { key, begunAt: at, completedAt: at, isAlone: true, seed: (context) => refund(context, key, end) };
  });
}

/** Refunds the newest payment by telebirr that has no refund yet. */
async function refund(context: SeedContext, reference: string, end: 'succeeded' | 'declined'): Promise<void> {
  const { scope, tx, clock } = context;
  const db = tx.trx;
  const payment = await first<{ id: string; amountSantim: bigint }>(
    db,
    `SELECT t.id, t.amount_santim FROM transaction t
     WHERE t.merchant_id = :merchantId AND t.environment = :environment AND t.status = 'SUCCESS'
       AND t.channel = 'TELEBIRR' AND NOT EXISTS (SELECT FROM payout r WHERE r.transaction_id = t.id)
     ORDER BY t.created_at DESC LIMIT 1`,
    scope,
  );
  // Of few payments, as tests seed them, none may be by telebirr.
  if (!payment) return;
  const { id: transactionId, amountSantim } = payment;
  const details = { amountSantim, currency: 'ETB', providerReference: `DEMO${reference}`, providerCode: null };
  const failure = {
    code: 'DECLINED',
    message: 'The provider accepted the refund, but it failed.',
    providerCode: 'REFUND_FAILED',
    retryable: true,
  } as const;
  const script = {
    capabilities: { payoutTo: [], refunds: true },
    refund: async (): Promise<RefundOutcome> => ({ kind: 'accepted', ...details }),
    queryRefund: async (): Promise<RefundOutcome> => ({ kind: end, ...details, failure }),
  };
  const findProvider = scriptedProvider('TELEBIRR', script);
  const wanted = { transactionId, reference, returnFee: false, requestedBy: DEMO_KEY_ID, reason: 'Ordered twice' };
  const { row } = await createRefund({ tx, clock, findProvider }, scope, wanted);
  const check = createCheck({ ...context, db, findProvider, log: silentLogger }, REFUND);
  for (const step of ['sent', 'queried']) {
    advance(context, PROVIDER_TAKES_MS);
    const { queried } = await check(row.id, { minIntervalMs: 0, notifyWorkflow: false });
    if (!queried) throw new Error(`${reference} cannot be ${step}: no call reached its provider.`);
  }
}
