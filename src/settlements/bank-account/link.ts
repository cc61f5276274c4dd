import type { BankCode } from '../../lib/banks.ts';
import { HOUR_MS } from '../../lib/dates.ts';
import { rows } from '../../lib/db.ts';
import { newId } from '../../lib/ids.ts';
import { SANDBOX_OPERATOR } from '../../lib/sandbox-review.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { lockBankAccount, type BankAccountRow } from './queries.ts';

export type NewBankAccount = {
  bankCode: BankCode;
  accountNumber: string;
  accountName: string;
  /** key_… or opr_…: the requester cannot verify it. */
  requestedBy: string;
  at: Date;
};

/** A stolen key would first be used to change the account: no settlement uses the new one for this long. */
const HOLD_MS = 48 * HOUR_MS;

/**
 * Links the account that later settlements go to; the previous one becomes history. The sandbox verifies it at once; in
 * live an operator does, and the replacement of a verified account is held for 48 h. Idempotent for the same account,
 * unless it was rejected.
 */
export async function linkBankAccount(
  tx: UnitOfWork,
  scope: MerchantScope,
  wanted: NewBankAccount,
): Promise<BankAccountRow> {
  const before = await lockBankAccount(tx, scope);
  if (before && isSame(before, wanted)) return before;
  if (before) {
    const replaced = { id: before.id, at: wanted.at };
    await rows(tx.trx, 'UPDATE bank_account SET replaced_at = :at WHERE id = :id', replaced);
  }
  const isSandbox = scope.environment === 'sandbox';
  const [row] = await rows<BankAccountRow>(
    tx.trx,
    `INSERT INTO bank_account (id, merchant_id, environment, bank_code, account_number, account_name, status,
       requested_by, decided_by, created_at, decided_at, verified_at, usable_from)
     VALUES (:id, :merchantId, :environment, :bankCode, :accountNumber, :accountName, :status,
       :requestedBy, :decidedBy, :at, :decidedAt, :decidedAt,
       CASE WHEN EXISTS (SELECT 1 FROM bank_account
         WHERE merchant_id = :merchantId AND environment = :environment AND verified_at IS NOT NULL)
       THEN :heldUntil ELSE CAST(:at AS timestamptz) END)
     RETURNING *`,
    {
      ...wanted,
      ...scopeOf(scope),
      id: newId('bac', wanted.at.getTime()),
      status: isSandbox ? 'VERIFIED' : 'PENDING',
      decidedBy: isSandbox ? SANDBOX_OPERATOR : null,
      decidedAt: isSandbox ? wanted.at : null,
      // The sandbox has no hold.
      heldUntil: isSandbox ? wanted.at : new Date(wanted.at.getTime() + HOLD_MS),
    },
  );
  if (!row) throw new Error('the bank account was not inserted');
  return row;
}

function isSame(row: BankAccountRow, wanted: NewBankAccount): boolean {
  return (
    row.status !== 'REJECTED' &&
    row.bankCode === wanted.bankCode &&
    row.accountNumber === wanted.accountNumber &&
    row.accountName === wanted.accountName
  );
}
