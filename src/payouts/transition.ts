import { post } from '../ledger/post.ts';
import { latePayoutPosting, payoutPosting, releasePosting, reversalPosting } from '../ledger/postings.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { closeCase } from './cases.ts';
import { changePayout, type PayoutRow } from './queries.ts';
import type { PayoutRules, Transition } from './rules.ts';

const POSTINGS = {
  SUCCESS: payoutPosting,
  FAILED: releasePosting,
  REJECTED: releasePosting,
  CANCELLED: releasePosting,
  REVERSED: reversalPosting,
} as const;

/**
 * Writes one transition of a locked payout in the caller's transaction: the row, its timeline, its event, the signal to its
 * workflow, and its journal. Closes an open case of its provider's contradictions.
 */
export async function transitionPayout<Row extends PayoutRow>(
  tx: UnitOfWork,
  rules: PayoutRules<Row>,
  { before, to, entry, changes = {}, at, notifyWorkflow = true }: Transition & { before: Row },
): Promise<Row> {
  const { trx } = tx;
  const { id, kind } = before;
  const status: Row['status'] = before.status;
  if (!rules.transitions[status].includes(to)) throw new Error(`${kind} ${id} is ${status}, not to be ${to}`);
  const row = await changePayout(trx, before, {
    failure: null,
    ...changes,
    ...(to === 'SUCCESS' && (await rules.feeOfPaid?.(trx, before, changes))),
    status: to,
    stage: 'COMPLETED',
    leaseUntil: null,
    version: before.version + 1,
    ...(to === 'REVERSED' ? { reversedAt: at } : { completedAt: at }),
  });
  await closeCase(trx, id, at);
  if (to === 'SUCCESS') await rules.afterPaid?.(trx, row);
  await rules.recordEntry(trx, row, { at, ...(entry ?? rules.entryOf(row, to)) });
  await rules.recordEnd(tx, row, { to, at });
  if (notifyWorkflow && status === 'PENDING') await tx.enqueue([rules.message(row, to)]);
  const posting = status === 'FAILED' ? latePayoutPosting : POSTINGS[to];
  const posted = await post(trx, posting(rules.toPosted(row, before)), at);
  if (posted !== 'posted') throw new Error(`${kind} ${id} is ${to} without its journal: ${posted}`);
  return row;
}
