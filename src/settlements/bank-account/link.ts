import type { BankCode } from '../../lib/banks.ts';
import { HOUR_MS } from '../../lib/dates.ts';
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
  const { bankCode, accountNumber, accountName, requestedBy, at } = wanted;
  const account = { bankCode, accountNumber, accountName };
  const before = await lockBankAccount(tx, scope);
  const isSame = before?.status !== 'REJECTED' && before?.bankCode === bankCode;
  if (isSame && before.accountNumber === accountNumber && before.accountName === accountName) return before;
  if (before) await tx.trx('bankAccount').where({ id: before.id }).update({ replacedAt: at });
  const isSandbox = scope.environment === 'sandbox';
  const verified = await tx.trx('bankAccount').where(scopeOf(scope)).whereNotNull('verifiedAt').first('id');
  const holdMs = verified && !isSandbox ? HOLD_MS : 0;
  const decision = isSandbox
    ? { status: 'VERIFIED', decidedBy: SANDBOX_OPERATOR, decidedAt: at, verifiedAt: at }
    : { status: 'PENDING' };
  const id = newId('bac', at.getTime());
  const usableFrom = new Date(at.getTime() + holdMs);
  const added = { ...scopeOf(scope), ...account, ...decision, id, requestedBy, createdAt: at, usableFrom };
  const [row]: BankAccountRow[] = await tx.trx('bankAccount').insert(added).returning('*');
  if (!row) throw new Error('the bank account was not inserted');
  return row;
}
