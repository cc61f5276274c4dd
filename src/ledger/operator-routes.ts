import { z } from 'zod';

import { reason } from '../access/operator-schema.ts';
import type { Route } from '../http/route.ts';
import type { Database } from '../lib/db.ts';
import { instant } from '../lib/fields.ts';
import { BIRR_RULE, isBirr, toBirr, toSantim } from '../lib/money.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';
import { addRule, compareRules, readRules, RULES_MAX, validFromParam } from '../merchants/effective-rules.ts';
import { settingRoutes } from '../merchants/setting-routes.ts';
import { FEE_DIRECTIONS, type StoredFeeRule } from './fees.ts';

const channel = z.enum(CHANNELS);

/** Bounds against typing mistakes, beyond any contract. */
const FEE_BIRR_MAX = 10_000;
const FEE_POINTS_MAX = 2_000;
const TAX_POINTS_MAX = 3_500;

const feeBirr = z
  .number()
  .refine((amount) => amount === 0 || isBirr(amount), { error: BIRR_RULE.replace('more than 0', 'at least 0') })
  .refine((amount) => amount <= FEE_BIRR_MAX, { error: `must be from 0 to ${FEE_BIRR_MAX.toFixed(2)} ETB` });

const points = (most: number) =>
  z
    .int()
    .refine((given) => given >= 0 && given <= most, {
      error: `must be a whole number from 0 to ${most} (hundredths of a percent)`,
    })
    .describe('Hundredths of a percent: 250 is 2.5 %');

const FeeChange = z
  .strictObject({
    direction: z.enum(FEE_DIRECTIONS),
    channel: channel.optional().describe('Omitted for SETTLEMENT'),
    basisPoints: points(FEE_POINTS_MAX),
    fixed: feeBirr.default(0),
    min: feeBirr.default(0),
    max: feeBirr.nullable().default(null),
    taxBasisPoints: points(TAX_POINTS_MAX).default(1_500),
    returnedOnRefund: z.boolean().default(false).describe('Of PAY_IN: whether refunds may give the fee back'),
    validFrom: validFromParam,
  })
  .refine((rule) => (rule.channel === undefined) === (rule.direction === 'SETTLEMENT'), {
    path: ['channel'],
    error: 'must be given for PAY_IN and PAY_OUT, and left out for SETTLEMENT',
  })
  .refine(({ min, max }) => max === null || max >= min, { path: ['max'], error: 'must be at least min' });

const FeeChanges = z.strictObject({ rules: z.array(FeeChange).min(1).max(RULES_MAX), reason });

const FeeRule = z
  .object({
    feeRuleId: z.string(),
    own: z.boolean().describe('false: the default of the platform'),
    direction: z.enum(FEE_DIRECTIONS),
    channel: channel.nullable(),
    basisPoints: z.int(),
    fixed: z.number(),
    min: z.number(),
    max: z.number().nullable(),
    taxBasisPoints: z.int(),
    returnedOnRefund: z.boolean(),
    validFrom: instant,
    version: z.int(),
  })
  .meta({ id: 'OpsFeeRule' });

export const FeeSchedule = z.object({ current: z.array(FeeRule), scheduled: z.array(FeeRule) }).meta({ id: 'OpsFees' });

export function feeOperatorRoutes(deps: { db: Database }): Route[] {
  return settingRoutes(deps, {
    path: 'fees',
    name: 'Fees',
    get: { operationId: 'opsGetFees', summary: "Get a merchant's current and scheduled fees" },
    put: {
      operationId: 'opsChangeFees',
      summary: "Add versions of a merchant's own fees; fees that were charged stay as they are",
    },
    action: 'merchant.change-fees',
    body: FeeChanges,
    response: FeeSchedule,
    read: (db, about) => readRules(db, { table: 'fee_rule', present: presentFee }, about),
    write: async (trx, { merchantId, at }, { rules }) => {
      for (const { fixed, min, max, channel = null, ...given } of rules) {
        const maxSantim = max === null ? null : toSantim(max);
        const amounts = { fixedSantim: toSantim(fixed), minSantim: toSantim(min), maxSantim };
        const rule = { ...given, ...amounts, channel, merchantId };
        await addRule(trx, { table: 'fee_rule', prefix: 'fee' }, { rule, now: at });
      }
    },
    compare: compareRules,
  });
}

function presentFee({ id: feeRuleId, merchantId, fixedSantim, minSantim, maxSantim, ...rule }: StoredFeeRule) {
  const amounts = { fixed: toBirr(fixedSantim), min: toBirr(minSantim), max: maxSantim && toBirr(maxSantim) };
  return FeeRule.parse({ ...rule, feeRuleId, own: merchantId !== null, ...amounts });
}
