import { first, type Queryable } from '../lib/db.ts';
import { found } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { StoredRule } from '../merchants/effective-rules.ts';

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
  /** Of payments: whether a refund may give back its part of the fee and the tax. */
  returnedOnRefund: boolean;
};

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

/** A payment, and its refunds that give the fee back: those before, and the amount of the next one. */
export type Refunded = { paidSantim: Santim; fee: Fee; before: Fee & { amountSantim: Santim }; amountSantim: Santim };

/**
 * What a refund gives back of the payment's fee and tax: with those before it the same part as of the amount, half up, so
 * that no series of refunds gives back more than was taken, and a whole one all. At least 0.01 ETB of each is the merchant's.
 */
export function feeReturned({ paidSantim, fee, before, amountSantim }: Refunded): Fee {
  const total = before.amountSantim + amountSantim;
  const left = (taken: Santim, returned: Santim): Santim => {
    const due = (2n * taken * total + paidSantim) / (2n * paidSantim) - returned;
    return due > 0n ? due : 0n;
  };
  const most = (santim: Santim, limit: Santim): Santim => (santim < limit ? santim : limit);
  const feeSantim = most(left(fee.feeSantim, before.feeSantim), amountSantim - 1n);
  const feeTaxSantim = most(left(fee.feeTaxSantim, before.feeTaxSantim), amountSantim - 1n - feeSantim);
  return { feeSantim, feeTaxSantim };
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

/** Whether the merchant's fees for a payment that was made then let refunds give its fee back. */
export async function isFeeReturnable(
  db: Queryable,
  { merchantId, channel, completedAt }: { merchantId: string; channel: Channel | null; completedAt: Date | null },
): Promise<boolean> {
  if (completedAt === null) return false;
  return (await readEffectiveRule(db, { merchantId, channel, direction: 'PAY_IN', at: completedAt })).returnedOnRefund;
}

export const FEE_DIRECTIONS = ['PAY_IN', 'PAY_OUT', 'SETTLEMENT'] as const;
export type FeeDirection = (typeof FEE_DIRECTIONS)[number];

/** `channel` is null for settlements, which use none. */
export type StoredFeeRule = FeeRule & StoredRule & { channel: Channel | null; direction: FeeDirection };
