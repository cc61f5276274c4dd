import { recordAudit, type AuditEntry, type AuditContext } from '../access/audit.ts';
import { toBirr } from '../lib/money.ts';
import { scopeOf } from '../lib/scope.ts';
import {
  acceptHeldPayment,
  returnHeldPayment,
  type HeldChoice,
  type HeldDecision,
  type HeldPayment,
} from '../payments/holds.ts';
import { readWithdrawal, type WithdrawalRow } from '../withdrawals/queries.ts';
import { resolveWithdrawal, type Resolution, type Resolved } from '../withdrawals/resolve.ts';
import { approveWithdrawal, rejectWithdrawal } from '../withdrawals/review.ts';

/** One operator's yes to a withdrawal under review. Throws NOT_FOUND, INVALID_STATE. */
export async function approveWithdrawalAs(
  context: AuditContext,
  input: { withdrawalId: string; reason?: string | undefined },
): Promise<WithdrawalRow> {
  const row = await approveWithdrawal(context.tx, input.withdrawalId, context);
  await recordAudit(context, { action: 'withdrawal.approve', ...aboutWithdrawal(row), reason: input.reason });
  return row;
}

/** An operator's no: the money is the merchant's again. Throws NOT_FOUND, INVALID_STATE. */
export async function rejectWithdrawalAs(
  context: AuditContext,
  { withdrawalId, reason }: { withdrawalId: string; reason: string },
): Promise<WithdrawalRow> {
  const row = await rejectWithdrawal(context.tx, withdrawalId, { ...context, reason });
  await recordAudit(context, { action: 'withdrawal.reject', ...aboutWithdrawal(row), reason });
  return row;
}

/**
 * One operator's word of what became of a withdrawal that its provider leaves open; twice is no error, and noted once.
 * Throws NOT_FOUND, VALIDATION_ERROR, INVALID_STATE, INSUFFICIENT_BALANCE.
 */
export async function resolveWithdrawalAs(
  context: AuditContext,
  { withdrawalId, ...resolution }: Resolution & { withdrawalId: string },
): Promise<Resolved> {
  const before = await readWithdrawal(context.tx.trx, withdrawalId);
  const resolved = await resolveWithdrawal(context.tx, withdrawalId, { ...resolution, ...context });
  const { outcome, providerReference, paidSantim, reason } = resolution;
  const said = { outcome, providerReference, ...(paidSantim !== undefined && { paid: toBirr(paidSantim) }) };
  if (resolved.isNew) {
    const about = aboutWithdrawal(resolved.row);
    await recordAudit(context, {
      ...about,
      action: 'withdrawal.resolve',
      before: { status: before.status, stage: before.stage },
      after: { ...about.after, ...said, othersNeeded: resolved.missing },
      reason,
    });
  }
  return resolved;
}

function aboutWithdrawal(row: WithdrawalRow): Omit<AuditEntry, 'action' | 'reason'> {
  const { status, stage } = row;
  return {
    resourceType: 'withdrawal',
    resourceId: row.id,
    ...scopeOf(row),
    before: { status: 'PENDING', stage: 'UNDER_REVIEW' },
    after: { status, stage, amount: toBirr(row.amountSantim) },
  };
}

type Choice = Omit<HeldChoice, 'at'>;

/** Gives held money to the merchant; twice is no error, and noted once. Throws NOT_FOUND, INVALID_STATE. */
export async function acceptPayment(
  context: AuditContext,
  input: Choice & { reason?: string | undefined },
): Promise<HeldDecision> {
  const decision = await acceptHeldPayment(context.tx, { ...input, at: context.at });
  if (decision.isNew) {
    const { feeSantim = 0n, feeTaxSantim = 0n } = decision.fee ?? {};
    const charged = { fee: toBirr(feeSantim), feeTax: toBirr(feeTaxSantim) };
    await recordAudit(context, { action: 'payment.accept', ...aboutPayment(decision, charged), reason: input.reason });
  }
  return decision;
}

/** Notes that held money went back; twice is no error, and noted once. Throws NOT_FOUND, INVALID_STATE. */
export async function returnPayment(
  context: AuditContext,
  input: Choice & { reason: string; reference: string },
): Promise<HeldDecision> {
  const decision = await returnHeldPayment(context.tx, { ...input, at: context.at });
  if (decision.isNew) {
    const about = aboutPayment(decision, { reference: input.reference });
    await recordAudit(context, { action: 'payment.return', ...about, reason: input.reason });
  }
  return decision;
}

function aboutPayment({ transaction, payment, before }: HeldDecision, more: Record<string, unknown>) {
  return {
    resourceType: 'transaction',
    resourceId: transaction.id,
    ...scopeOf(transaction),
    before: { status: before.status, holdReason: before.holdReason, holdResolution: null },
    after: { status: transaction.status, ...receivedOf(payment), ...more },
  } as const;
}

function receivedOf({ id, receivedSantim, receivedCurrency, holdResolution }: HeldPayment) {
  const received = receivedSantim === null ? null : toBirr(receivedSantim);
  return { attemptId: id, holdResolution, received, currency: receivedCurrency };
}
