import type { Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import { compareRules, readRules } from '../lib/effective-rules.ts';
import { toBirr, toSantim } from '../lib/money.ts';
import { settingRoutes } from '../merchants/setting-routes.ts';
import { addFeeRule, type StoredFeeRule } from './fees.ts';
import * as schema from './schema.ts';

/** The fees of merchants. */
export function feeOperatorRoutes(deps: { db: Database; clock: Clock }): Route[] {
  return settingRoutes(deps, {
    path: 'fees',
    name: 'Fees',
    get: { operationId: 'opsGetFees', summary: "Get a merchant's current and scheduled fees" },
    put: {
      operationId: 'opsChangeFees',
      summary: "Add versions of a merchant's own fees; fees that were charged stay as they are",
    },
    action: 'merchant.change-fees',
    body: schema.FeeChanges,
    response: schema.FeeSchedule,
    read: (db, about) => readRules(db, { table: 'fee_rule', present: presentFee }, about),
    write: async (trx, { merchantId, at }, { rules }) => {
      for (const { fixed, min, max, channel = null, ...rule } of rules) {
        const maxSantim = max === null ? null : toSantim(max);
        const amounts = { fixedSantim: toSantim(fixed), minSantim: toSantim(min), maxSantim };
        await addFeeRule(trx, { ...rule, ...amounts, channel, merchantId }, at);
      }
    },
    compare: compareRules,
  });
}

function presentFee(rule: StoredFeeRule) {
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
    validFrom,
    version,
  };
}
