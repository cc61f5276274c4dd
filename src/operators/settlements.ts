import type { BankAccountRow } from '../bank-accounts/model.ts';
import { rejectBankAccount, verifyBankAccount } from '../bank-accounts/verify.ts';
import type { Clock } from '../lib/clock.ts';
import { toBirr, type Santim } from '../lib/money.ts';
import type { Change, RunChange } from '../lib/outbox.ts';
import { ownerOf, type Owner } from '../lib/owner.ts';
import { markCredited, markFailed, markReturned, markSent } from '../settlements/bank-answer.ts';
import { importBankFile, type BankFileReport, type BankResult } from '../settlements/bank-file.ts';
import { approveSettlement, rejectSettlement } from '../settlements/decide.ts';
import { bookLateCredit, dismissLateCredit } from '../settlements/late-credit.ts';
import type { SettlementRow } from '../settlements/model.ts';
import type { Moved } from '../settlements/move.ts';
import { note, type Deed } from './audit.ts';
import type { Action } from './permits.ts';

/** What an operator says of a settlement: a decision, or what the bank did. */
export type SettlementWord =
  | { says: 'approve'; reason?: string | undefined }
  | { says: 'reject'; reason: string }
  | { says: 'sent'; bankReference?: string | undefined; reason?: string | undefined }
  | {
      says: 'credited';
      bankReference: string;
      creditedAt: Date;
      amountSantim?: Santim | undefined;
      reason?: string | undefined;
    }
  | { says: 'failed'; bankReference?: string | undefined; reason: string }
  | { says: 'returned'; bankReference: string; reason: string }
  | { says: 'book-credit'; reason: string }
  | { says: 'dismiss-credit'; reason: string };

/**
 * Said again it changes nothing, and is noted once. Throws NOT_FOUND, INVALID_STATE, VALIDATION_ERROR, and
 * INSUFFICIENT_BALANCE where money is taken again.
 */
export async function decideSettlement(deed: Deed, settlementId: string, word: SettlementWord): Promise<SettlementRow> {
  const moved = await move(deed, settlementId, word);
  await noteSettlement(deed, moved, word);
  return moved.settlement;
}

async function noteSettlement(
  deed: Deed,
  moved: Moved,
  { says, reason }: { says: SettlementWord['says']; reason?: string | undefined },
): Promise<void> {
  if (!moved.changed) return;
  const { settlement, before } = moved;
  const { status, bankReference, returnReference, lateCredit, amountSantim } = settlement;
  await note(deed, {
    action: `settlement.${says}` satisfies Action,
    resourceType: 'settlement',
    resourceId: settlement.id,
    ...ownerOf(settlement),
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
  { runChange, clock }: { runChange: RunChange; clock: Clock },
  { text, ...by }: { text: string; operatorId: string; requestId: string },
): Promise<BankFileReport> {
  const onApplied = async (change: Change, moved: Moved, says: BankResult): Promise<void> => {
    const failure = says === 'credited' ? null : moved.settlement.failure;
    const reason = failure?.message ?? 'By the file of the bank';
    await noteSettlement({ change, ...by, at: clock() }, moved, { says, reason });
  };
  return importBankFile({ runChange, clock, onApplied }, { operatorId: by.operatorId, text });
}

function move(deed: Deed, id: string, word: SettlementWord): Promise<Moved> {
  switch (word.says) {
    case 'approve':
      return approveSettlement(deed.change, id, deed);
    case 'reject':
      return rejectSettlement(deed.change, id, { ...deed, ...word });
    case 'sent':
      return markSent(deed.change, id, { ...deed, ...word });
    case 'credited':
      return markCredited(deed.change, id, { ...deed, ...word });
    case 'failed':
      return markFailed(deed.change, id, { ...deed, ...word });
    case 'returned':
      return markReturned(deed.change, id, { ...deed, ...word });
    case 'book-credit':
      return bookLateCredit(deed.change, id, deed);
    case 'dismiss-credit':
      return dismissLateCredit(deed.change, id, { ...deed, ...word });
    default:
      return word satisfies never;
  }
}

/** What an operator says of a linked bank account; `bankAccountId`: the one they looked at. */
export type AccountWord = { bankAccountId: string } & (
  | { says: 'verify'; reason?: string | undefined }
  | { says: 'reject'; reason: string }
);

/** Said again it changes nothing, and is noted once. Throws NOT_FOUND, INVALID_STATE. */
export async function decideBankAccount(deed: Deed, owner: Owner, word: AccountWord): Promise<BankAccountRow> {
  const { account, changed, before } =
    word.says === 'verify'
      ? await verifyBankAccount(deed.change, owner, { ...deed, ...word })
      : await rejectBankAccount(deed.change, owner, { ...deed, ...word });
  if (!changed) return account;
  await note(deed, {
    action: `bank-account.${word.says}`,
    resourceType: 'bankAccount',
    resourceId: account.id,
    ...ownerOf(account),
    before: { status: before },
    after: { status: account.status, bankCode: account.bankCode },
    reason: word.reason,
  });
  return account;
}
