import { requireAnotherMember } from '../access/separation-of-duties.ts';
import type { Database } from '../lib/db.ts';
import { invalidState } from '../lib/errors.ts';
import type { MerchantScope } from '../lib/scope.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import { findPayout, payoutById, stateOf, type PayoutRow } from './queries.ts';
import type { PayoutRules } from './rules.ts';
import { confirmableUntil } from './states.ts';
import { transitionPayout } from './transition.ts';

/** A merchant's payout that waits for its second person: our id, or the merchant's own reference. */
type Awaiting = { scope: MerchantScope; idOrReference: string; at: Date };

/**
 * The confirmation by a second person of the merchant: the payout goes on to its review, or to be sent. Throws NOT_FOUND;
 * INVALID_STATE unless it waits for one, after 7 days, or, in live, if the person has requested it.
 * @param notices sentences that are added to the message of the response.
 */
export async function confirmPayout<Row extends PayoutRow>(
  tx: UnitOfWork,
  rules: PayoutRules<Row>,
  { userId, notices, ...awaiting }: Awaiting & { userId: string; notices: string[] },
): Promise<Row> {
  const { at } = awaiting;
  const before = await lockAwaiting(tx, rules, awaiting);
  const until = confirmableUntil(before.requestedAt);
  if (at >= until) {
    const { says } = rules.unconfirmed;
    throw invalidState(`This ${rules.kind} could be confirmed until ${until.toISOString()}${says}`);
  }
  await requireAnotherMember(tx.trx, { userId, notices }, { ...before, what: rules.kind });
  const row = await rules.confirm(tx, before, {
    confirmedBy: userId,
    confirmedAt: at,
    version: before.version + 1,
  });
  await tx.enqueue([rules.message(row, 'confirmed')]);
  return row;
}

/** The decision not to confirm it: it ends, and its money is available again. Throws NOT_FOUND, INVALID_STATE. */
export async function declinePayout<Row extends PayoutRow>(
  tx: UnitOfWork,
  rules: PayoutRules<Row>,
  { reason, ...awaiting }: Awaiting & { reason: string },
): Promise<Row> {
  const before = await lockAwaiting(tx, rules, awaiting);
  return transitionPayout(tx, rules, { ...rules.declined(reason), before, at: awaiting.at });
}

/**
 * Ends a locked payout that was not confirmed in time, and mails those who could have confirmed it, where its rules say so;
 * the row as it is if it does not wait, or still may be confirmed.
 */
export async function endUnconfirmed<Row extends PayoutRow>(
  tx: UnitOfWork,
  rules: PayoutRules<Row>,
  { before, ...end }: { before: Row; at: Date; notifyWorkflow: boolean },
): Promise<Row> {
  if (before.stage !== 'AWAITING_CONFIRMATION' || end.at < confirmableUntil(before.requestedAt)) return before;
  const { says: _, ...unconfirmed } = rules.unconfirmed;
  const row = await transitionPayout(tx, rules, { ...unconfirmed, ...end, before });
  await rules.notifyUnconfirmed?.(tx, row);
  return row;
}

/** The payout; ended, where it was not confirmed in time. For its workflow. */
export async function readConfirmable<Row extends PayoutRow>(
  { db, runInTransaction }: { db: Database; runInTransaction: RunInTransaction },
  rules: PayoutRules<Row>,
  { id, at }: { id: string; at: Date },
): Promise<Row> {
  const { read, lock } = payoutById<Row>(rules.kind);
  const row = await read(db, id);
  if (row.stage !== 'AWAITING_CONFIRMATION') return row;
  const end = { at, notifyWorkflow: false };
  return runInTransaction(async (tx) => endUnconfirmed(tx, rules, { before: await lock(tx.trx, id), ...end }));
}

async function lockAwaiting<Row extends PayoutRow>(
  { trx }: UnitOfWork,
  { kind }: PayoutRules<Row>,
  { scope, idOrReference }: Awaiting,
): Promise<Row> {
  const { id } = await findPayout<Row>(trx, scope, { kind, idOrReference });
  const row = await payoutById<Row>(kind).lock(trx, id);
  if (row.stage === 'AWAITING_CONFIRMATION') return row;
  throw invalidState(`This ${kind} is ${stateOf(row)}: only one that waits for a second person can be decided here.`);
}
