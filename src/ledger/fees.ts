import type { Santim } from '../lib/money.ts';

/** What is charged: a part of the amount plus a fixed sum, within bounds; and the tax on that. */
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

/**
 * The fee of money that came in, which can take no more than what came: a payment smaller than its fee leaves the
 * merchant nothing, and never a debt.
 */
export function feeWithin(rule: FeeRule, amountSantim: Santim): Fee {
  const fee = feeOf(rule, amountSantim);
  if (fee.feeSantim + fee.feeTaxSantim <= amountSantim) return fee;
  const feeSantim = (amountSantim * WHOLE) / (WHOLE + BigInt(rule.taxBasisPoints));
  return { feeSantim, feeTaxSantim: amountSantim - feeSantim };
}

/** So many hundredths of a percent, rounded half up. */
function part(santim: Santim, basisPoints: number): Santim {
  return (santim * BigInt(basisPoints) + WHOLE / 2n) / WHOLE;
}

/** A rule as `effective_fee_rule` answers it in JSON, where santim are plain numbers. */
export type FeeRuleJson = Omit<FeeRule, 'fixedSantim' | 'minSantim' | 'maxSantim'> & {
  fixedSantim: number;
  minSantim: number;
  maxSantim: number | null;
};

/** Reads what the SQL function `effective_fee_rule` has answered. */
export function readFeeRule(json: FeeRuleJson): FeeRule {
  return {
    ...json,
    fixedSantim: BigInt(json.fixedSantim),
    minSantim: BigInt(json.minSantim),
    maxSantim: json.maxSantim === null ? null : BigInt(json.maxSantim),
  };
}
