import { addisDay } from '../lib/dates.ts';
import { rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { Change } from '../lib/outbox.ts';
import type { SettlementRow } from './model.ts';

type Claim = Pick<SettlementRow, 'id' | 'environment'>;

/**
 * The bank's trace id of a credit is of one settlement only: of two that claim it in the same moment the second waits
 * for the first. Throws INVALID_STATE, naming the other one.
 */
export async function requireOwnReference(change: Change, claim: Claim, bankReference: string): Promise<void> {
  const used = `SELECT id, credited_at AS at FROM settlement
    WHERE environment = :environment AND bank_reference = :bankReference AND credited_at IS NOT NULL AND id <> :id`;
  await requireUnused(change, { ...claim, bankReference }, { used, what: 'the credit' });
}

/** The same of a credit's way back. */
export async function requireOwnReturn(change: Change, claim: Claim, bankReference: string): Promise<void> {
  const used = `SELECT id, returned_at AS at FROM settlement
    WHERE environment = :environment AND return_reference = :bankReference AND id <> :id`;
  await requireUnused(change, { ...claim, bankReference }, { used, what: 'the return' });
}

async function requireUnused(
  { trx }: Change,
  { id, environment, bankReference }: Claim & { bankReference: string },
  { used, what }: { used: string; what: string },
): Promise<void> {
  const key = `bank reference ${environment} ${bankReference}`;
  await rows(trx, 'SELECT pg_advisory_xact_lock(hashtextextended(CAST(:key AS text), 0))', { key });
  const [other] = await rows<{ id: string; at: Date }>(trx, used, { id, environment, bankReference });
  if (!other) return;
  const issue = `"${bankReference}" is ${what} of ${other.id}, on ${addisDay(other.at)}`;
  throw new AppError(
    'INVALID_STATE',
    `bankReference ${issue}: it is of one settlement only. Look at the bank's statement again.`,
    { details: [{ field: 'bankReference', issue }] },
  );
}
