import type { Channel } from '../channels/channel.ts';
import { bankMoneyFact, bankMoneyKey, type BankMoney, type UnmatchedOutcome } from '../ledger/bank-facts.ts';
import { lockReference, usedBefore, type ReferenceUse } from '../ledger/bank-references.ts';
import { post } from '../ledger/post.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Santim } from '../lib/money.ts';
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
  const outside = { environment: money.environment, way: 'in', reference: bankReference } as const;
  const uses = await lockReference(change, outside);
  const same = await findSame(change.trx, wanted, uses);
  if (same) return { money: same, isNew: false };
  if (uses[0]) throw usedBefore(uses[0], { field: 'bankReference', reference: bankReference });
  return { money: await insert(change, wanted, at), isNew: true };
}

type NewRow = Pick<BankMoneyRow, 'environment' | 'kind' | 'reference' | 'channel' | 'withdrawalId' | 'amountSantim'>;

/** Writes and posts it. */
export async function insert(change: Change, wanted: NewRow, at: Date): Promise<BankMoneyRow> {
  const id = newId('bkm', at.getTime());
  const [row] = await rows<BankMoneyRow>(
    change.trx,
    `INSERT INTO bank_money (id, environment, kind, reference, channel, withdrawal_id, amount_santim, ledger_key, booked_at)
     VALUES (:id, :environment, :kind, :reference, :channel, :withdrawalId, :amountSantim, :key, :at)
     RETURNING ${BANK_MONEY_COLUMNS}`,
    { ...wanted, id, key: bankMoneyKey({ id }), at },
  );
  if (!row) throw new Error(`${wanted.reference} is not booked`);
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

/** Of what stands booked under a trace id, the very same. */
async function findSame(
  db: Queryable,
  { kind, amountSantim, channel }: NewRow,
  uses: readonly ReferenceUse[],
): Promise<BankMoneyRow | undefined> {
  const [same] = await rows<BankMoneyRow>(
    db,
    `SELECT ${BANK_MONEY_COLUMNS} FROM bank_money
     WHERE id = ANY (:ids) AND kind = :kind AND amount_santim = :amountSantim AND (kind = 'UNMATCHED' OR channel = :channel)
     ORDER BY booked_at, id LIMIT 1`,
    { ids: uses.map(({ id }) => id), kind, amountSantim, channel },
  );
  return same;
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
