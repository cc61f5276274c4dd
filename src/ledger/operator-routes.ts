import { operatorReadRoute, operatorRoute } from '../access/operator-route.ts';
import { MerchantParams } from '../access/operator-schema.ts';
import type { Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import { addRules, presentSchedule } from '../lib/effective-rules.ts';
import { toBirr, toSantim } from '../lib/money.ts';
import { readMerchant } from '../merchants/operations.ts';
import { addFeeRule, listFeeRules, type StoredFeeRule } from './fees.ts';
import * as schema from './schema.ts';

/** The fees of merchants. */
export function feeOperatorRoutes({ db, clock }: { db: Database; clock: Clock }): Route[] {
  const path = '/api/ops/merchants/:merchantId/fees';
  return [
    operatorReadRoute(`GET ${path}`, {
      params: MerchantParams,
      operationId: 'opsGetFees',
      summary: "Get a merchant's current and scheduled fees",
      responses: { 200: schema.FeeSchedule },
      handle: async ({ params: { merchantId } }) => {
        await readMerchant(db, merchantId);
        const schedule = await listFeeRules(db, merchantId, clock());
        return { message: 'Fees retrieved', data: presentSchedule(schedule, presentFee) };
      },
    }),
    operatorRoute(`PUT ${path}`, {
      params: MerchantParams,
      operationId: 'opsChangeFees',
      summary: "Add versions of a merchant's own fees; fees that were charged stay as they are",
      action: 'merchant.change-fees',
      secondPerson: 'always',
      clock,
      body: schema.FeeChanges,
      responses: { 200: schema.FeeSchedule },
      run: async ({ tx: { trx }, at }, { params: { merchantId }, body }) => {
        await readMerchant(trx, merchantId);
        const { added, replaced, schedule } = await addRules(body.rules, {
          list: () => listFeeRules(trx, merchantId, at),
          add: ({ fixed, min, max, channel = null, ...rule }) => {
            const maxSantim = max === null ? null : toSantim(max);
            const amounts = { fixedSantim: toSantim(fixed), minSantim: toSantim(min), maxSantim };
            return addFeeRule(trx, { ...rule, ...amounts, channel, merchantId }, at);
          },
        });
        const audit = {
          resourceType: 'merchant',
          resourceId: merchantId,
          merchantId,
          before: { rules: replaced.map(presentFee) },
          after: { rules: added.map(presentFee) },
        } as const;
        const data = presentSchedule(schedule, presentFee);
        return { message: 'Fees changed', data, audit: added.length > 0 ? audit : null };
      },
    }),
  ];
}

function presentFee({ id, merchantId, fixedSantim, minSantim, maxSantim, ...rule }: StoredFeeRule) {
  const { direction, channel, basisPoints, taxBasisPoints, validFrom, version } = rule;
  const places = { feeRuleId: id, own: merchantId !== null, direction, channel };
  const amounts = {
    fixed: toBirr(fixedSantim),
    min: toBirr(minSantim),
    max: maxSantim === null ? null : toBirr(maxSantim),
  };
  return { ...places, basisPoints, ...amounts, taxBasisPoints, validFrom: validFrom.toISOString(), version };
}
