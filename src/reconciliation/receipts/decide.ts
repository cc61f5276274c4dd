import { correctionPosting, allocationPosting, type AllocationOutcome } from '../../ledger/bank-postings.ts';
import { ensureUnused } from '../../ledger/external-references.ts';
import { post } from '../../ledger/post.ts';
import { rows } from '../../lib/db.ts';
import { AppError, notFound } from '../../lib/errors.ts';
import { formatBirr, type Santim } from '../../lib/money.ts';
import type { Environment } from '../../lib/scope.ts';
import { CHANNELS, type Channel } from '../../merchants/channels/channel.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import {
  BANK_RECEIPT_COLUMNS,
  insert,
  moneyOf,
  refused,
  requireReference,
  type BankReceiptRow,
  type Booked,
} from './record.ts';

export const RECEIPT_DECISIONS = ['ALLOCATED', 'RETURNED', 'CORRECTED'] as const;

/**
 * What an operator has found out about money that was booked. ALLOCATED: unmatched money was a transfer of this provider.
 * RETURNED: the bank has sent it back, under this trace id. CORRECTED: it was booked wrongly, whatever it is.
 */
export type ReceiptDecision =
  | { as: 'ALLOCATED'; channel: Channel }
  | { as: 'RETURNED'; returnReference: string }
  | { as: 'CORRECTED' };

type ReceiptDecisionInput = {
  as: ReceiptDecision['as'];
  channel?: Channel | undefined;
  returnReference?: string | undefined;
};

/** What was said, with all that belongs to it and nothing else. Throws VALIDATION_ERROR. */
export function receiptDecision({ as, channel, returnReference }: ReceiptDecisionInput): ReceiptDecision {
  if (channel !== undefined && as !== 'ALLOCATED') throw refused('channel', 'belongs to ALLOCATED only');
  if (returnReference !== undefined && as !== 'RETURNED') throw refused('returnReference', 'belongs to RETURNED only');
  if (as === 'CORRECTED') return { as };
  if (as === 'ALLOCATED') {
    if (channel === undefined) throw refused('channel', `is needed with ALLOCATED: one of ${CHANNELS.join(', ')}`);
    return { as, channel };
  }
  if (returnReference === undefined) throw refused('returnReference', "is needed with RETURNED: the bank's trace id");
  return { as, returnReference };
}

/** `changed`: this call booked it, and no earlier one. `before`: what stood until then. */
export type ReceiptResult = { money: BankReceiptRow; before: BankReceiptRow; changed: boolean };

/**
 * Takes unmatched money out of suspense, or takes back by a mirrored journal what was booked wrongly, with what was made
 * of it since: then its trace id is free to be booked rightly. The same again changes nothing. Throws NOT_FOUND,
 * VALIDATION_ERROR, INVALID_STATE (it does not wait, or was corrected) and DUPLICATE_REFERENCE (of the way back).
 */
export async function decideReceipt(
  tx: UnitOfWork,
  id: string,
  { decision, at }: { decision: ReceiptDecision; at: Date },
): Promise<ReceiptResult> {
  const sql = `SELECT ${BANK_RECEIPT_COLUMNS} FROM bank_receipt WHERE id = :id FOR UPDATE`;
  const [before] = await rows<BankReceiptRow>(tx.trx, sql, { id });
  if (!before) throw notFound('bank money');
  if (isSaid(before, decision)) return { money: before, before, changed: false };
  if (before.reversedAt !== null) throw new AppError('INVALID_STATE', `${id} was corrected: it counts no more.`);
  if (decision.as === 'CORRECTED') return correct(tx, before, at);
  if (before.kind !== 'UNALLOCATED' || before.outcome !== null) throw waitsNoMore(before);
  if (decision.as === 'RETURNED') requireReference('returnReference', decision.returnReference);
  return end(tx, before, { decision, at });
}

function isSaid(row: BankReceiptRow, decision: ReceiptDecision): boolean {
  if (decision.as === 'CORRECTED') return row.reversedAt !== null;
  if (row.outcome !== decision.as || row.reversedAt !== null) return false;
  return decision.as === 'ALLOCATED'
    ? row.channel === decision.channel
    : row.returnReference === decision.returnReference;
}

function waitsNoMore({ id, kind, outcome, channel, returnReference }: BankReceiptRow): AppError {
  const status =
    kind !== 'UNALLOCATED'
      ? 'is no unmatched money'
      : outcome === 'ALLOCATED'
        ? `was placed as a transfer of ${channel}`
        : `went back, under the reference ${returnReference}`;
  return new AppError('INVALID_STATE', `${id} ${status}. Where that is wrong, correct it, and book it anew.`);
}

type Ending = { decision: Exclude<ReceiptDecision, { as: 'CORRECTED' }>; at: Date };

