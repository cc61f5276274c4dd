import { requireAnotherPerson, type Actor } from '../../access/separation-of-duties.ts';
import type { BankCode } from '../../lib/banks.ts';
import { HOUR_MS } from '../../lib/dates.ts';
import { first, insertRow, rows, updateRow, type Queryable } from '../../lib/db.ts';
import { AppError, found, invalidState } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { lock } from '../../lib/lock.ts';
import { maskDigits } from '../../lib/mask.ts';
import { SANDBOX_OPERATOR } from '../../lib/sandbox-review.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';

/** A row of `bank_account`. Bank, number and name never change: another account is another row. */
export type BankAccountRow = MerchantScope & {
  id: string;
  bankCode: BankCode;
  accountNumber: string;
  accountName: string;
  status: 'PENDING' | 'VERIFIED' | 'REJECTED';
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
  return first<BankAccountRow>(
    db,
    `SELECT * FROM bank_account
     WHERE merchant_id = :merchantId AND environment = :environment AND replaced_at IS NULL`,
    scopeOf(scope),
  );
}

/** The same. No account of the merchant is linked or decided in another transaction until this one ends. */
async function lockBankAccount({ trx }: UnitOfWork, scope: MerchantScope): Promise<BankAccountRow | undefined> {
  await lock(trx, 'bank_account', `${scope.merchantId} ${scope.environment}`);
  return findBankAccount(trx, scope);
}

/** The account that settlements may use now. Throws BANK_ACCOUNT_NOT_VERIFIED with the reason. */
export async function readUsableAccount(db: Queryable, scope: MerchantScope, at: Date): Promise<BankAccountRow> {
  const account = await findBankAccount(db, scope);
  if (account?.status === 'VERIFIED' && at >= account.usableFrom) return account;
  const issue = whyUnusable(account);
  const message = `Settlements go to the linked bank account: ${issue}`;
  throw new AppError('BANK_ACCOUNT_NOT_VERIFIED', message, {
    details: [{ field: 'bankAccount', issue, code: 'not_linked' }],
  });
}

function whyUnusable(account: BankAccountRow | undefined): string {
  if (!account) return 'none is linked yet; link one in the portal, or with PUT /api/checkout/bank-account.';
  const name = `${account.bankCode} ${maskDigits(account.accountNumber)}`;
  if (account.status === 'PENDING')
    return `${name} is not verified yet; it can be used once an operator has verified it.`;
  if (account.status === 'REJECTED') return `${name} was rejected (${account.rejectionReason}); link another one.`;
  return `${name} was linked at ${account.createdAt.toISOString()} in the place of another one; it can be used from ${account.usableFrom.toISOString()} on.`;
}

/** `requestedBy`: key_… or opr_…; the requester cannot verify it. */
export type NewBankAccount = Pick<BankAccountRow, 'bankCode' | 'accountNumber' | 'accountName' | 'requestedBy'> & {
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
  { at, ...wanted }: NewBankAccount,
): Promise<BankAccountRow> {
  const { trx } = tx;
  const before = await lockBankAccount(tx, scope);
  const fields = ['bankCode', 'accountNumber', 'accountName'] as const;
  if (before && before.status !== 'REJECTED' && fields.every((name) => before[name] === wanted[name])) return before;
  if (before) await updateRow(trx, { table: 'bank_account', id: before.id }, { replacedAt: at });
  const isSandbox = scope.environment === 'sandbox';
  const verified = await rows(
    trx,
    `SELECT FROM bank_account
     WHERE merchant_id = :merchantId AND environment = :environment AND verified_at IS NOT NULL LIMIT 1`,
    scopeOf(scope),
  );
  const holdMs = verified.length > 0 && !isSandbox ? HOLD_MS : 0;
  return insertRow(trx, 'bank_account', {
    id: newId('bac', at.getTime()),
    ...scopeOf(scope),
    ...wanted,
    ...(isSandbox
      ? { status: 'VERIFIED', decidedBy: SANDBOX_OPERATOR, decidedAt: at, verifiedAt: at }
      : { status: 'PENDING' }),
    createdAt: at,
    usableFrom: new Date(at.getTime() + holdMs),
  });
}

/** A decision about a linked account. `bankAccountId`: the reviewed one, should another be linked meanwhile. */
export type AccountDecision = Actor & { at: Date; bankAccountId: string };

/** An account after a decision, and its status before; `changed` is false for a repeated decision. */
export type DecidedAccount = { account: BankAccountRow; changed: boolean; before: BankAccountRow['status'] };

/**
 * PENDING → VERIFIED: settlements may go to it. Idempotent. Throws NOT_FOUND without a linked account, and INVALID_STATE
 * when it was rejected or replaced, or in live the operator is behind its link (access/separation-of-duties.ts).
 */
export async function verifyBankAccount(tx: UnitOfWork, scope: MerchantScope, decision: AccountDecision) {
  const account = await lockReviewed(tx, scope, decision);
  const { status, requestedBy: preparedBy, environment } = account;
  if (status === 'VERIFIED') return { account, changed: false, before: status };
  if (status !== 'PENDING') throw onlyWhile(account, 'PENDING can be verified; the merchant links another one');
  const linked = { environment, what: 'bank account', done: 'linked', verb: 'verify', preparedBy } as const;
  await requireAnotherPerson(tx.trx, decision, linked);
  return decide(tx, decision, { before: account, changes: { status: 'VERIFIED', verifiedAt: decision.at } });
}

/**
 * PENDING or VERIFIED → REJECTED: no settlement goes to it. The merchant reads the reason and links another account.
 * Idempotent. Throws NOT_FOUND without a linked account, and INVALID_STATE when it was rejected for another reason, or
 * replaced.
 */
export async function rejectBankAccount(
  tx: UnitOfWork,
  scope: MerchantScope,
  { reason: rejectionReason, ...decision }: AccountDecision & { reason: string },
): Promise<DecidedAccount> {
  const account = await lockReviewed(tx, scope, decision);
  if (account.rejectionReason === rejectionReason) return { account, changed: false, before: account.status };
  if (account.status === 'REJECTED') throw onlyWhile(account, 'PENDING or VERIFIED can be rejected');
  return decide(tx, decision, { before: account, changes: { status: 'REJECTED', rejectionReason } });
}

/** The reviewed account, if it is still the linked one, locked until the transaction ends. */
async function lockReviewed(tx: UnitOfWork, scope: MerchantScope, { bankAccountId }: AccountDecision) {
  const current = found(await lockBankAccount(tx, scope), 'bank account');
  if (current.id === bankAccountId) return current;
  throw invalidState(
    `The merchant has linked another bank account, ${current.id}, instead of ${bankAccountId}. Review that one.`,
  );
}

function onlyWhile({ status }: BankAccountRow, only: string): AppError {
  return invalidState(`This bank account is ${status}: only one that is ${only}.`);
}

async function decide(
  { trx }: UnitOfWork,
  { operatorId: decidedBy, at: decidedAt, bankAccountId: id }: AccountDecision,
  { before, changes }: { before: BankAccountRow; changes: Partial<BankAccountRow> },
): Promise<DecidedAccount> {
  const decided = { ...changes, decidedBy, decidedAt };
  await updateRow(trx, { table: 'bank_account', id }, decided);
  return { account: { ...before, ...decided }, changed: true, before: before.status };
}
