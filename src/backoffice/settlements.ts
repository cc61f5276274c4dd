import { recordAudit, type AuditContext } from '../access/audit.ts';
import type { Action } from '../access/permissions.ts';
import type { Clock } from '../lib/clock.ts';
import { toBirr, type Santim } from '../lib/money.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import type { UnitOfWork, RunInTransaction } from '../outbox/record.ts';
import type { BankAccountRow } from '../settlements/bank-account/queries.ts';
import { rejectBankAccount, verifyBankAccount } from '../settlements/bank-account/verify.ts';
import { importBankFile, type BankFileReport, type BankResult } from '../settlements/bank-file.ts';
import { markCredited, markFailed, markReturned, markSent } from '../settlements/bank-results.ts';
import { approveSettlement, rejectSettlement } from '../settlements/decide.ts';
import { bookLateCredit, dismissLateCredit } from '../settlements/late-credit.ts';
import type { SettlementRow } from '../settlements/queries.ts';
import type { TransitionResult } from '../settlements/transition.ts';

/** What an operator says of a settlement: a decision, or what the bank did. */
export type SettlementCommand =
  | { type: 'approve'; reason?: string | undefined }
  | { type: 'reject'; reason: string }
  | { type: 'sent'; bankReference?: string | undefined; reason?: string | undefined }
  | {
      type: 'credited';
      bankReference: string;
      creditedAt: Date;
      amountSantim?: Santim | undefined;
      reason?: string | undefined;
    }
  | { type: 'failed'; bankReference?: string | undefined; reason: string }
  | { type: 'returned'; bankReference: string; reason: string }
  | { type: 'book-credit'; reason: string }
  | { type: 'dismiss-credit'; reason: string };

/**
 * Said again it changes nothing, and is noted once. Throws NOT_FOUND, INVALID_STATE, VALIDATION_ERROR, and
 * INSUFFICIENT_BALANCE where money is taken again.
 */
export async function decideSettlement(
  context: AuditContext,
  settlementId: string,
  decision: SettlementCommand,
): Promise<SettlementRow> {
  const updated = await transition(context, settlementId, decision);
  await noteSettlement(context, updated, decision);
  return updated.settlement;
}

async function noteSettlement(
  context: AuditContext,
  updated: TransitionResult,
  { type, reason }: { type: SettlementCommand['type']; reason?: string | undefined },
): Promise<void> {
  if (!updated.changed) return;
  const { settlement, before } = updated;
  const { status, bankReference, returnReference, lateCredit, amountSantim } = settlement;
  await recordAudit(context, {
    action: `settlement.${type}` satisfies Action,
    resourceType: 'settlement',
    resourceId: settlement.id,
    ...scopeOf(settlement),
    before,
    after: {
      status,
      bankReference,
      amount: toBirr(amountSantim),
      ...(returnReference !== null && { returnReference }),
      ...(lateCredit && { lateCredit }),
    },
    reason,
  });
}

/**
 * Books the bank's answers of a CSV file (src/settlements/bank-file.ts): each line is a change of its own, and noted as
 * if it had been said alone. Throws VALIDATION_ERROR where the text is no such file.
 */
export async function readBankFile(
  { runInTransaction, clock }: { runInTransaction: RunInTransaction; clock: Clock },
  { text, ...by }: { text: string; operatorId: string; requestId: string },
): Promise<BankFileReport> {
  const onApplied = async (tx: UnitOfWork, updated: TransitionResult, type: BankResult): Promise<void> => {
    const failure = type === 'credited' ? null : updated.settlement.failure;
    const reason = failure?.message ?? 'By the file of the bank';
    await noteSettlement({ tx, ...by, at: clock() }, updated, { type, reason });
  };
  return importBankFile({ runInTransaction, clock, onApplied }, { operatorId: by.operatorId, text });
}

function transition(context: AuditContext, id: string, decision: SettlementCommand): Promise<TransitionResult> {
  switch (decision.type) {
    case 'approve':
      return approveSettlement(context.tx, id, context);
    case 'reject':
      return rejectSettlement(context.tx, id, { ...context, ...decision });
    case 'sent':
      return markSent(context.tx, id, { ...context, ...decision });
    case 'credited':
      return markCredited(context.tx, id, { ...context, ...decision });
    case 'failed':
      return markFailed(context.tx, id, { ...context, ...decision });
    case 'returned':
      return markReturned(context.tx, id, { ...context, ...decision });
    case 'book-credit':
      return bookLateCredit(context.tx, id, context);
    case 'dismiss-credit':
      return dismissLateCredit(context.tx, id, { ...context, ...decision });
    default:
      return decision satisfies never;
  }
}

/** What an operator says of a linked bank account; `bankAccountId`: the one they looked at. */
export type BankAccountDecision = { bankAccountId: string } & (
  | { type: 'verify'; reason?: string | undefined }
  | { type: 'reject'; reason: string }
);

/** Said again it changes nothing, and is noted once. Throws NOT_FOUND, INVALID_STATE. */
export async function decideBankAccount(
  context: AuditContext,
  scope: MerchantScope,
  decision: BankAccountDecision,
): Promise<BankAccountRow> {
  const { account, changed, before } =
    decision.type === 'verify'
      ? await verifyBankAccount(context.tx, scope, { ...context, ...decision })
      : await rejectBankAccount(context.tx, scope, { ...context, ...decision });
  if (!changed) return account;
  await recordAudit(context, {
    action: `bank-account.${decision.type}`,
    resourceType: 'bankAccount',
    resourceId: account.id,
    ...scopeOf(account),
    before: { status: before },
    after: { status: account.status, bankCode: account.bankCode },
    reason: decision.reason,
  });
  return account;
}
