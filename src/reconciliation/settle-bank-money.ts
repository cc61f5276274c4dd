import { CHANNELS, type Channel } from '../channels/channel.ts';
import { bankMoneyCorrectedFact, unmatchedEndedFact, type UnmatchedOutcome } from '../ledger/bank-facts.ts';
import { requireUnused } from '../ledger/bank-references.ts';
import { post } from '../ledger/post.ts';
import { rows } from '../lib/db.ts';
import { AppError, notFound } from '../lib/errors.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { Change } from '../lib/outbox.ts';
import type { Environment } from '../lib/owner.ts';
import {
  BANK_MONEY_COLUMNS,
  insert,
  moneyOf,
  refused,
  requireReference,
  type BankMoneyRow,
  type Booked,
} from './bank-money.ts';

export const BANK_MONEY_WORDS = ['PLACED', 'RETURNED', 'CORRECTED'] as const;

/**
 * What an operator has found out about money that was booked. PLACED: unmatched money was a transfer of this provider.
 * RETURNED: the bank has sent it back, under this trace id. CORRECTED: it was booked wrongly, whatever it is.
 */
export type BankMoneyWord =
  | { as: 'PLACED'; channel: Channel }
  | { as: 'RETURNED'; returnReference: string }
  | { as: 'CORRECTED' };

type Said = {
  as: BankMoneyWord['as'];
  channel?: Channel | undefined;
  returnReference?: string | undefined;
};

/** What was said, with all that belongs to it and nothing else. Throws VALIDATION_ERROR. */
export function bankMoneyWord({ as, channel, returnReference }: Said): BankMoneyWord {
  if (channel !== undefined && as !== 'PLACED') throw refused('channel', 'belongs to PLACED only');
  if (returnReference !== undefined && as !== 'RETURNED') throw refused('returnReference', 'belongs to RETURNED only');
  if (as === 'CORRECTED') return { as };
  if (as === 'PLACED') {
    if (channel === undefined) throw refused('channel', `is needed with PLACED: one of ${CHANNELS.join(', ')}`);
    return { as, channel };
  }
  if (returnReference === undefined) throw refused('returnReference', "is needed with RETURNED: the bank's trace id");
  return { as, returnReference };
}

/** `changed`: this call booked it, and no earlier one. `before`: what stood until then. */
export type Settled = { money: BankMoneyRow; before: BankMoneyRow; changed: boolean };

/**
 * Takes unmatched money out of suspense, or takes back by a mirrored journal what was booked wrongly, with what was made
 * of it since: then its trace id is free to be booked rightly. The same again changes nothing. Throws NOT_FOUND,
 * VALIDATION_ERROR, INVALID_STATE (it does not wait, or was corrected) and DUPLICATE_REFERENCE (of the way back).
 */
export async function settleBankMoney(
  change: Change,
  id: string,
  { word, at }: { word: BankMoneyWord; at: Date },
): Promise<Settled> {
  const sql = `SELECT ${BANK_MONEY_COLUMNS} FROM bank_money WHERE id = :id FOR UPDATE`;
  const [before] = await rows<BankMoneyRow>(change.trx, sql, { id });
  if (!before) throw notFound('bank money');
  if (isSaid(before, word)) return { money: before, before, changed: false };
  if (before.correctedAt !== null) throw new AppError('INVALID_STATE', `${id} was corrected: it counts no more.`);
  if (word.as === 'CORRECTED') return correct(change, before, at);
  if (before.kind !== 'UNMATCHED' || before.outcome !== null) throw waitsNoMore(before);
  if (word.as === 'RETURNED') requireReference('returnReference', word.returnReference);
  return end(change, before, { word, at });
}

function isSaid(row: BankMoneyRow, word: BankMoneyWord): boolean {
  if (word.as === 'CORRECTED') return row.correctedAt !== null;
  if (row.outcome !== word.as || row.correctedAt !== null) return false;
  return word.as === 'PLACED' ? row.channel === word.channel : row.returnReference === word.returnReference;
}

function waitsNoMore({ id, kind, outcome, channel, returnReference }: BankMoneyRow): AppError {
  const stands =
    kind !== 'UNMATCHED'
      ? 'is no unmatched money'
      : outcome === 'PLACED'
        ? `was placed as a transfer of ${channel}`
        : `went back, under the reference ${returnReference}`;
  return new AppError('INVALID_STATE', `${id} ${stands}. Where that is wrong, correct it, and book it anew.`);
}

type Ending = { word: Exclude<BankMoneyWord, { as: 'CORRECTED' }>; at: Date };

async function end(change: Change, before: BankMoneyRow, { word, at }: Ending): Promise<Settled> {
  const returnReference = word.as === 'RETURNED' ? word.returnReference : null;
  if (returnReference !== null) {
    const { environment } = before;
    await requireUnused(change, { environment, way: 'out', reference: returnReference, field: 'returnReference' });
  }
  const [money] = await rows<BankMoneyRow>(
    change.trx,
    `UPDATE bank_money SET outcome = :as, outcome_at = :at, channel = :channel, return_reference = :returnReference
     WHERE id = :id RETURNING ${BANK_MONEY_COLUMNS}`,
    { id: before.id, as: word.as, at, channel: word.as === 'PLACED' ? word.channel : null, returnReference },
  );
  if (!money) throw new Error(`${before.id} is gone`);
  await post(change.trx, unmatchedEndedFact(moneyOf(money), word), at);
  return { money, before, changed: true };
}

async function correct(change: Change, before: BankMoneyRow, at: Date): Promise<Settled> {
  const [money] = await rows<BankMoneyRow>(
    change.trx,
    `UPDATE bank_money SET corrected_at = :at WHERE id = :id RETURNING ${BANK_MONEY_COLUMNS}`,
    { id: before.id, at },
  );
  if (!money) throw new Error(`${before.id} is gone`);
  await post(change.trx, bankMoneyCorrectedFact(moneyOf(before), outcomeOf(before)), at);
  return { money, before, changed: true };
}

function outcomeOf({ outcome, channel }: BankMoneyRow): UnmatchedOutcome | null {
  if (outcome !== 'PLACED') return outcome && { as: outcome };
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
  change: Change,
  { withdrawalId, reference, at }: ExcessTakenBack,
): Promise<Booked> {
  requireReference('reference', reference);
  // Until this change is over it is not reversed.
  const [paid] = await rows<Overpaid>(
    change.trx,
    `SELECT environment, channel, status, amount_santim, paid_santim FROM withdrawal WHERE id = :withdrawalId FOR UPDATE`,
    { withdrawalId },
  );
  if (!paid) throw notFound('withdrawal');
  const sql = `SELECT ${BANK_MONEY_COLUMNS} FROM bank_money WHERE withdrawal_id = :withdrawalId AND corrected_at IS NULL`;
  const [standing] = await rows<BankMoneyRow>(change.trx, sql, { withdrawalId });
  if (standing?.reference === reference) return { money: standing, isNew: false };
  if (standing) throw takenBackBefore(standing);
  const amountSantim = (paid.paidSantim ?? paid.amountSantim) - paid.amountSantim;
  if (paid.status !== 'SUCCESS' || amountSantim <= 0n) throw nothingTooMuch(withdrawalId, paid.status);
  const { environment, channel } = paid;
  const row = { environment, channel, kind: 'EXCESS', reference, withdrawalId, amountSantim } as const;
  await requireUnused(change, { environment, way: 'excess', reference, field: 'reference' });
  return { money: await insert(change, row, at), isNew: true };
}

function takenBackBefore({ id, reference, withdrawalId, amountSantim }: BankMoneyRow): AppError {
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
