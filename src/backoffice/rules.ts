import { recordAudit, type AuditContext } from '../access/audit.ts';
import { addFeeRule, listFeeRules, type NewFeeRule, type StoredFeeRule } from '../ledger/fees.ts';
import type { RuleSchedule } from '../lib/effective-rules.ts';
import { toBirr } from '../lib/money.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import { addLimitRule, listLimitRules, type NewLimitRule, type StoredLimitRule } from '../merchants/channels/limits.ts';
import { changeTier } from '../merchants/kyc/decide.ts';
import { readApplication, type ApplicationRow } from '../merchants/kyc/queries.ts';
import { readSettlementLimit, setSettlementLimit, type SettlementLimit } from '../settlements/limit.ts';
import { readReviewPolicy, setReviewPolicy, type ReviewPolicy } from '../withdrawals/review.ts';
import { readMerchant } from './merchants.ts';

type ToMerchant = { merchantId: string; reason: string };

/** New versions of a merchant's fees, all or none; the answer says what counts then. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function changeFees(
  context: AuditContext,
  { merchantId, reason, rules }: ToMerchant & { rules: Omit<NewFeeRule, 'merchantId'>[] },
): Promise<RuleSchedule<StoredFeeRule>> {
  const { trx } = context.tx;
  await readMerchant(trx, merchantId);
  const before = await listFeeRules(trx, merchantId, context.at);
  const added: StoredFeeRule[] = [];
  for (const rule of rules) {
    const stored = await addFeeRule(trx, { ...rule, merchantId }, context.at);
    if (stored) added.push(stored);
  }
  if (added.length > 0) {
    const replaced = before.current.filter((old) => added.some((rule) => isOfSame(old, rule)));
    await recordAudit(context, {
      action: 'merchant.change-fees',
      ...about(merchantId),
      before: { rules: replaced.map(presentFee) },
      after: { rules: added.map(presentFee) },
      reason,
    });
  }
  return listFeeRules(trx, merchantId, context.at);
}

/** New versions of a merchant's limits, all or none; the answer says what counts then. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function changeLimits(
  context: AuditContext,
  { merchantId, reason, rules }: ToMerchant & { rules: Omit<NewLimitRule, 'merchantId'>[] },
): Promise<RuleSchedule<StoredLimitRule>> {
  const { trx } = context.tx;
  await readMerchant(trx, merchantId);
  const before = await listLimitRules(trx, merchantId, context.at);
  const added: StoredLimitRule[] = [];
  for (const rule of rules) {
    const stored = await addLimitRule(trx, { ...rule, merchantId }, context.at);
    if (stored) added.push(stored);
  }
  if (added.length > 0) {
    const replaced = before.current.filter((old) => added.some((rule) => isOfSame(old, rule)));
    await recordAudit(context, {
      action: 'merchant.change-limits',
      ...about(merchantId),
      before: { rules: replaced.map(presentLimit) },
      after: { rules: added.map(presentLimit) },
      reason,
    });
  }
  return listLimitRules(trx, merchantId, context.at);
}

/** When people look at a merchant's withdrawals from now on. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function changeReviewPolicy(
  context: AuditContext,
  { merchantId, reason, ...policy }: ToMerchant & ReviewPolicy,
): Promise<ReviewPolicy & { own: boolean }> {
  const { trx } = context.tx;
  await readMerchant(trx, merchantId);
  const before = await readReviewPolicy(trx, merchantId);
  await setReviewPolicy(trx, { merchantId, ...policy });
  const after = await readReviewPolicy(trx, merchantId);
  if (JSON.stringify(presentPolicy(before)) === JSON.stringify(presentPolicy(after))) return after;
  await recordAudit(context, {
    action: 'merchant.change-review',
    ...about(merchantId),
    before: presentPolicy(before),
    after: presentPolicy(after),
    reason,
  });
  return after;
}

/** How much a merchant may settle at once from now on. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function changeSettlementLimit(
  context: AuditContext,
  { merchantId, reason, ...limit }: ToMerchant & SettlementLimit,
): Promise<SettlementLimit & { own: boolean }> {
  const { trx } = context.tx;
  await readMerchant(trx, merchantId);
  const before = await readSettlementLimit(trx, merchantId);
  await setSettlementLimit(trx, { merchantId, ...limit });
  const after = await readSettlementLimit(trx, merchantId);
  if (JSON.stringify(presentSettlementLimit(before)) === JSON.stringify(presentSettlementLimit(after))) return after;
  await recordAudit(context, {
    action: 'merchant.change-settlement-limit',
    ...about(merchantId),
    before: presentSettlementLimit(before),
    after: presentSettlementLimit(after),
    reason,
  });
  return after;
}

/** Another tier for a merchant that is verified. Throws NOT_FOUND, INVALID_STATE, VALIDATION_ERROR. */
export async function moveToTier(
  context: AuditContext,
  { tier, reason, ...of }: MerchantScope & { tier: number; reason: string },
): Promise<ApplicationRow> {
  const scope = scopeOf(of);
  const { tx, operatorId, keyId, at } = context;
  await readMerchant(tx.trx, scope.merchantId);
  const before = await readApplication(tx.trx, scope);
  if (before.status === 'APPROVED' && before.tier === tier) return before;
  const after = await changeTier(tx, { ...scope, operatorId, keyId, at, tier, reason });
  await recordAudit(context, {
    action: 'kyc.change-tier',
    resourceType: 'kyc',
    resourceId: scope.merchantId,
    ...scope,
    before: { tier: before.tier },
    after: { tier: after.tier },
    reason,
  });
  return after;
}

/** A settlement limit in birr, as it is shown and noted. */
export function presentSettlementLimit({ own, minSantim, maxSantim }: SettlementLimit & { own: boolean }) {
  return { own, currency: 'ETB' as const, min: toBirr(minSantim), max: toBirr(maxSantim) };
}

/** A fee rule in birr, as it is shown and noted. */
export function presentFee(rule: StoredFeeRule) {
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
export function presentLimit(rule: StoredLimitRule) {
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
export function presentPolicy({
  largeAmountSantim,
  twoPersonSantim,
  perHourMax,
  own,
}: ReviewPolicy & { own: boolean }) {
  return { own, largeAmount: toBirr(largeAmountSantim), twoPersonAmount: toBirr(twoPersonSantim), perHourMax };
}

function about(merchantId: string) {
  return { resourceType: 'merchant', resourceId: merchantId, merchantId } as const;
}

function isOfSame<Rule extends { direction: string; channel: string | null }>(one: Rule, other: Rule): boolean {
  return one.direction === other.direction && one.channel === other.channel;
}
