import { z } from 'zod';

import { nameFields } from '../../access/names.ts';
import { environment, id, reason } from '../../access/operator-schema.ts';
import { birrAmount, instant, plainText } from '../../lib/fields.ts';
import { pageQuery } from '../../lib/pagination.ts';
import { instantParam, RULES_MAX, validFromParam } from '../effective-rules.ts';
import { APPROVALS, CHANNELS, PLATFORM_STATES, TRANSACTION_THROUGH, UNUSABLE } from './channel.ts';
import { LIMIT_DIRECTIONS } from './limits.ts';
import { MAINTENANCE_STATES } from './maintenance.ts';

const channelId = z.enum(CHANNELS).meta({ description: 'A payment channel', example: CHANNELS[0] });
const transactionThrough = z.enum(Object.values(TRANSACTION_THROUGH));

const Limits = z
  .object({ min: z.number(), max: z.number(), daily: z.number().nullable() })
  .describe('ETB per payment, both included, and per day in Addis Ababa; null: no daily limit');

export const Channel = z
  .object({
    channel: channelId,
    transactionThrough,
    displayName: z.string(),
    platformState: z.enum(PLATFORM_STATES),
    approval: z.enum(APPROVALS).describe('Decided by the platform; REQUESTED: an operator has not decided yet'),
    enabled: z.boolean().describe("The merchant's own toggle"),
    usable: z.boolean(),
    reason: z
      .enum(UNUSABLE)
      .nullable()
      .describe('Why it cannot be used; null: it can. UNAVAILABLE: its provider does not respond just now'),
    limits: z.object({ currency: z.literal('ETB'), payIn: Limits, payOut: Limits }),
    maintenance: z
      .object({ startsAt: instant, endsAt: instant, reason: z.string(), reasonAm: z.string().nullable() })
      .nullable()
      .describe(
        'The open maintenance window, or else the next one; null: none is planned. While it is open, no new payments and withdrawals are accepted, and what is in flight continues. reasonAm: in Amharic, if given',
      ),
  })
  .meta({ id: 'Channel' });

export const ChannelParams = z.strictObject({ channel: channelId });
export const ChannelChanges = z.strictObject({ enabled: z.boolean() });

export const MerchantChannelParams = z.strictObject({ merchantId: id, channel: channelId });
export const ChannelApproval = z.strictObject({ environment, reason: reason.optional() });
export const ChannelSuspension = z.strictObject({ environment, reason });

const MAINTENANCE_REASON_CHARACTERS_MAX = 200;
const maintenanceReason = plainText(MAINTENANCE_REASON_CHARACTERS_MAX).trim().min(1);

export const NewMaintenance = z.strictObject({
  environment,
  startsAt: validFromParam,
  endsAt: instantParam.describe('At most 30 days after the start'),
  reason: maintenanceReason.meta({
    description: 'Shown to merchants, and recorded in the audit log',
    example: 'Planned work of Ethio telecom',
  }),
  reasonAm: maintenanceReason.optional().describe('The same in Amharic'),
});
export const MaintenanceParams = z.strictObject({ maintenanceId: id });
export const MaintenanceListQuery = z.strictObject({
  channel: channelId.optional(),
  environment: environment.optional(),
  ...pageQuery,
});

export const Maintenance = z
  .object({
    maintenanceId: z.string(),
    channel: channelId,
    environment,
    state: z.enum(MAINTENANCE_STATES).describe('CANCELLED: before its start; OVER: also if it ended early'),
    startsAt: instant,
    endsAt: instant,
    reason: z.string(),
    reasonAm: z.string().nullable(),
    createdBy: z.string(),
    cancelledAt: instant.nullable().describe('When it was cancelled, or ended early'),
    cancelledBy: z.string().nullable(),
  })
  .meta({ id: 'OpsChannelMaintenance' });
export const MAINTENANCE_NAMES = ['createdBy', 'cancelledBy'] as const;
export const ListedMaintenance = Maintenance.extend(nameFields(...MAINTENANCE_NAMES)).meta({
  id: 'OpsListedChannelMaintenance',
});

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
    own: z.boolean().describe('false: the default of the platform'),
    direction: z.enum(LIMIT_DIRECTIONS),
    channel: channelId,
    ...Limits.shape,
    validFrom: instant,
    version: z.int(),
  })
  .meta({ id: 'OpsLimitRule' });

export const LimitSchedule = z
  .object({ current: z.array(LimitRule), scheduled: z.array(LimitRule) })
  .meta({ id: 'OpsLimits' });
