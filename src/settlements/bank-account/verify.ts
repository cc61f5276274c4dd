import { requireAnotherPerson, type Actor } from '../../access/separation-of-duties.ts';
import { AppError, notFound } from '../../lib/errors.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { lockBankAccount, type BankAccountRow, type BankAccountStatus } from './queries.ts';

/** A decision about a linked account. `bankAccountId`: the reviewed one, should another be linked meanwhile. */
export type AccountDecision = Actor & { at: Date; bankAccountId: string };

/** An account after a decision, and its status before; `changed` is false for a repeated decision. */
export type DecidedAccount = { account: BankAccountRow; changed: boolean; before: BankAccountStatus };

/**
 * PENDING → VERIFIED: settlements may go to it. Idempotent. Throws NOT_FOUND without a linked account, and INVALID_STATE
 * when it was rejected or replaced, or in live the operator is behind its link (access/separation-of-duties.ts).
 */
export async function verifyBankAccount(
  tx: UnitOfWork,
  scope: MerchantScope,
  decision: AccountDecision,
): Promise<DecidedAccount> {
  const before = await lockReviewed(tx, scope, decision);
  if (before.status === 'VERIFIED') return { account: before, changed: false, before: before.status };
  if (before.status !== 'PENDING')
    throw invalidState(before, 'PENDING can be verified; the merchant links another one');
  const linked = { what: 'bank account', done: 'linked', verb: 'verify', preparedBy: before.requestedBy } as const;
  await requireAnotherPerson(tx.trx, decision, { ...linked, environment: scope.environment });
  const { operatorId, at } = decision;
  const verified = { status: 'VERIFIED', verifiedAt: at } as const;
  return update(tx, before, { ...verified, decidedBy: operatorId, decidedAt: at });
}

/**
 * PENDING or VERIFIED → REJECTED: no settlement goes to it. The merchant reads the reason and links another account.
 * Idempotent. Throws NOT_FOUND without a linked account, and INVALID_STATE when it was rejected for another reason, or
 * replaced.
 */
export async function rejectBankAccount(
  tx: UnitOfWork,
  scope: MerchantScope,
  decision: AccountDecision & { reason: string },
): Promise<DecidedAccount> {
  const { reason } = decision;
  const before = await lockReviewed(tx, scope, decision);
  if (before.rejectionReason === reason) return { account: before, changed: false, before: before.status };
  if (before.status === 'REJECTED') throw invalidState(before, 'PENDING or VERIFIED can be rejected');
  const rejected = { status: 'REJECTED', rejectionReason: reason } as const;
  return update(tx, before, { ...rejected, decidedBy: decision.operatorId, decidedAt: decision.at });
}

/** The reviewed account, if it is still the linked one, locked until the transaction ends. */
async function lockReviewed(
  tx: UnitOfWork,
  scope: MerchantScope,
  { bankAccountId }: AccountDecision,
): Promise<BankAccountRow> {
  const current = await lockBankAccount(tx, scope);
  if (!current) throw notFound('bank account');
  if (current.id === bankAccountId) return current;
  throw new AppError(
    'INVALID_STATE',
    `The merchant has linked another bank account, ${current.id}, instead of ${bankAccountId}. Review that one.`,
  );
}

function invalidState({ status }: BankAccountRow, only: string): AppError {
  return new AppError('INVALID_STATE', `This bank account is ${status}: only one that is ${only}.`);
}

async function update(
  { trx }: UnitOfWork,
  { id, status }: BankAccountRow,
  changes: Partial<BankAccountRow>,
): Promise<DecidedAccount> {
  const [account]: BankAccountRow[] = await trx('bankAccount').where({ id }).update(changes).returning('*');
  if (!account) throw new Error('the bank account was not updated');
  return { account, changed: true, before: status };
}
