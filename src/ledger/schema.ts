import { z } from 'zod';

import { reason } from '../access/operator-schema.ts';
import { RULES_MAX, validFromParam } from '../lib/effective-rules.ts';
import { instant } from '../lib/fields.ts';
import { BIRR_RULE, isBirr } from '../lib/money.ts';
import { dateParam, sequencePageQuery, statusParam } from '../lib/pagination.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';
import { ACCOUNTS } from './balance.ts';
import { FEE_DIRECTIONS } from './fees.ts';
import { JOURNAL_KINDS } from './postings.ts';

const birr = (description: string) => z.number().meta({ description });

/** `GET /api/checkout/balance`. */
export const Balance = z
  .object({
    currency: z.literal('ETB'),
    environment: z.enum(['sandbox', 'live']),
    available: birr('Can be withdrawn or settled'),
    reserved: birr('Reserved for withdrawals and settlements that have not ended, with their fees'),
    total: birr('available + reserved'),
    feesToDate: birr('Fees charged so far, and the tax on them'),
    netSettled: birr("Credited to the merchant's bank account so far"),
    asOf: instant,
  })
  .meta({ id: 'Balance' });

export const MovementListQuery = z.strictObject({
  account: z.enum(ACCOUNTS).optional().meta({
    description: 'Which of the two balances; available by default',
  }),
  type: statusParam(JOURNAL_KINDS).optional(),
  startDate: dateParam.optional(),
  endDate: dateParam.optional(),
  ...sequencePageQuery,
});

const channel = z.enum(CHANNELS);
const birrOrZero = z
  .number()
  .refine((amount) => amount === 0 || isBirr(amount), { error: BIRR_RULE.replace('more than 0', 'at least 0') });
const points = z.int().meta({ description: 'Hundredths of a percent: 250 is 2.5 %' });

export const FeeChanges = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        direction: z.enum(FEE_DIRECTIONS),
        channel: channel.optional().meta({ description: 'Omitted for SETTLEMENT' }),
        basisPoints: points,
        fixed: birrOrZero.default(0),
        min: birrOrZero.default(0),
        max: birrOrZero.nullable().default(null),
        taxBasisPoints: points.default(1_500),
        validFrom: validFromParam,
      }),
    )
    .min(1)
    .max(RULES_MAX),
  reason,
});

const FeeRule = z
  .object({
    feeRuleId: z.string(),
    own: z.boolean().meta({ description: 'false: the default of the platform' }),
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

/** A merchant's fees as operators see them. */
export const FeeSchedule = z.object({ current: z.array(FeeRule), scheduled: z.array(FeeRule) }).meta({ id: 'OpsFees' });
