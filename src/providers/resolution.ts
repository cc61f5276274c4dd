import { first, type Trx } from '../lib/db.ts';
import { invalid } from '../lib/errors.ts';
import { lock } from '../lib/lock.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';

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

/** A payout or refund, and what was paid of it where that differs from its amount. */
type Resolved = { status: string; amountSantim: Santim; paidSantim: Santim | null };

/**
 * What was paid, by an operator's resolution of a payout or refund; 0 where nothing was. Throws VALIDATION_ERROR for an amount
 * of one that failed, and another one than is booked.
 */
export function readPaid(
  row: Resolved,
  { outcome, paidSantim }: { outcome: 'COMPLETED' | 'FAILED'; paidSantim?: Santim | undefined },
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
