import { rows, type Knex, type Queryable } from '../lib/db.ts';
import { readRuleBook, readValidFrom, type RuleSchedule } from '../lib/effective-rules.ts';
import { invalid } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { FeeRule } from './fees.ts';

export const FEE_DIRECTIONS = ['PAY_IN', 'PAY_OUT', 'SETTLEMENT'] as const;
export type FeeDirection = (typeof FEE_DIRECTIONS)[number];

/** Beyond these a typing mistake is likelier than a contract. */
export const FEE_BOUNDS = { basisPointsMax: 2_000, fixedSantimMax: 1_000_000n, taxBasisPointsMax: 3_500 } as const;

/** A rule as it is kept: the merchant's own, or (merchantId null) everybody's who has none. */
export type StoredFeeRule = FeeRule & {
  merchantId: string | null;
  /** null: settlements, which take no channel. */
  channel: Channel | null;
  direction: FeeDirection;
  validFrom: Date;
  version: number;
};

export type NewFeeRule = Omit<FeeRule, 'id'> & {
  merchantId: string;
  channel: Channel | null;
  direction: FeeDirection;
  validFrom?: Date | undefined;
};

/**
 * Adds a version of a merchant's own rule; earlier ones stay, for what they charged. null when the newest version says
 * the same already. Throws VALIDATION_ERROR for what is beyond the bounds or begins in the past.
 */
export async function addFeeRule(trx: Knex.Transaction, wanted: NewFeeRule, now: Date): Promise<StoredFeeRule | null> {
  rejectUnusable(wanted);
  const validFrom = readValidFrom(wanted.validFrom, now);
  await rows(trx, `SELECT pg_advisory_xact_lock(hashtextextended('fee_rule ' || :merchantId, 0))`, {
    merchantId: wanted.merchantId,
  });
  const { merchantId, channel, direction } = wanted;
  const [newest] = await rows<StoredFeeRule>(
    trx,
    `SELECT ${COLUMNS} FROM fee_rule
     WHERE merchant_id = :merchantId AND direction = :direction AND coalesce(channel, '') = coalesce(CAST(:channel AS text), '')
     ORDER BY version DESC LIMIT 1`,
    { merchantId, channel, direction },
  );
  const begins = wanted.validFrom ?? null;
  if (newest && isSameRule(newest, wanted) && isSameTime(newest.validFrom, { begins, now })) return null;
  const [added] = await rows<StoredFeeRule>(
    trx,
    `INSERT INTO fee_rule (id, merchant_id, channel, direction, basis_points, fixed_santim, min_santim, max_santim,
                           tax_basis_points, valid_from, version)
     VALUES (:id, :merchantId, :channel, :direction, :basisPoints, :fixedSantim, :minSantim, :maxSantim,
             :taxBasisPoints, :validFrom, :version)
     RETURNING ${COLUMNS}`,
    {
      ...wanted,
      id: newId('fee'),
      validFrom,
      version: (newest?.version ?? 0) + 1,
    },
  );
  return added ?? null;
}

/** What a merchant is charged now, by channel and direction, and what is set to follow. */
export async function listFeeRules(db: Queryable, merchantId: string, at: Date): Promise<RuleSchedule<StoredFeeRule>> {
  return readRuleBook(db, { table: 'fee_rule', columns: COLUMNS }, { merchantId, at });
}

const COLUMNS = `id, merchant_id, channel, direction, basis_points, fixed_santim, min_santim, max_santim,
  tax_basis_points, valid_from, version`;

function rejectUnusable({
  channel,
  direction,
  basisPoints,
  fixedSantim,
  minSantim,
  maxSantim,
  taxBasisPoints,
}: NewFeeRule) {
  if ((channel === null) !== (direction === 'SETTLEMENT')) {
    throw invalid('channel', 'must be given for PAY_IN and PAY_OUT, and left out for SETTLEMENT');
  }
  requireWithin('basisPoints', basisPoints, FEE_BOUNDS.basisPointsMax);
  requireWithin('taxBasisPoints', taxBasisPoints, FEE_BOUNDS.taxBasisPointsMax);
  for (const [field, santim] of Object.entries({ fixed: fixedSantim, min: minSantim, max: maxSantim ?? 0n })) {
    if (santim >= 0n && santim <= FEE_BOUNDS.fixedSantimMax) continue;
    const most = formatBirr(FEE_BOUNDS.fixedSantimMax);
    throw invalid(field, `must be from 0 to ${most} ETB, got ${formatBirr(santim)}`);
  }
  if (maxSantim !== null && maxSantim < minSantim) {
    throw invalid('max', `must be at least min, got ${formatBirr(maxSantim)} and ${formatBirr(minSantim)}`);
  }
}

function requireWithin(field: string, points: number, most: number): void {
  if (Number.isInteger(points) && points >= 0 && points <= most) return;
  throw invalid(field, `must be a whole number from 0 to ${most} (hundredths of a percent), got ${points}`);
}

function isSameRule(one: FeeRule, other: NewFeeRule): boolean {
  const same = (a: number | Santim | null, b: number | Santim | null): boolean => a === b;
  return (
    same(one.basisPoints, other.basisPoints) &&
    same(one.fixedSantim, other.fixedSantim) &&
    same(one.minSantim, other.minSantim) &&
    same(one.maxSantim, other.maxSantim) &&
    same(one.taxBasisPoints, other.taxBasisPoints)
  );
}

/** Asked for from now on: in force already. From a day: from that very instant. */
function isSameTime(validFrom: Date, { begins, now }: { begins: Date | null; now: Date }): boolean {
  return begins === null ? validFrom <= now : validFrom.getTime() === begins.getTime();
}
