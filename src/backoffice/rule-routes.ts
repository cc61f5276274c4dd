import { auditContextOf } from '../access/audit.ts';
import { ANY_OPERATOR, requirePermission } from '../access/permissions.ts';
import { readRoute, writeRoute, type Route } from '../http/route.ts';
import { listFeeRules } from '../ledger/fees.ts';
import type { Clock } from '../lib/clock.ts';
import type { Knex } from '../lib/db.ts';
import type { RuleSchedule } from '../lib/effective-rules.ts';
import { toSantim } from '../lib/money.ts';
import { listLimitRules } from '../merchants/channels/limits.ts';
import { readSettlementLimit } from '../settlements/limit.ts';
import { readReviewPolicy } from '../withdrawals/review.ts';
import { Application } from './kyc-schema.ts';
import { readMerchant } from './merchants.ts';
import { presentApplication } from './present.ts';
import * as ruleSchema from './rule-schema.ts';
import {
  changeFees,
  changeLimits,
  changeReviewPolicy,
  changeSettlementLimit,
  moveToTier,
  presentFee,
  presentLimit,
  presentPolicy,
  presentSettlementLimit,
} from './rules.ts';
import { MerchantParams } from './schema.ts';

export type RuleRouteDeps = { db: Knex; clock: Clock };

/** What a merchant is charged, may move, and is reviewed by. */
export function ruleRoutes(deps: RuleRouteDeps): Route[] {
  return [
    ...feeRoutes(deps),
    ...limitRoutes(deps),
    ...reviewRoutes(deps),
    ...settlementLimitRoutes(deps),
    tierRoute(deps),
  ];
}

function presentSchedule<Rule, Shown>({ current, scheduled }: RuleSchedule<Rule>, show: (rule: Rule) => Shown) {
  return { current: current.map(show), scheduled: scheduled.map(show) };
}

function feeRoutes(deps: RuleRouteDeps): Route[] {
  const { db, clock } = deps;
  const shared = { path: '/api/ops/merchants/:merchantId/fees', tag: 'Operators', params: MerchantParams } as const;
  return [
    readRoute({
      ...shared,
      method: 'GET',
      operationId: 'opsGetFees',
      summary: 'The fees a merchant pays now, and those set to follow',
      auth: ANY_OPERATOR,
      responses: { 200: ruleSchema.Fees },
      handle: async ({ params: { merchantId } }) => {
        await readMerchant(db, merchantId);
        return {
          message: 'Fees retrieved',
          data: presentSchedule(await listFeeRules(db, merchantId, clock()), presentFee),
        };
      },
    }),
    writeRoute({
      ...shared,
      method: 'PUT',
      operationId: 'opsChangeFees',
      summary: "New versions of a merchant's own fees; what was charged before stays as it was",
      auth: requirePermission('merchant.change-fees'),
      body: ruleSchema.FeeChanges,
      responses: { 200: ruleSchema.Fees },
      handle: async (input) => {
        const rules = input.body.rules.map(({ fixed, min, max, channel, ...rule }) => ({
          ...rule,
          channel: channel ?? null,
          fixedSantim: toSantim(fixed),
          minSantim: toSantim(min),
          maxSantim: max === null ? null : toSantim(max),
        }));
        const book = await changeFees(auditContextOf(input, deps), {
          ...input.params,
          reason: input.body.reason,
          rules,
        });
        return { message: 'Fees changed', data: presentSchedule(book, presentFee) };
      },
    }),
  ];
}

function limitRoutes(deps: RuleRouteDeps): Route[] {
  const { db, clock } = deps;
  const shared = { path: '/api/ops/merchants/:merchantId/limits', tag: 'Operators', params: MerchantParams } as const;
  return [
    readRoute({
      ...shared,
      method: 'GET',
      operationId: 'opsGetLimits',
      summary: 'The limits of a merchant now, and those set to follow',
      auth: ANY_OPERATOR,
      responses: { 200: ruleSchema.Limits },
      handle: async ({ params: { merchantId } }) => {
        await readMerchant(db, merchantId);
        const book = await listLimitRules(db, merchantId, clock());
        return { message: 'Limits retrieved', data: presentSchedule(book, presentLimit) };
      },
    }),
    writeRoute({
      ...shared,
      method: 'PUT',
      operationId: 'opsChangeLimits',
      summary: "New versions of a merchant's own limits, within the platform's",
      auth: requirePermission('merchant.change-limits'),
      body: ruleSchema.LimitChanges,
      responses: { 200: ruleSchema.Limits },
      handle: async (input) => {
        const rules = input.body.rules.map(({ min, max, daily, ...rule }) => ({
          ...rule,
          minSantim: toSantim(min),
          maxSantim: toSantim(max),
          dailySantim: daily === null ? null : toSantim(daily),
        }));
        const book = await changeLimits(auditContextOf(input, deps), {
          ...input.params,
          reason: input.body.reason,
          rules,
        });
        return { message: 'Limits changed', data: presentSchedule(book, presentLimit) };
      },
    }),
  ];
}

