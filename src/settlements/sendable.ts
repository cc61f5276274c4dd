import { AppError } from '../lib/errors.ts';
import { requireNotSuspended } from '../merchants/suspended.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { rejectionOf } from './bank-account/usable.ts';
import type { SettlementRow } from './model.ts';

/**
 * Money may leave for this settlement: its merchant is not suspended, and the account it goes to was not rejected since
 * it was asked for. Throws INVALID_STATE, saying what to do.
 */
export async function requireSendable(
  { trx }: UnitOfWork,
  row: SettlementRow,
  { verb, instead }: { verb: 'approved' | 'sent'; instead: string },
): Promise<void> {
  await requireNotSuspended(trx, row.merchantId, { what: `this settlement is not ${verb}`, instead });
  const rejection = await rejectionOf(trx, row.bankAccountId);
  if (rejection === null) return;
  const why = `The bank account ${row.bankAccountId} was rejected since this was asked for (${rejection})`;
  throw new AppError('INVALID_STATE', `${why}: the settlement is not ${verb}; ${instead}.`);
}
