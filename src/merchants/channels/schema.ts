import { z } from 'zod';

import { environment, id, reason } from '../../access/operator-schema.ts';
import { RULES_MAX, validFromParam } from '../../lib/effective-rules.ts';
import { birrAmount, instant } from '../../lib/fields.ts';
import { APPROVALS, CHANNELS, PLATFORM_STATES, TRANSACTION_THROUGH, UNUSABLE } from './channel.ts';
import { LIMIT_DIRECTIONS } from './limits.ts';

const channelId = z.enum(CHANNELS).meta({ description: 'A payment channel', example: 'TELEBIRR' });
const transactionThrough = z.enum(Object.values(TRANSACTION_THROUGH));

const Limits = z
  .object({ min: z.number(), max: z.number(), daily: z.number().nullable() })
  .meta({ description: 'ETB per payment, both included, and per day in Addis Ababa; null: no daily limit' });

export const Channel = z
  .object({
    channel: channelId,
    transactionThrough,
    displayName: z.string(),
    platformState: z.enum(PLATFORM_STATES),
    approval: z.enum(APPROVALS).meta({
      description: 'Decided by the platform; REQUESTED: an operator has not decided yet',
    }),
    enabled: z.boolean().meta({ description: "The merchant's own toggle" }),
    usable: z.boolean(),
    reason: z.enum(UNUSABLE).nullable().meta({ description: 'Why it cannot be used; null: it can' }),
    limits: z.object({ currency: z.literal('ETB'), payIn: Limits, payOut: Limits }),
  })
  .meta({ id: 'Channel' });

export const ChannelParams = z.strictObject({ channel: channelId });
export const ChannelChanges = z.strictObject({ enabled: z.boolean() });

export const MerchantChannelParams = z.strictObject({ merchantId: id, channel: channelId });
export const ChannelApproval = z.strictObject({ environment, reason: reason.optional() });
export const ChannelSuspension = z.strictObject({ environment, reason });

export const LimitChanges = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        direction: z.enum(LIMIT_DIRECTIONS),
        channel: channelId,
        min: birrAmount,
        max: birrAmount,
        daily: birrAmount.nullable().default(null),
        validFrom: validFromParam,
      }),
    )
    .min(1)
    .max(RULES_MAX),
  reason,
});

const LimitRule = z
  .object({
    limitRuleId: z.string(),
    own: z.boolean().meta({ description: 'false: the default of the platform' }),
    direction: z.enum(LIMIT_DIRECTIONS),
    channel: channelId,
    min: z.number(),
    max: z.number(),
    daily: z.number().nullable(),
    validFrom: instant,
    version: z.int(),
  })
  .meta({ id: 'OpsLimitRule' });

/** A merchant's limits as operators see them. */
export const LimitSchedule = z
  .object({ current: z.array(LimitRule), scheduled: z.array(LimitRule) })
  .meta({ id: 'OpsLimits' });