function reviewRoutes(deps: RuleRouteDeps): Route[] {
  const { db } = deps;
  const path = '/api/ops/merchants/:merchantId/review-policy';
  const shared = { path, tag: 'Operators', params: MerchantParams } as const;
  return [
    readRoute({
      ...shared,
      method: 'GET',
      operationId: 'opsGetReviewPolicy',
      summary: "When people look at a merchant's withdrawals",
      auth: ANY_OPERATOR,
      responses: { 200: ruleSchema.ReviewPolicy },
      handle: async ({ params: { merchantId } }) => {
        await readMerchant(db, merchantId);
        return { message: 'Review policy retrieved', data: presentPolicy(await readReviewPolicy(db, merchantId)) };
      },
    }),
    writeRoute({
      ...shared,
      method: 'PUT',
      operationId: 'opsChangeReviewPolicy',
      summary: "Change when people look at a merchant's withdrawals to come",
      auth: requirePermission('merchant.change-review'),
      body: ruleSchema.ReviewPolicyChange,
      responses: { 200: ruleSchema.ReviewPolicy },
      handle: async (input) => {
        const { largeAmount, twoPersonAmount, perHourMax, reason } = input.body;
        const policy = {
          largeAmountSantim: toSantim(largeAmount),
          twoPersonSantim: toSantim(twoPersonAmount),
          perHourMax,
        };
        const after = await changeReviewPolicy(auditContextOf(input, deps), { ...input.params, ...policy, reason });
        return { message: 'Review policy changed', data: presentPolicy(after) };
      },
    }),
  ];
}

function settlementLimitRoutes(deps: RuleRouteDeps): Route[] {
  const { db } = deps;
  const path = '/api/ops/merchants/:merchantId/settlement-limit';
  const shared = { path, tag: 'Operators', params: MerchantParams } as const;
  return [
    readRoute({
      ...shared,
      method: 'GET',
      operationId: 'opsGetSettlementLimit',
      summary: 'How much a merchant may settle at once',
      auth: ANY_OPERATOR,
      responses: { 200: ruleSchema.SettlementLimit },
      handle: async ({ params: { merchantId } }) => {
        await readMerchant(db, merchantId);
        const limit = await readSettlementLimit(db, merchantId);
        return { message: 'Settlement limit retrieved', data: presentSettlementLimit(limit) };
      },
    }),
    writeRoute({
      ...shared,
      method: 'PUT',
      operationId: 'opsChangeSettlementLimit',
      summary: 'Change how much a merchant may settle at once; what was asked for before stays',
      auth: requirePermission('merchant.change-settlement-limit'),
      body: ruleSchema.SettlementLimitChange,
      responses: { 200: ruleSchema.SettlementLimit },
      handle: async (input) => {
        const { min, max, reason } = input.body;
        const limit = { minSantim: toSantim(min), maxSantim: toSantim(max), reason };
        const after = await changeSettlementLimit(auditContextOf(input, deps), { ...input.params, ...limit });
        return { message: 'Settlement limit changed', data: presentSettlementLimit(after) };
      },
    }),
  ];
}

function tierRoute(deps: RuleRouteDeps): Route {
  return writeRoute({
    method: 'PUT',
    path: '/api/ops/merchants/:merchantId/kyc/tier',
    operationId: 'opsChangeTier',
    tag: 'Operators',
    summary: 'Give a verified merchant another tier, which limits its live channels and amounts',
    auth: requirePermission('kyc.change-tier'),
    params: MerchantParams,
    body: ruleSchema.TierChange,
    responses: { 200: Application },
    errors: ['INVALID_STATE'],
    handle: async (input) => {
      const row = await moveToTier(auditContextOf(input, deps), { ...input.params, ...input.body });
      return { message: `The merchant is in tier ${row.tier}`, data: presentApplication(row) };
    },
  });
}
