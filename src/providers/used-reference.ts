import type { Trx } from '../lib/db.ts';
import { invalid } from '../lib/errors.ts';
import { lock } from '../lib/lock.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';

/** A payout (wd_…) or refund (rfd_…) that was paid under a provider's reference. */
export type PaidUnder = { id: string; environment: Environment; channel: Channel; providerReference: string };

/** Finds another one of a slice that was paid under the same reference. */
export type FindPaidUnder = (trx: Trx, paid: PaidUnder) => Promise<{ id: string } | undefined>;

/**
 * Throws INVALID_STATE if one of these finds another payout or refund that the reference has paid. Until the transaction ends,
 * no other one is booked under it.
 */
export async function requireUnusedReference(
  trx: Trx,
  paid: PaidUnder,
  finders: readonly FindPaidUnder[],
): Promise<void> {
  await lock(trx, 'payout_reference', `${paid.environment} ${paid.channel} ${paid.providerReference}`);
  for (const find of finders) {
    const other = await find(trx, paid);
    if (!other) continue;
    const issue = `is that of ${other.id}: give the one of ${paid.id}`;
    const existing = other.id.startsWith('rfd_') ? { refundId: other.id } : { withdrawalRequestId: other.id };
    throw invalid('providerReference', { issue, code: 'already_used' }, { code: 'INVALID_STATE', existing });
  }
}
