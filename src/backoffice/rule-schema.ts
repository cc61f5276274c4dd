import { z } from 'zod';

import { FEE_DIRECTIONS } from '../ledger/fees.ts';
import { publicText } from '../lib/echo.ts';
import { birrAmount, instant, patternText } from '../lib/fields.ts';
import { BIRR_RULE, isBirr } from '../lib/money.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';
import { LIMIT_DIRECTIONS } from '../merchants/channels/limits.ts';
import { environment, reason } from './schema.ts';

const RULES_MAX = 20;
const INSTANT_CHARACTERS_MAX = 40;
const PER_HOUR_MAX = 10_000;
const TIER_MAX = 99;

const channel = z.enum(CHANNELS);
const birrOrNothing = z
  .number()
  .refine((birr) => birr === 0 || isBirr(birr), { error: BIRR_RULE.replace('more than 0', 'at least 0') });
const points = z.int().meta({ description: 'Hundredths of a percent: 250 is 2.5 %' });
const validFrom = publicText(
  patternText(INSTANT_CHARACTERS_MAX, z.regexes.datetime({ offset: true }), 'must be a valid datetime'),
)
  .transform((text) => new Date(text))
  .optional()
  .meta({ description: 'Not in the past; now unless said', override: { type: 'string', format: 'date-time' } });

export const FeeChanges = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        direction: z.enum(FEE_DIRECTIONS),
        channel: channel.optional().meta({ description: 'Left out for SETTLEMENT' }),
        basisPoints: points,
        fixed: birrOrNothing.default(0),
        min: birrOrNothing.default(0),
        max: birrOrNothing.nullable().default(null),
        taxBasisPoints: points.default(1_500),
        validFrom,
      }),
    )
    .min(1)
    .max(RULES_MAX),
  reason,
});

const FeeRule = z
  .object({
    feeRuleId: z.string(),
    own: z.boolean().meta({ description: "false: the platform's, of everybody who has none of their own" }),
    direction: z.enum(FEE_DIRECTIONS),
    channel: channel.nullable(),
    basisPoints: z.int(),
    fixed: z.number(),
    min: z.number(),
    max: z.number().nullable(),
    taxBasisPoints: z.int(),
    validFrom: instant,
    version: z.int(),
  })
  .meta({ id: 'OpsFeeRule' });
export const Fees = z.object({ current: z.array(FeeRule), scheduled: z.array(FeeRule) }).meta({ id: 'OpsFees' });

export const LimitChanges = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        direction: z.enum(LIMIT_DIRECTIONS),
        channel,
        min: birrAmount,
        max: birrAmount,
        daily: birrAmount.nullable().default(null),
        validFrom,
      }),
    )
    .min(1)
    .max(RULES_MAX),
  reason,
});

const LimitRule = z
  .object({
    limitRuleId: z.string(),
    own: z.boolean(),
    direction: z.enum(LIMIT_DIRECTIONS),
    channel,
    min: z.number(),
    max: z.number(),
    daily: z.number().nullable(),
    validFrom: instant,
    version: z.int(),
  })
  .meta({ id: 'OpsLimitRule' });
export const Limits = z
  .object({ current: z.array(LimitRule), scheduled: z.array(LimitRule) })
  .meta({ id: 'OpsLimits' });

export const ReviewPolicyChange = z.strictObject({
  largeAmount: birrAmount.meta({ description: 'From here on somebody looks' }),
  twoPersonAmount: birrAmount.meta({ description: 'From here on two do' }),
  perHourMax: z.int().min(1).max(PER_HOUR_MAX),
  reason,
});
export const ReviewPolicy = z
  .object({ own: z.boolean(), largeAmount: z.number(), twoPersonAmount: z.number(), perHourMax: z.int() })
  .meta({ id: 'OpsReviewPolicy' });

export const SettlementLimitChange = z.strictObject({ min: birrAmount, max: birrAmount, reason });
export const SettlementLimit = z
  .object({
    own: z.boolean().meta({ description: "false: the platform's, of everybody who has none of their own" }),
    currency: z.literal('ETB'),
    min: z.number(),
    max: z.number(),
  })
  .meta({ id: 'OpsSettlementLimit' });

export const TierChange = z.strictObject({
  environment,
  tier: z.int().min(1).max(TIER_MAX).meta({ description: 'Which limits apply from now on' }),
  reason,
});
