import { requireAnotherPerson, type Actor } from '../access/separation-of-duties.ts';
import { DAY_MS } from '../lib/dates.ts';
import { first, type Queryable, type Trx } from '../lib/db.ts';
import { invalid } from '../lib/errors.ts';
import { lock } from '../lib/lock.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { RESOLUTIONS } from '../providers/states.ts';
import type { PayoutRow } from './queries.ts';

/** A payout (wd_…) or refund (rfd_…), and the provider's reference of its payment. */
type PaidUnder = { id: string; environment: Environment; channel: Channel; providerReference: string };

/** Another payout or refund that the reference has paid; null: none, and until the transaction ends none is confirmed under it. */
export async function findPaidUnder(trx: Trx, paid: PaidUnder): Promise<string | null> {
  const { environment, channel, providerReference } = paid;
  await lock(trx, 'payout_reference', `${environment} ${channel} ${providerReference}`);
  const sql = 'SELECT paid_under(:id, :environment, :channel, :providerReference) AS id';
  return (await first<{ id: string | null }>(trx, sql, paid))?.id ?? null;
}

/** Throws INVALID_STATE if the reference has paid another payout or refund. */
export async function requireUnusedReference(trx: Trx, paid: PaidUnder): Promise<void> {
  const other = await findPaidUnder(trx, paid);
  if (other === null) return;
  const issue = `is that of ${other}: give the one of ${paid.id}`;
  const existing = other.startsWith('rfd_') ? { refundId: other } : { withdrawalRequestId: other };
  throw invalid('providerReference', { issue, code: 'already_used' }, { code: 'INVALID_STATE', existing });
}

/** What an operator has found out at the provider. COMPLETED: the receiver has the money; FAILED: the receiver has none of it. */
export type Resolution = {
  outcome: (typeof RESOLUTIONS)[number];
  /** The provider's, of the payout or refund, or of its statement that there is none. */
  providerReference: string;
  /** What was paid, where that is not the amount; of COMPLETED only. */
  paidSantim?: Santim | undefined;
  reason: string;
};

/** Whether its provider has called it pending for a day: it is treated as unknown. */
export function isSlow({ stage, submittedAt }: Pick<PayoutRow, 'stage' | 'submittedAt'>, at: Date): boolean {
  return stage === 'SUBMITTED' && submittedAt !== null && at.getTime() - submittedAt.getTime() >= DAY_MS;
}

/** Throws INVALID_STATE in live for an operator who has requested it, or confirmed it for the merchant. */
export async function requireUninvolved(
  db: Queryable,
  operator: Actor,
  { row, ...decision }: { row: PayoutRow; what: 'withdrawal' | 'refund'; verb: 'approve' | 'resolve' },
): Promise<void> {
  const { environment, requestedBy, confirmedBy } = row;
  const check = { environment, ...decision } as const;
  await requireAnotherPerson(db, operator, { ...check, preparedBy: requestedBy });
  await requireAnotherPerson(db, operator, { ...check, preparedBy: confirmedBy, done: 'confirmed' });
}

/**
 * What was paid, by an operator's resolution of a payout or refund; 0 where nothing was. Throws VALIDATION_ERROR for an amount
 * of one that failed, and another one than is booked.
 */
export function readPaid(
  row: Pick<PayoutRow, 'status' | 'amountSantim' | 'paidSantim'>,
  { outcome, paidSantim }: Pick<Resolution, 'outcome' | 'paidSantim'>,
): Santim {
  if (outcome === 'FAILED') {
    if (paidSantim === undefined) return 0n;
    throw notAllowed('is what was paid: leave it out where nothing was');
  }
  const paid = row.paidSantim ?? row.amountSantim;
  if (row.status !== 'SUCCESS' || paidSantim === undefined || paidSantim === paid) return paidSantim ?? paid;
  throw notAllowed(`is booked, ${formatBirr(paid)} ETB: leave it out`);
}

const notAllowed = (issue: string) => invalid('paidAmount', { issue, code: 'not_allowed' });
