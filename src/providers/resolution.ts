import type { Trx } from '../lib/db.ts';
import { invalid } from '../lib/errors.ts';
import { lock } from '../lib/lock.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';

/** A payout (wd_…) or refund (rfd_…) that was paid under a provider's reference. */
export type PaidUnder = { id: string; environment: Environment; channel: Channel; providerReference: string };

/** Finds another one of a slice that was paid under the same reference. */
export type FindPaidUnder = (trx: Trx, paid: PaidUnder) => Promise<{ id: string } | undefined>;

/**
 * Another payout or refund that the reference has paid, if one of these finds it. Until the transaction ends, no other one is
 * confirmed under it.
 */
export async function findPaidUnder(
  trx: Trx,
  paid: PaidUnder,
  finders: readonly FindPaidUnder[],
): Promise<{ id: string } | undefined> {
  await lock(trx, 'payout_reference', `${paid.environment} ${paid.channel} ${paid.providerReference}`);
  for (const find of finders) {
    const other = await find(trx, paid);
    if (other) return other;
  }
  return undefined;
}

/** Throws INVALID_STATE if one of these finds another payout or refund that the reference has paid. */
export async function requireUnusedReference(...search: Parameters<typeof findPaidUnder>): Promise<void> {
  const other = await findPaidUnder(...search);
  if (!other) return;
  const issue = `is that of ${other.id}: give the one of ${search[1].id}`;
  const existing = other.id.startsWith('rfd_') ? { refundId: other.id } : { withdrawalRequestId: other.id };
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
