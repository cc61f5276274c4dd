import { recordAudit, type AuditContext } from '../access/audit.ts';
import { toBirr } from '../lib/money.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import { decideReceipt, type ReceiptDecision } from '../reconciliation/receipts/decide.ts';
import type { BankReceiptRow } from '../reconciliation/receipts/queries.ts';
import {
  recordReceipt,
  recordRecovery,
  type NewReceipt,
  type NewRecovery,
  type RecordedReceipt,
} from '../reconciliation/receipts/record.ts';

/** Of a provider that paid what it owed, or (no channel) of nobody known. */
type Arrival = Omit<NewReceipt, 'at' | 'channel'> & { channel?: Channel | undefined; reason?: string | undefined };

/** Books money that came to the bank; twice is no error, and noted once. Throws VALIDATION_ERROR, DUPLICATE_REFERENCE. */
export async function bookArrival(context: AuditContext, { reason, ...arrival }: Arrival): Promise<RecordedReceipt> {
  const booked = await recordReceipt(context.tx, { ...arrival, at: context.at });
  const action = arrival.channel === undefined ? 'bank-money.unmatched' : 'bank-money.transfer';
  if (booked.isNew)
    await recordAudit(context, { action, ...about(booked.money), after: current(booked.money), reason });
  return booked;
}

/**
 * Books that a provider has taken back what it had paid too much; twice is no error, and noted once. Throws NOT_FOUND,
 * VALIDATION_ERROR, INVALID_STATE, DUPLICATE_REFERENCE.
 */
export async function bookExcess(
  context: AuditContext,
  { reason, ...excess }: Omit<NewRecovery, 'at'> & { reason: string },
): Promise<RecordedReceipt> {
  const booked = await recordRecovery(context.tx, { ...excess, at: context.at });
  const { money, isNew } = booked;
  if (isNew)
    await recordAudit(context, { action: 'bank-money.excess', ...about(money), after: current(money), reason });
  return booked;
}

/**
 * Says what became of money that was booked; twice is no error, and noted once. Throws NOT_FOUND, VALIDATION_ERROR,
 * INVALID_STATE, DUPLICATE_REFERENCE.
 */
export async function settleMoney(
  context: AuditContext,
  { bankMoneyId, decision, reason }: { bankMoneyId: string; decision: ReceiptDecision; reason: string },
): Promise<BankReceiptRow> {
  const { money, before, changed } = await decideReceipt(context.tx, bankMoneyId, { decision, at: context.at });
  if (!changed) return money;
  const tx = { before: current(before), after: { ...current(money), as: decision.as } };
  await recordAudit(context, { action: 'bank-money.settle', ...about(money), ...tx, reason });
  return money;
}

function about({ environment, id }: BankReceiptRow) {
  return { resourceType: 'bankMoney', resourceId: id, environment } as const;
}

function current({ reference, amountSantim, channel, withdrawalId, outcome, returnReference }: BankReceiptRow) {
  return {
    reference,
    amount: toBirr(amountSantim),
    ...(channel !== null && { channel }),
    ...(withdrawalId !== null && { withdrawalId }),
    ...(outcome !== null && { outcome }),
    ...(returnReference !== null && { returnReference }),
  };
}
