import { addisDay } from '../lib/dates.ts';
import { rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { Change } from '../lib/outbox.ts';
import type { SettlementRow } from './model.ts';

/**
 * The bank's trace id of a credit is of one settlement only: of two that claim it in the same moment the second waits
 * for the first. Throws INVALID_STATE, naming the other one.
 */
export async function requireOwnReference(
  { trx }: Pick<Change, 'trx'>,
  { id, environment }: Pick<SettlementRow, 'id' | 'environment'>,
  bankReference: string,
): Promise<void> {
  const key = `bank reference ${environment} ${bankReference}`;
  await rows(trx, 'SELECT pg_advisory_xact_lock(hashtextextended(CAST(:key AS text), 0))', { key });
  const [other] = await rows<{ id: string; creditedAt: Date }>(
    trx,
    `SELECT id, credited_at FROM settlement
     WHERE environment = :environment AND bank_reference = :bankReference AND credited_at IS NOT NULL AND id <> :id`,
    { id, environment, bankReference },
  );
  if (!other) return;
  const issue = `"${bankReference}" is the credit of ${other.id}, on ${addisDay(other.creditedAt)}`;
  throw new AppError(
    'INVALID_STATE',
    `bankReference ${issue}: one credit is of one settlement. Look at the bank's statement again.`,
    { details: [{ field: 'bankReference', issue }] },
  );
}
