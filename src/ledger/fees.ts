import { first, insertRow, type Queryable, type Trx } from '../lib/db.ts';
import { type RuleSchedule, readRuleBook, readValidFrom } from '../lib/effective-rules.ts';
import { found } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { lock } from '../lib/lock.ts';
import type { Santim } from '../lib/money.ts';
import type { Channel } from '../merchants/channels/channel.ts';

/** A fee: a part of the amount plus a fixed sum, within bounds, and the tax on it. */
export type FeeRule = {
  id: string;
  /** Hundredths of a percent of the amount: 250 is 2.5 %. */
  basisPoints: number;
  fixedSantim: Santim;
  minSantim: Santim;
  /** null: no upper bound. */
  maxSantim: Santim | null;
  /** Hundredths of a percent of the fee. */
  taxBasisPoints: number;
};

/** A fee and the tax on it, both whole santim. */
export type Fee = { feeSantim: Santim; feeTaxSantim: Santim };

const WHOLE = 10_000n;

/** The fee of an amount under a rule: each component is rounded once, half up. */
export function feeOf(rule: FeeRule, amountSantim: Santim): Fee {
  const wanted = part(amountSantim, rule.basisPoints) + rule.fixedSantim;
  const atLeast = wanted < rule.minSantim ? rule.minSantim : wanted;
  const feeSantim = rule.maxSantim !== null && atLeast > rule.maxSantim ? rule.maxSantim : atLeast;
  return { feeSantim, feeTaxSantim: part(feeSantim, rule.taxBasisPoints) };
}

/** The fee of a payment, limited to its amount: a payment smaller than its fee leaves a net of zero, never a debt. */
export function feeWithin(rule: FeeRule, amountSantim: Santim): Fee {
  const fee = feeOf(rule, amountSantim);
  if (fee.feeSantim + fee.feeTaxSantim <= amountSantim) return fee;
  const feeSantim = (amountSantim * WHOLE) / (WHOLE + BigInt(rule.taxBasisPoints));
  return { feeSantim, feeTaxSantim: amountSantim - feeSantim };
}

/** A part in hundredths of a percent, rounded half up. */
function part(santim: Santim, basisPoints: number): Santim {
  return (santim * BigInt(basisPoints) + WHOLE / 2n) / WHOLE;
}

/** A rule as the SQL function `effective_fee_rule` returns it in JSON, with santim as numbers. */
export type FeeRuleJson = Omit<FeeRule, 'fixedSantim' | 'minSantim' | 'maxSantim'> & {
  fixedSantim: number;
  minSantim: number;
  maxSantim: number | null;
};

/** Parses the result of the SQL function `effective_fee_rule`. */
export function readFeeRule(json: FeeRuleJson): FeeRule {
  return {
    ...json,
    fixedSantim: BigInt(json.fixedSantim),
    minSantim: BigInt(json.minSantim),
    maxSantim: json.maxSantim === null ? null : BigInt(json.maxSantim),
  };
}

/** The rule that applies to a merchant: its own, or the platform's. */
export async function readEffectiveRule(
  db: Queryable,
  about: { merchantId: string; channel: Channel | null; direction: FeeDirection; at: Date },
): Promise<FeeRule> {
  const sql = 'SELECT effective_fee_rule(:merchantId, :channel, :direction, :at) AS rule';
  return readFeeRule(found(await first<{ rule: FeeRuleJson }>(db, sql, about), 'fee rule').rule);
}

export const FEE_DIRECTIONS = ['PAY_IN', 'PAY_OUT', 'SETTLEMENT'] as const;
export type FeeDirection = (typeof FEE_DIRECTIONS)[number];

/** Which fees a rule is about; channel null: settlements, which use none. */
type FeePlace<Merchant> = { merchantId: Merchant; channel: Channel | null; direction: FeeDirection };

/** A stored rule: the merchant's own, or (merchantId null) the platform's default. */
export type StoredFeeRule = FeeRule & FeePlace<string | null> & { validFrom: Date; version: number };

export type NewFeeRule = Omit<FeeRule, 'id'> & FeePlace<string> & { validFrom?: Date | undefined };

const FIGURES = ['basisPoints', 'fixedSantim', 'minSantim', 'maxSantim', 'taxBasisPoints'] as const;

/**
 * Adds a version of a merchant's own rule; earlier versions stay, to explain past charges. Returns null when the newest
 * version is the same. Throws VALIDATION_ERROR for a start in the past.
 */
export async function addFeeRule(trx: Trx, wanted: NewFeeRule, now: Date): Promise<StoredFeeRule | null> {
  const { merchantId, channel, direction } = wanted;
  const begins = wanted.validFrom?.getTime();
  const validFrom = readValidFrom(wanted.validFrom, now);
  await lock(trx, 'fee_rule', merchantId);
  const newest = await first<StoredFeeRule>(
    trx,
    `SELECT * FROM fee_rule WHERE merchant_id = :merchantId AND direction = :direction
       AND channel IS NOT DISTINCT FROM CAST(:channel AS text) ORDER BY version DESC LIMIT 1`,
    { merchantId, channel, direction },
  );
  const isSame = newest && FIGURES.every((figure) => newest[figure] === wanted[figure]);
  // Without a start: already in force. With a start: the same instant.
  if (isSame && (begins === undefined ? newest.validFrom <= now : newest.validFrom.getTime() === begins)) return null;
  const version = (newest?.version ?? 0) + 1;
  return insertRow<StoredFeeRule>(trx, 'fee_rule', { ...wanted, id: newId('fee'), validFrom, version });
}

/** The current rules of a merchant, by channel and direction, and the scheduled ones. */
export async function listFeeRules(db: Queryable, merchantId: string, at: Date): Promise<RuleSchedule<StoredFeeRule>> {
  return readRuleBook(db, { table: 'fee_rule', columns: '*' }, { merchantId, at });
}
