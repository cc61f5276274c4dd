import { toBirr } from '../lib/money.ts';
import { ownerOf } from '../lib/owner.ts';
import {
  acceptHeldPayment,
  returnHeldPayment,
  type HeldChoice,
  type HeldDecision,
  type HeldPayment,
} from '../transactions/held.ts';
import { approveWithdrawal, readWithdrawal, rejectWithdrawal } from '../withdrawals/decide.ts';
import type { WithdrawalRow } from '../withdrawals/model.ts';
import { resolveWithdrawal, type Resolution, type Resolved } from '../withdrawals/resolve.ts';
import { note, type AuditEntry, type Deed } from './audit.ts';

/** One operator's yes to a withdrawal under review. Throws NOT_FOUND, INVALID_STATE. */
export async function letWithdraw(
  deed: Deed,
  input: { withdrawalId: string; reason?: string | undefined },
): Promise<WithdrawalRow> {
  const row = await approveWithdrawal(deed.change, input.withdrawalId, deed);
  await note(deed, { action: 'withdrawal.approve', ...aboutWithdrawal(row), reason: input.reason });
  return row;
}

/** An operator's no: the money is the merchant's again. Throws NOT_FOUND, INVALID_STATE. */
export async function refuseWithdrawal(
  deed: Deed,
  { withdrawalId, reason }: { withdrawalId: string; reason: string },
): Promise<WithdrawalRow> {
  const row = await rejectWithdrawal(deed.change, withdrawalId, { ...deed, reason });
  await note(deed, { action: 'withdrawal.reject', ...aboutWithdrawal(row), reason });
  return row;
}

/**
 * One operator's word of what became of a withdrawal that its provider leaves open; twice is no error, and noted once.
 * Throws NOT_FOUND, VALIDATION_ERROR, INVALID_STATE, INSUFFICIENT_BALANCE.
 */
export async function settleWithdrawal(
  deed: Deed,
  { withdrawalId, ...resolution }: Resolution & { withdrawalId: string },
): Promise<Resolved> {
  const before = await readWithdrawal(deed.change.trx, withdrawalId);
  const resolved = await resolveWithdrawal(deed.change, withdrawalId, { ...resolution, ...deed });
  const { outcome, providerReference, paidSantim, reason } = resolution;
  const said = { outcome, providerReference, ...(paidSantim !== undefined && { paid: toBirr(paidSantim) }) };
  if (resolved.isNew) {
    const about = aboutWithdrawal(resolved.row);
    await note(deed, {
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
    ...ownerOf(row),
    before: { status: 'PENDING', stage: 'UNDER_REVIEW' },
    after: { status, stage, amount: toBirr(row.amountSantim) },
  };
}

type Choice = Omit<HeldChoice, 'at'>;

/** Gives held money to the merchant; twice is no error, and noted once. Throws NOT_FOUND, INVALID_STATE. */
export async function acceptPayment(
  deed: Deed,
  input: Choice & { reason?: string | undefined },
): Promise<HeldDecision> {
  const decision = await acceptHeldPayment(deed.change, { ...input, at: deed.at });
  if (decision.isNew) {
    const { feeSantim = 0n, feeTaxSantim = 0n } = decision.fee ?? {};
    const charged = { fee: toBirr(feeSantim), feeTax: toBirr(feeTaxSantim) };
    await note(deed, { action: 'payment.accept', ...aboutPayment(decision, charged), reason: input.reason });
  }
  return decision;
}

/** Notes that held money went back; twice is no error, and noted once. Throws NOT_FOUND, INVALID_STATE. */
export async function returnPayment(
  deed: Deed,
  input: Choice & { reason: string; reference: string },
): Promise<HeldDecision> {
  const decision = await returnHeldPayment(deed.change, { ...input, at: deed.at });
  if (decision.isNew) {
    const about = aboutPayment(decision, { reference: input.reference });
    await note(deed, { action: 'payment.return', ...about, reason: input.reason });
  }
  return decision;
}

function aboutPayment({ transaction, payment, before }: HeldDecision, more: Record<string, unknown>) {
  return {
    resourceType: 'transaction',
    resourceId: transaction.id,
    ...ownerOf(transaction),
    before: { status: before.status, held: before.held, decided: null },
    after: { status: transaction.status, ...receivedOf(payment), ...more },
  } as const;
}

function receivedOf({ id, receivedSantim, receivedCurrency, decided }: HeldPayment) {
  const received = receivedSantim === null ? null : toBirr(receivedSantim);
  return { attemptId: id, decided, received, currency: receivedCurrency };
}
