import { rows, type Knex } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { CheckAttempt } from '../transactions/check.ts';
import { ASKABLE_ATTEMPTS, isAskable } from '../transactions/states.ts';
import type { CheckPayout } from '../withdrawals/check.ts';

export type SettleDeps = {
  db: Knex;
  checkAttempt: CheckAttempt;
  checkPayout: CheckPayout;
  log: Pick<Logger, 'warn'>;
};

/** `after`: the last order asked about, null when there are no more. `doubts`: how many must be asked about again. */
export type Settled = { after: string | null; asked: number; doubts: number };

const BATCH = 20;
/** Questions to one provider at a time. */
const AT_ONCE = 5;

/** An order to ask its provider about; `listed`: because the list says it moved, and not because we are in doubt. */
type Doubtful = { orderId: string; type: 'payment' | 'payout'; listed: boolean };

/**
 * Asks the provider about the next orders whose list and our books disagree: listed as paid and not booked, listed as
 * back and still paid here, or ended while nobody knew. The list itself is believed in nothing: what the answers say is
 * booked by the one operation that books payments, and the one of payouts.
 */
export async function settleListed(
  deps: SettleDeps,
  asked: { reconciliationId: string; after: string; at: Date },
): Promise<Settled> {
  const found = await findDoubtful(deps.db, asked);
  let doubts = 0;
  for (let index = 0; index < found.length; index += AT_ONCE) {
    const group = found.slice(index, index + AT_ONCE);
    const inDoubt = await Promise.all(group.map(async (one) => isStillInDoubt(deps, one, asked.at)));
    doubts += inDoubt.filter(Boolean).length;
  }
  const last = found.length < BATCH ? null : (found.at(-1)?.orderId ?? null);
  return { after: last, asked: found.length, doubts };
}

/** Whether the provider must be asked again; a definite answer that contradicts the list is none of that. */
async function isStillInDoubt(deps: SettleDeps, { orderId, type, listed }: Doubtful, now: Date): Promise<boolean> {
  try {
    const options = { minIntervalMs: 0, tellWorkflow: true, now };
    if (type === 'payment') {
      const state = await deps.checkAttempt(orderId, options);
      return listed && isAskable(state.attemptStatus) && (!state.asked || state.outcomeKind === 'unknown');
    }
    const { row, asked, outcome } = await deps.checkPayout(orderId, options);
    return (row.status === 'PENDING' || row.status === 'SUCCESS') && (!asked || outcome === 'unknown');
  } catch (error) {
    deps.log.warn({ err: error, orderId }, 'a listed order could not be asked about yet');
    return listed;
  }
}

async function findDoubtful(
  db: Knex,
  { reconciliationId, after }: { reconciliationId: string; after: string },
): Promise<Doubtful[]> {
  return rows<Doubtful>(
    db,
    `WITH this AS (
       SELECT *, CAST(day AS timestamp) AT TIME ZONE 'Africa/Addis_Ababa' AS starts_at,
              CAST(day + 1 AS timestamp) AT TIME ZONE 'Africa/Addis_Ababa' AS ends_at
       FROM reconciliation WHERE id = :reconciliationId
     ), doubtful AS (
       SELECT l.order_id, 'payment' AS type, true AS listed
       FROM listed_row l JOIN payment_attempt a ON a.id = l.order_id
       WHERE l.reconciliation_id = :reconciliationId AND l.type = 'payment'
         AND a.environment = l.environment AND a.channel = l.channel AND a.status = ANY (:askable)
       UNION
       SELECT l.order_id, 'payout', true
       FROM listed_row l JOIN withdrawal w ON w.id = l.order_id
       WHERE l.reconciliation_id = :reconciliationId AND w.environment = l.environment AND w.channel = l.channel
         AND ((w.status = 'PENDING' AND w.stage <> 'UNDER_REVIEW' AND l.type <> 'payment')
           OR (w.status = 'SUCCESS' AND l.type = 'payoutReversal'))
       UNION
       SELECT a.id, 'payment', false
       FROM transaction t JOIN checkout_session s ON s.id = t.session_id JOIN payment_attempt a ON a.transaction_id = t.id
       JOIN this ON this.environment = a.environment AND this.channel = a.channel
       WHERE t.reconcile AND a.status = ANY (:askable)
         AND a.initiated_at < this.ends_at AND s.ended_at >= this.starts_at
         AND NOT EXISTS (SELECT FROM listed_row l WHERE l.order_id = a.id AND l.type = 'payment')
     )
     SELECT * FROM doubtful WHERE order_id COLLATE "C" > :after ORDER BY order_id COLLATE "C" LIMIT ${BATCH}`,
    { reconciliationId, after, askable: [...ASKABLE_ATTEMPTS] },
  );
}