async function end(tx: UnitOfWork, before: BankReceiptRow, { decision, at }: Ending): Promise<ReceiptResult> {
  const returnReference = decision.as === 'RETURNED' ? decision.returnReference : null;
  if (returnReference !== null) {
    const { environment } = before;
    await ensureUnused(tx, { environment, way: 'out', reference: returnReference, field: 'returnReference' });
  }
  const [money] = await rows<BankReceiptRow>(
    tx.trx,
    `UPDATE bank_receipt SET outcome = :as, outcome_at = :at, channel = :channel, return_reference = :returnReference
     WHERE id = :id RETURNING ${BANK_RECEIPT_COLUMNS}`,
    {
      id: before.id,
      as: decision.as,
      at,
      channel: decision.as === 'ALLOCATED' ? decision.channel : null,
      returnReference,
    },
  );
  if (!money) throw new Error(`${before.id} is gone`);
  await post(tx.trx, allocationPosting(moneyOf(money), decision), at);
  return { money, before, changed: true };
}

async function correct(tx: UnitOfWork, before: BankReceiptRow, at: Date): Promise<ReceiptResult> {
  const [money] = await rows<BankReceiptRow>(
    tx.trx,
    `UPDATE bank_receipt SET reversed_at = :at WHERE id = :id RETURNING ${BANK_RECEIPT_COLUMNS}`,
    { id: before.id, at },
  );
  if (!money) throw new Error(`${before.id} is gone`);
  await post(tx.trx, correctionPosting(moneyOf(before), outcomeOf(before)), at);
  return { money, before, changed: true };
}

function outcomeOf({ outcome, channel }: BankReceiptRow): AllocationOutcome | null {
  if (outcome !== 'ALLOCATED') return outcome && { as: outcome };
  if (channel === null) throw new Error('what was placed has no channel');
  return { as: outcome, channel };
}

/** `reference`: the provider's own. */
export type ExcessTakenBack = { withdrawalId: string; reference: string; at: Date };

type Overpaid = {
  environment: Environment;
  channel: Channel;
  status: string;
  amountSantim: Santim;
  paidSantim: Santim | null;
};

/**
 * A provider has taken back what it had paid out too much, by a word of its own: it owes that again, and it waits in
 * suspense no more. Booked once for each withdrawal, by a reference that is of no other; the same again changes nothing.
 * Throws NOT_FOUND, VALIDATION_ERROR, INVALID_STATE (nothing was paid too much, or all of it came back) and
 * DUPLICATE_REFERENCE (booked by another reference, or the reference of another withdrawal).
 */
export async function recordExcessTakenBack(
  tx: UnitOfWork,
  { withdrawalId, reference, at }: ExcessTakenBack,
): Promise<Booked> {
  requireReference('reference', reference);
  // Until this change is over it is not reversed.
  const [paid] = await rows<Overpaid>(
    tx.trx,
    `SELECT environment, channel, status, amount_santim, paid_santim FROM withdrawal WHERE id = :withdrawalId FOR UPDATE`,
    { withdrawalId },
  );
  if (!paid) throw notFound('withdrawal');
  const sql = `SELECT ${BANK_RECEIPT_COLUMNS} FROM bank_receipt WHERE withdrawal_id = :withdrawalId AND reversed_at IS NULL`;
  const [current] = await rows<BankReceiptRow>(tx.trx, sql, { withdrawalId });
  if (current?.reference === reference) return { money: current, isNew: false };
  if (current) throw takenBackBefore(current);
  const amountSantim = (paid.paidSantim ?? paid.amountSantim) - paid.amountSantim;
  if (paid.status !== 'SUCCESS' || amountSantim <= 0n) throw nothingTooMuch(withdrawalId, paid.status);
  const { environment, channel } = paid;
  const row = { environment, channel, kind: 'RECOVERY', reference, withdrawalId, amountSantim } as const;
  await ensureUnused(tx, { environment, way: 'excess', reference, field: 'reference' });
  return { money: await insert(tx, row, at), isNew: true };
}

function takenBackBefore({ id, reference, withdrawalId, amountSantim }: BankReceiptRow): AppError {
  const birr = formatBirr(amountSantim);
  const issue = `must be "${reference}", by which ${birr} ETB of ${withdrawalId} were taken back (${id})`;
  return new AppError('DUPLICATE_REFERENCE', `reference ${issue}.`, {
    details: [{ field: 'reference', issue }],
    existing: { bankMoneyId: id },
  });
}

function nothingTooMuch(id: string, status: string): AppError {
  const why = status === 'REVERSED' ? 'came back whole' : 'was not paid more than its amount';
  return new AppError('INVALID_STATE', `${id} ${why}: there is nothing that its provider could take back.`);
}
