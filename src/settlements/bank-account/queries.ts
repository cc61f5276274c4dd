import type { BankCode } from '../../lib/banks.ts';
import type { Queryable } from '../../lib/db.ts';
import { AppError } from '../../lib/errors.ts';
import { lock } from '../../lib/lock.ts';
import { maskDigits } from '../../lib/mask.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';

export type BankAccountStatus = 'PENDING' | 'VERIFIED' | 'REJECTED';

/** A row of `bank_account`. Bank, number and name never change: another account is another row. */
export type BankAccountRow = MerchantScope & {
  id: string;
  bankCode: BankCode;
  accountNumber: string;
  accountName: string;
  status: BankAccountStatus;
  rejectionReason: string | null;
  requestedBy: string;
  decidedBy: string | null;
  createdAt: Date;
  usableFrom: Date;
  decidedAt: Date | null;
  /** When it was verified, even if it was rejected later. */
  verifiedAt: Date | null;
  replacedAt: Date | null;
};

/** The linked account; undefined without one. */
export async function findBankAccount(db: Queryable, scope: MerchantScope): Promise<BankAccountRow | undefined> {
  return db<BankAccountRow>('bankAccount')
    .where({ ...scopeOf(scope), replacedAt: null })
    .first();
}

/** The same. No account of the merchant is linked or decided in another transaction until this one ends. */
export async function lockBankAccount({ trx }: UnitOfWork, scope: MerchantScope): Promise<BankAccountRow | undefined> {
  await lock(trx, 'bank_account', `${scope.merchantId} ${scope.environment}`);
  return findBankAccount(trx, scope);
}

/** The account that settlements may use now. Throws BANK_ACCOUNT_NOT_VERIFIED with the reason. */
export async function readUsableAccount(db: Queryable, scope: MerchantScope, at: Date): Promise<BankAccountRow> {
  const account = await findBankAccount(db, scope);
  const issue = whyUnusable(account, at);
  if (account && issue === null) return account;
  const message = `Settlements go to the linked bank account: ${issue}`;
  throw new AppError('BANK_ACCOUNT_NOT_VERIFIED', message, { details: [{ field: 'bankAccount', issue: issue ?? '' }] });
}

/** Why a bank account was rejected; null: it was not. */
export async function rejectionOf(db: Queryable, bankAccountId: string): Promise<string | null> {
  const account = await db<BankAccountRow>('bankAccount').where({ id: bankAccountId }).first('rejectionReason');
  return account?.rejectionReason ?? null;
}

function whyUnusable(account: BankAccountRow | undefined, at: Date): string | null {
  if (!account) return 'none is linked yet; link one with PUT /api/checkout/bank-account.';
  const name = `${account.bankCode} ${maskDigits(account.accountNumber)}`;
  if (account.status === 'PENDING')
    return `${name} is not verified yet; it can be used once an operator has verified it.`;
  if (account.status === 'REJECTED') return `${name} was rejected (${account.rejectionReason}); link another one.`;
  if (at >= account.usableFrom) return null;
  return `${name} was linked at ${account.createdAt.toISOString()} in the place of another one; it can be used from ${account.usableFrom.toISOString()} on.`;
}
