import { z } from 'zod';

import { CHANNELS, TRANSACTION_THROUGH } from './channel.ts';

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
    platformState: z.enum(['AVAILABLE', 'COMING_SOON', 'MAINTENANCE']),
    approval: z.enum(['NONE', 'REQUESTED', 'APPROVED', 'SUSPENDED']).meta({
      description: 'Decided by the platform; REQUESTED: an operator has not decided yet',
    }),
    enabled: z.boolean().meta({ description: "The merchant's own toggle" }),
    usable: z.boolean(),
    reason: z
      .enum(['COMING_SOON', 'MAINTENANCE', 'NOT_CONFIGURED', 'NOT_APPROVED', 'KYC_TIER', 'DISABLED'])
      .nullable()
      .meta({ description: 'Why it cannot be used; null: it can' }),
    limits: z.object({ currency: z.literal('ETB'), payIn: Limits, payOut: Limits }),
  })
  .meta({ id: 'Channel' });

export const ChannelParams = z.strictObject({ channel: channelId });
export const ChannelChanges = z.strictObject({ enabled: z.boolean() });
