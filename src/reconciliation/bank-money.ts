import type { Channel } from '../channels/channel.ts';
import { bankMoneyFact, bankMoneyKey, type BankMoney, type UnmatchedOutcome } from '../ledger/bank-facts.ts';
import { post } from '../ledger/post.ts';
import { addisDay } from '../lib/dates.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { Change } from '../lib/outbox.ts';
import type { Environment } from '../lib/owner.ts';

/** A row of `bank_money`: what an operator has booked of money outside, and what became of it. */
export type BankMoneyRow = {
  id: string;
  environment: Environment;
  kind: BankMoney['kind'];
  /** The bank's trace id; of EXCESS the provider's own reference. */
  reference: string;
  channel: Channel | null;
  withdrawalId: string | null;
  amountSantim: Santim;
  bookedAt: Date;
  /** Of unmatched money; null while it waits in suspense. */
  outcome: UnmatchedOutcome['as'] | null;
  outcomeAt: Date | null;
  /** The bank's trace id of its way back. */
  returnReference: string | null;
  /** It was booked wrongly, and counts no more. */
  correctedAt: Date | null;
};

/** `isNew`: this call booked it, and no earlier one. */
export type Booked = { money: BankMoneyRow; isNew: boolean };

/** Money that came to the operator's bank account. `bankReference`: the bank's trace id, which is booked once. */
export type ArrivedMoney = { environment: Environment; amountSantim: Santim; bankReference: string; at: Date };

export const BANK_MONEY_COLUMNS = `id, environment, kind, reference, channel, withdrawal_id, amount_santim, booked_at, outcome,
  outcome_at, return_reference, corrected_at`;

/**
 * Money has come to the bank: of a provider, which owes that much less, or (no channel) of nobody known, so that it waits
 * in suspense. A trace id is booked once, as one of them; the same again changes nothing. Throws VALIDATION_ERROR (no
 * money, no reference) and DUPLICATE_REFERENCE, naming what the trace id was booked as.
 */
export async function recordArrival(
  change: Change,
  { bankReference, channel = null, at, ...money }: ArrivedMoney & { channel?: Channel | null | undefined },
): Promise<Booked> {
  requireReference('bankReference', bankReference);
  if (money.amountSantim <= 0n) throw refused('amount', 'must be above 0');
  const kind = channel === null ? 'UNMATCHED' : 'TRANSFER';
  const wanted = { ...money, kind, reference: bankReference, channel, withdrawalId: null } as const;
  // Of two who book it in the same moment, the second's insertion waits for the first's end.
  for (let tries = 1; tries <= 2; tries += 1) {
    const standing = await findArrivals(change.trx, wanted);
    const same = standing.find((one) => isSame(one, wanted));
    if (same) return { money: same, isNew: false };
    if (standing[0]) throw bookedBefore(standing[0]);
    await requireNoReturn(change.trx, wanted);
    const booked = await insert(change, wanted, at);
    if (booked) return { money: booked, isNew: true };
  }
  throw new Error(`${bankReference} can neither be booked nor found`);
}

type NewRow = Pick<BankMoneyRow, 'environment' | 'kind' | 'reference' | 'channel' | 'withdrawalId' | 'amountSantim'>;

/** Writes and posts it; null when it stands already. */
export async function insert(change: Change, wanted: NewRow, at: Date): Promise<BankMoneyRow | null> {
  const id = newId('bkm', at.getTime());
  const [row] = await rows<BankMoneyRow>(
    change.trx,
    `INSERT INTO bank_money (id, environment, kind, reference, channel, withdrawal_id, amount_santim, ledger_key, booked_at)
     VALUES (:id, :environment, :kind, :reference, :channel, :withdrawalId, :amountSantim, :key, :at)
     ON CONFLICT DO NOTHING RETURNING ${BANK_MONEY_COLUMNS}`,
    { ...wanted, id, key: bankMoneyKey({ id }), at },
  );
  if (!row) return null;
  await post(change.trx, bankMoneyFact(moneyOf(row)), at);
  return row;
}

/** As the ledger's facts take it: as it was when it was booked. */
export function moneyOf({ id, environment, amountSantim, kind, channel }: BankMoneyRow): BankMoney {
  const base = { id, environment, amountSantim };
  if (kind === 'UNMATCHED') return { ...base, kind };
  if (channel === null) throw new Error(`${id} has no channel`);
  return { ...base, kind, channel };
}

/** What stands booked under a trace id; one, but for what was booked before that was made sure of. */
async function findArrivals(db: Queryable, { environment, reference }: NewRow): Promise<BankMoneyRow[]> {
  return rows<BankMoneyRow>(
    db,
    `SELECT ${BANK_MONEY_COLUMNS} FROM bank_money
     WHERE reference = :reference AND environment = :environment AND kind <> 'EXCESS' AND corrected_at IS NULL
     ORDER BY booked_at, id`,
    { environment, reference },
  );
}

function isSame(row: BankMoneyRow, wanted: NewRow): boolean {
  const isThisChannel = row.kind === 'UNMATCHED' || row.channel === wanted.channel;
  return row.kind === wanted.kind && row.amountSantim === wanted.amountSantim && isThisChannel;
}

function bookedBefore(row: BankMoneyRow): AppError {
  const as = row.kind === 'UNMATCHED' ? 'unmatched money' : `a transfer of ${row.channel}`;
  const birr = formatBirr(row.amountSantim);
  const issue = `"${row.reference}" was booked as ${as}, ${birr} ETB, on ${addisDay(row.bookedAt)} (${row.id})`;
  const message = `bankReference ${issue}. Where that is wrong, correct it first.`;
  const existing = { bankMoneyId: row.id };
  return new AppError('DUPLICATE_REFERENCE', message, { details: [{ field: 'bankReference', issue }], existing });
}

/** What the bank sent back of a settlement is booked with the settlement. */
async function requireNoReturn(db: Queryable, { environment, reference }: NewRow): Promise<void> {
  const [settlement] = await rows<{ id: string }>(
    db,
    `SELECT id FROM settlement WHERE environment = :environment AND return_reference = :reference`,
    { environment, reference },
  );
  if (!settlement) return;
  const issue = `"${reference}" was booked as the return of ${settlement.id}`;
  const existing = { settlementId: settlement.id };
  throw new AppError('DUPLICATE_REFERENCE', `bankReference ${issue}.`, {
    details: [{ field: 'bankReference', issue }],
    existing,
  });
}

const REFERENCE = /^[A-Za-z0-9][A-Za-z0-9_./-]{0,63}$/;

/** Throws VALIDATION_ERROR. */
export function requireReference(field: string, reference: string): void {
  if (REFERENCE.test(reference)) return;
  throw refused(field, 'must be 1 to 64 letters, digits and any of _ . / -, beginning with one of the former');
}

export function refused(field: string, issue: string): AppError {
  return new AppError('VALIDATION_ERROR', `${field} ${issue}.`, { details: [{ field, issue }] });
}
