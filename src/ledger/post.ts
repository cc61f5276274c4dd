import { first, rows, type Trx } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { notEnough } from '../lib/issues.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import { mirrorPosting, type Entry, type Posting } from './postings.ts';

/** SQLSTATE that ledger_post raises for an insufficient balance; DETAIL is the available amount. */
const INSUFFICIENT = 'MK001';

/**
 * Posts a journal in the transaction of the change it belongs to, in one SQL statement. `already`: the same journal exists.
 * Post last in a transaction: the merchant's balance stays locked until the commit. Throws INSUFFICIENT_BALANCE, after
 * which the transaction can only be rolled back.
 * @param at the effective time; entries are posted no earlier than the merchant's last one.
 */
export async function post(trx: Trx, posting: Posting, at: Date): Promise<'posted' | 'already'> {
  try {
    return (
      (await first<{ result: 'posted' | 'already' }>(trx, LEDGER_POST, valuesOf(posting, at)))?.result ?? 'already'
    );
  } catch (error) {
    throw insufficient(error, posting) ?? error;
  }
}

/**
 * Posts a journal that debits no merchant, and so is never rejected, without waiting for the result. As the last write of
 * a transaction it is sent with the COMMIT, which keeps the lock on the merchant's balance short.
 */
export async function postWithCommit(tx: Pick<UnitOfWork, 'writeDeferred'>, posting: Posting, at: Date): Promise<void> {
  await tx.writeDeferred(LEDGER_POST, valuesOf(posting, at));
}

/** Corrects a journal of the platform's accounts by its mirror. Idempotent. Throws Error where no such journal is. */
export async function reverse(trx: Trx, postingKey: string, at: Date): Promise<void> {
  const found = await rows<Omit<Posting, 'entries'> & Entry>(
    trx,
    `SELECT j.posting_key AS key, j.kind, j.merchant_id, j.environment, j.resource_type, j.resource_id, a.kind AS account,
            a.channel, e.amount_santim
     FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
     WHERE j.posting_key = :postingKey AND j.merchant_id IS NULL ORDER BY e.position`,
    { postingKey },
  );
  if (!found[0]) throw new Error(`no journal ${postingKey} of the platform's accounts`);
  await post(trx, mirrorPosting({ ...found[0], entries: found }), at);
}

const LEDGER_POST = `
  SELECT ledger_post(:id, :key, :kind, :merchantId, :environment, 'ETB', :resourceType, :resourceId, :at,
                     :accounts, :channels, :amounts) AS result`;

function valuesOf({ entries, ...posting }: Posting, at: Date) {
  return {
    ...posting,
    id: newId('jrn'),
    at,
    accounts: entries.map((entry) => entry.account),
    channels: entries.map((entry) => entry.channel ?? null),
    amounts: entries.map((entry) => entry.amountSantim),
  };
}

/** INSUFFICIENT_BALANCE, naming the amount with fee and tax and the available balance; null for any other error. */
function insufficient(error: unknown, { entries, resourceType }: Posting): AppError | null {
  if (!(error instanceof Error && 'code' in error && error.code === INSUFFICIENT && 'detail' in error)) return null;
  const wanted = entries.find((entry) => entry.account === 'AVAILABLE')?.amountSantim ?? 0n;
  // Only debits of the available balance can be rejected; any other insufficient balance is a bug.
  if (wanted >= 0n) return null;
  return insufficientBalance(resourceType, { wantedSantim: -wanted, availableSantim: BigInt(String(error.detail)) });
}

/** INSUFFICIENT_BALANCE of a payout or refund that takes more, with its fee and tax, than is available. */
export function insufficientBalance(
  resourceType: Posting['resourceType'],
  { wantedSantim, availableSantim }: { wantedSantim: Santim; availableSantim: Santim },
): AppError {
  const fee = resourceType === 'refund' ? '' : ' with its fee and tax';
  const issue = `this ${resourceType} takes ${formatBirr(wantedSantim)} ETB${fee}, and ${formatBirr(availableSantim)} ETB are available`;
  return new AppError('INSUFFICIENT_BALANCE', `The balance is not sufficient: ${issue}.`, {
    details: [{ field: 'amount', ...notEnough(issue, availableSantim) }],
  });
}
