import { addLimitRule, listLimitRules, type NewLimitRule, type StoredLimitRule } from '../channels/limit-rules.ts';
import { changeTier, readApplication } from '../kyc/decide.ts';
import type { ApplicationRow } from '../kyc/model.ts';
import { addFeeRule, listFeeRules, type NewFeeRule, type StoredFeeRule } from '../ledger/fee-rules.ts';
import { toBirr } from '../lib/money.ts';
import { ownerOf, type Owner } from '../lib/owner.ts';
import type { RuleBook } from '../lib/versioned-rule.ts';
import { readSettlementLimit, setSettlementLimit, type SettlementLimit } from '../settlements/limit.ts';
import { readReviewPolicy, setReviewPolicy } from '../withdrawals/review-policy.ts';
import type { ReviewPolicy } from '../withdrawals/review.ts';
import { note, type Deed } from './audit.ts';
import { readMerchant } from './merchants.ts';

type ToMerchant = { merchantId: string; reason: string };

/** New versions of a merchant's fees, all or none; the answer says what counts then. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function changeFees(
  deed: Deed,
  { merchantId, reason, rules }: ToMerchant & { rules: Omit<NewFeeRule, 'merchantId'>[] },
): Promise<RuleBook<StoredFeeRule>> {
  const { trx } = deed.change;
  await readMerchant(trx, merchantId);
  const before = await listFeeRules(trx, merchantId, deed.at);
  const added: StoredFeeRule[] = [];
  for (const rule of rules) {
    const stored = await addFeeRule(trx, { ...rule, merchantId }, deed.at);
    if (stored) added.push(stored);
  }
  if (added.length > 0) {
    const replaced = before.inForce.filter((old) => added.some((rule) => isOfSame(old, rule)));
    await note(deed, {
      action: 'merchant.change-fees',
      ...about(merchantId),
      before: { rules: replaced.map(shownFee) },
      after: { rules: added.map(shownFee) },
      reason,
    });
  }
  return listFeeRules(trx, merchantId, deed.at);
}

/** New versions of a merchant's limits, all or none; the answer says what counts then. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function changeLimits(
  deed: Deed,
  { merchantId, reason, rules }: ToMerchant & { rules: Omit<NewLimitRule, 'merchantId'>[] },
): Promise<RuleBook<StoredLimitRule>> {
  const { trx } = deed.change;
  await readMerchant(trx, merchantId);
  const before = await listLimitRules(trx, merchantId, deed.at);
  const added: StoredLimitRule[] = [];
  for (const rule of rules) {
    const stored = await addLimitRule(trx, { ...rule, merchantId }, deed.at);
    if (stored) added.push(stored);
  }
  if (added.length > 0) {
    const replaced = before.inForce.filter((old) => added.some((rule) => isOfSame(old, rule)));
    await note(deed, {
      action: 'merchant.change-limits',
      ...about(merchantId),
      before: { rules: replaced.map(shownLimit) },
      after: { rules: added.map(shownLimit) },
      reason,
    });
  }
  return listLimitRules(trx, merchantId, deed.at);
}

/** When people look at a merchant's withdrawals from now on. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function changeReviewPolicy(
  deed: Deed,
  { merchantId, reason, ...policy }: ToMerchant & ReviewPolicy,
): Promise<ReviewPolicy & { own: boolean }> {
  const { trx } = deed.change;
  await readMerchant(trx, merchantId);
  const before = await readReviewPolicy(trx, merchantId);
  await setReviewPolicy(trx, { merchantId, ...policy });
  const after = await readReviewPolicy(trx, merchantId);
  if (JSON.stringify(shownPolicy(before)) === JSON.stringify(shownPolicy(after))) return after;
  await note(deed, {
    action: 'merchant.change-review',
    ...about(merchantId),
    before: shownPolicy(before),
    after: shownPolicy(after),
    reason,
  });
  return after;
}

/** How much a merchant may settle at once from now on. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function changeSettlementLimit(
  deed: Deed,
  { merchantId, reason, ...limit }: ToMerchant & SettlementLimit,
): Promise<SettlementLimit & { own: boolean }> {
  const { trx } = deed.change;
  await readMerchant(trx, merchantId);
  const before = await readSettlementLimit(trx, merchantId);
  await setSettlementLimit(trx, { merchantId, ...limit });
  const after = await readSettlementLimit(trx, merchantId);
  if (JSON.stringify(shownSettlementLimit(before)) === JSON.stringify(shownSettlementLimit(after))) return after;
  await note(deed, {
    action: 'merchant.change-settlement-limit',
    ...about(merchantId),
    before: shownSettlementLimit(before),
    after: shownSettlementLimit(after),
    reason,
  });
  return after;
}

/** Another tier for a merchant that is verified. Throws NOT_FOUND, INVALID_STATE, VALIDATION_ERROR. */
export async function moveToTier(
  deed: Deed,
  { tier, reason, ...of }: Owner & { tier: number; reason: string },
): Promise<ApplicationRow> {
  const owner = ownerOf(of);
  const { change, operatorId, keyId, at } = deed;
  await readMerchant(change.trx, owner.merchantId);
  const before = await readApplication(change.trx, owner);
  if (before.status === 'APPROVED' && before.tier === tier) return before;
  const after = await changeTier(change, { ...owner, operatorId, keyId, at, tier, reason });
  await note(deed, {
    action: 'kyc.change-tier',
    resourceType: 'kyc',
    resourceId: owner.merchantId,
    ...owner,
    before: { tier: before.tier },
    after: { tier: after.tier },
    reason,
  });
  return after;
}

/** A settlement limit in birr, as it is shown and noted. */
export function shownSettlementLimit({ own, minSantim, maxSantim }: SettlementLimit & { own: boolean }) {
  return { own, currency: 'ETB' as const, min: toBirr(minSantim), max: toBirr(maxSantim) };
}

/** A fee rule in birr, as it is shown and noted. */
export function shownFee(rule: StoredFeeRule) {
  const { id, merchantId, channel, direction, basisPoints, taxBasisPoints, validFrom, version } = rule;
  return {
    feeRuleId: id,
    own: merchantId !== null,
    direction,
    channel,
    basisPoints,
    fixed: toBirr(rule.fixedSantim),
    min: toBirr(rule.minSantim),
    max: rule.maxSantim === null ? null : toBirr(rule.maxSantim),
    taxBasisPoints,
    validFrom: validFrom.toISOString(),
    version,
  };
}

/** A limit rule in birr, as it is shown and noted. */
export function shownLimit(rule: StoredLimitRule) {
  const { id, merchantId, channel, direction, validFrom, version } = rule;
  return {
    limitRuleId: id,
    own: merchantId !== null,
    direction,
    channel,
    min: toBirr(rule.minSantim),
    max: toBirr(rule.maxSantim),
    daily: rule.dailySantim === null ? null : toBirr(rule.dailySantim),
    validFrom: validFrom.toISOString(),
    version,
  };
}

/** A review policy in birr, as it is shown and noted. */
export function shownPolicy({ largeAmountSantim, twoPersonSantim, perHourMax, own }: ReviewPolicy & { own: boolean }) {
  return { own, largeAmount: toBirr(largeAmountSantim), twoPersonAmount: toBirr(twoPersonSantim), perHourMax };
}

function about(merchantId: string) {
  return { resourceType: 'merchant', resourceId: merchantId, merchantId } as const;
}

function isOfSame<Rule extends { direction: string; channel: string | null }>(one: Rule, other: Rule): boolean {
  return one.direction === other.direction && one.channel === other.channel;
}
