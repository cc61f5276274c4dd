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
    .meta({ description: 'Hundredths of a percent: 250 is 2.5 %' });

const FeeChange = z
  .strictObject({
    direction: z.enum(FEE_DIRECTIONS),
    channel: channel.optional().meta({ description: 'Omitted for SETTLEMENT' }),
    basisPoints: points(FEE_POINTS_MAX),
    fixed: feeBirr.default(0),
    min: feeBirr.default(0),
    max: feeBirr.nullable().default(null),
    taxBasisPoints: points(TAX_POINTS_MAX).default(1_500),
    validFrom: validFromParam,
  })
  .refine((rule) => (rule.channel === undefined) === (rule.direction === 'SETTLEMENT'), {
    path: ['channel'],
    error: 'must be given for PAY_IN and PAY_OUT, and left out for SETTLEMENT',
  })
  .refine(({ min, max }) => max === null || max >= min, { path: ['max'], error: 'must be at least min' });

export const FeeChanges = z.strictObject({ rules: z.array(FeeChange).min(1).max(RULES_MAX), reason });

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
