import { rows, type Queryable } from '../lib/db.ts';
import { AppError, notFound } from '../lib/errors.ts';
import type { Change } from '../lib/outbox.ts';
import { ownerOf, type Owner } from '../lib/owner.ts';
import { findBankAccount, type BankAccountRow } from './model.ts';

export { findBankAccount };

/** Who decides about a linked account. `bankAccountId`: the one they looked at, should another be linked meanwhile. */
export type AccountDecision = { operatorId: string; at: Date; bankAccountId?: string | undefined };

/**
 * The account is the merchant's: settlements go to it. Said again it changes nothing. Throws NOT_FOUND where none is
 * linked, INVALID_STATE when it was rejected or replaced, or when who linked it would verify it.
 */
export async function verifyBankAccount(
  change: Change,
  owner: Owner,
  decision: AccountDecision,
): Promise<BankAccountRow> {
  return decide(change, owner, { ...decision, status: 'VERIFIED', rejection: null });
}

/**
 * The account is not accepted; the reason is shown to the merchant, who links another one. Said again it changes
 * nothing. Throws NOT_FOUND where none is linked, INVALID_STATE when it was verified or replaced.
 */
export async function rejectBankAccount(
  change: Change,
  owner: Owner,
  decision: AccountDecision & { reason: string },
): Promise<BankAccountRow> {
  return decide(change, owner, { ...decision, status: 'REJECTED', rejection: decision.reason });
}

/** Whose account this is. Throws NOT_FOUND. */
export async function findAccountOwner(db: Queryable, bankAccountId: string): Promise<Owner> {
  const sql = 'SELECT merchant_id, environment FROM bank_account WHERE id = :bankAccountId';
  const [owner] = await rows<Owner>(db, sql, { bankAccountId });
  if (!owner) throw notFound('bank account');
  return owner;
}

type Decided = AccountDecision & { status: 'VERIFIED' | 'REJECTED'; rejection: string | null };

async function decide(change: Change, owner: Owner, decided: Decided): Promise<BankAccountRow> {
  const { operatorId, at, status, rejection, bankAccountId } = decided;
  const [row] = await rows<BankAccountRow>(
    change.trx,
    `UPDATE bank_account SET status = :status, rejection = :rejection, decided_by = :operatorId, decided_at = :at,
       verified_at = CASE CAST(:status AS text) WHEN 'VERIFIED' THEN CAST(:at AS timestamptz) ELSE verified_at END
     WHERE merchant_id = :merchantId AND environment = :environment AND replaced_at IS NULL AND status = 'PENDING'
       AND requested_by <> :operatorId AND id = coalesce(CAST(:bankAccountId AS text), id)
     RETURNING *`,
    { ...ownerOf(owner), operatorId, at, status, rejection, bankAccountId: bankAccountId ?? null },
  );
  if (row) return row;
  const current = await findBankAccount(change.trx, owner);
  if (!current) throw notFound('bank account');
  if (bankAccountId !== undefined && current.id !== bankAccountId) {
    throw new AppError('INVALID_STATE', 'The merchant has linked another bank account meanwhile. Look at that one.');
  }
  if (current.status === status && current.rejection === rejection) return current;
  if (current.status === 'PENDING') {
    throw new AppError(
      'INVALID_STATE',
      'Who linked a bank account may not decide about it. Let another operator look.',
    );
  }
  throw new AppError(
    'INVALID_STATE',
    `This bank account is ${current.status}: only one that is PENDING can be decided.`,
  );
}
