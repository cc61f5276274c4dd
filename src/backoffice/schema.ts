import { z } from 'zod';

import { KEY_DAYS_MAX, ROTATION_OVERLAP_HOURS } from '../access/api-keys.ts';
import { RESOURCE_TYPES } from '../access/audit.ts';
import { OPERATOR_KEY_DAYS } from '../access/operators.ts';
import { ACTIONS } from '../access/permissions.ts';
import { OPERATOR_ROLES, SCOPES } from '../http/route.ts';
import { emailText, instant, plainText } from '../lib/fields.ts';
import { dateParam, pageQuery, statusParam } from '../lib/pagination.ts';
import { CHANNELS } from '../merchants/channels/channel.ts';

const ID_CHARACTERS_MAX = 64;
const NAME_CHARACTERS_MAX = 100;
const IP_RANGES_MAX = 100;
const REASON_CHARACTERS_MAX = 500;

const MERCHANT_STATUSES = ['ACTIVE', 'SUSPENDED'] as const;
const KYC_STATUSES = ['NOT_STARTED', 'SUBMITTED', 'UNDER_REVIEW', 'APPROVED', 'REJECTED', 'MORE_INFO_NEEDED'] as const;
const APPROVALS = ['NONE', 'REQUESTED', 'APPROVED', 'SUSPENDED'] as const;

export const id = plainText(ID_CHARACTERS_MAX).min(1);
export const environment = z.enum(['sandbox', 'live']);
const name = plainText(NAME_CHARACTERS_MAX).trim().min(1).meta({ description: 'On one line' });
export const reason = plainText(REASON_CHARACTERS_MAX)
  .trim()
  .min(1)
  .meta({ description: 'Why; kept in the audit log' });
const channel = z.enum(CHANNELS);

export const Reason = z.strictObject({ reason });
export const OptionalReason = z.strictObject({ reason: reason.optional() });

export const MerchantListQuery = z.strictObject({
  status: statusParam(MERCHANT_STATUSES).optional(),
  kycStatus: statusParam(KYC_STATUSES).optional(),
  search: plainText(NAME_CHARACTERS_MAX).min(1).optional().meta({ description: 'An id, or a part of the name' }),
  ...pageQuery,
});
export const NewMerchant = z.strictObject({ name });
export const MerchantParams = z.strictObject({ merchantId: id });

/** A merchant as operators see it. */
export const Merchant = z
  .object({
    merchantId: z.string(),
    name: z.string(),
    status: z.enum(MERCHANT_STATUSES),
    kycStatus: z.enum(KYC_STATUSES),
    createdAt: instant,
  })
  .meta({ id: 'OpsMerchant' });

export const MerchantChannel = z
  .object({
    channel,
    platformState: z.enum(['AVAILABLE', 'COMING_SOON', 'MAINTENANCE']),
    approval: z.enum(APPROVALS),
    enabled: z.boolean().meta({ description: "The merchant's own toggle" }),
    usable: z.boolean(),
    reason: z.string().nullable(),
  })
  .meta({ id: 'OpsMerchantChannel' });

const MerchantPlace = z.object({
  available: z.number(),
  reserved: z.number(),
  feesToDate: z.number(),
  netSettled: z.number(),
  channels: z.array(MerchantChannel),
});

export const MerchantDetail = Merchant.extend({
  currency: z.literal('ETB'),
  sandbox: MerchantPlace,
  live: MerchantPlace,
}).meta({ id: 'OpsMerchantDetail' });

export const KeyListQuery = z.strictObject({ environment: environment.optional() });
export const KeyParams = z.strictObject({ merchantId: id, keyId: id });
export const NewMerchantKey = z.strictObject({
  environment,
  name: plainText(NAME_CHARACTERS_MAX).optional(),
  scopes: z
    .array(z.enum(SCOPES))
    .min(1)
    .max(SCOPES.length)
    .optional()
    .meta({ description: 'A restricted key of these; a secret key, which has all, without them' }),
  ipRanges: z.array(plainText(ID_CHARACTERS_MAX)).max(IP_RANGES_MAX).optional(),
  days: z.int().min(1).max(KEY_DAYS_MAX).optional().meta({ description: 'Its life; without end unless said' }),
});

export const MerchantKey = z
  .object({
    keyId: z.string(),
    environment,
    kind: z.enum(['secret', 'restricted']),
    key: z.string().meta({ description: 'To recognise it by', example: 'sk_test_…aB3x' }),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    ipRanges: z.array(z.string()),
    expiresAt: instant.nullable(),
    revokedAt: instant.nullable(),
    rotatedTo: z.string().nullable(),
    createdBy: z.string().nullable().meta({
      description: 'The operator who made it; null: made on a terminal, when there was no operator yet',
    }),
    secretHolders: z.array(z.string()).meta({
      description: 'The operators who may know its secret, and so may not approve what it asks for',
    }),
    lastUsedAt: instant.nullable(),
    createdAt: instant,
  })
  .meta({ id: 'OpsMerchantKey' });
const secret = z.string().meta({ description: 'The key itself: shown now and never again' });
export const CreatedMerchantKey = MerchantKey.extend({ secret }).meta({ id: 'OpsMadeMerchantKey' });

export const ChannelParams = z.strictObject({ merchantId: id, channel });
export const ChannelApproval = z.strictObject({ environment, reason: reason.optional() });
export const ChannelSuspension = z.strictObject({ environment, reason });

export const AuditQuery = z.strictObject({
  operatorId: id.optional(),
  action: z.enum(ACTIONS).optional(),
  resourceId: id.optional(),
  merchantId: id.optional(),
  environment: environment.optional(),
  startDate: dateParam.optional(),
  endDate: dateParam.optional(),
  ...pageQuery,
});

const changed = z.record(z.string(), z.unknown()).nullable();
export const AuditEntry = z
  .object({
    auditId: z.string(),
    operatorId: z.string(),
    operatorName: z.string(),
    action: z.enum(ACTIONS),
    resourceType: z.enum(RESOURCE_TYPES),
    resourceId: z.string(),
    merchantId: z.string().nullable(),
    environment: environment.nullable(),
    before: changed.meta({ description: 'What differs, as it was' }),
    after: changed.meta({ description: 'What differs, as it became' }),
    reason: z.string().nullable(),
    requestId: z.string(),
    at: instant,
  })
  .meta({ id: 'OpsAuditEntry' });

export const NewOperator = z.strictObject({ name, email: emailText(), role: z.enum(OPERATOR_ROLES) });
export const OperatorChanges = z.strictObject({
  role: z.enum(OPERATOR_ROLES).optional(),
  active: z.boolean().optional(),
  reason: reason.optional(),
});
export const OperatorParams = z.strictObject({ operatorId: id });
export const Operator = z
  .object({
    operatorId: z.string(),
    name: z.string(),
    email: z.string(),
    role: z.enum(OPERATOR_ROLES),
    active: z.boolean(),
    createdAt: instant,
  })
  .meta({ id: 'Operator' });

export const OperatorKeyParams = z.strictObject({ operatorId: id, keyId: id });
const operatorKeyDays = z
  .int()
  .min(1)
  .max(OPERATOR_KEY_DAYS.max)
  .optional()
  .meta({ description: `Its life; ${OPERATOR_KEY_DAYS.default} days unless said` });
export const NewOperatorKey = z.strictObject({
  name: plainText(NAME_CHARACTERS_MAX).optional(),
  days: operatorKeyDays,
});
export const OperatorKeyRotation = z.strictObject({
  overlapHours: z
    .int()
    .min(0)
    .max(ROTATION_OVERLAP_HOURS.max)
    .optional()
    .meta({ description: `How long the old key works on; ${ROTATION_OVERLAP_HOURS.default} hours unless said` }),
  days: operatorKeyDays,
});
export const OperatorKey = z
  .object({
    keyId: z.string(),
    operatorId: z.string(),
    name: z.string(),
    key: z.string().meta({ example: 'ok_…aB3x' }),
    expiresAt: instant.nullable(),
    revokedAt: instant.nullable(),
    lastUsedAt: instant.nullable(),
    createdAt: instant,
    secretHolders: z.array(z.string()).meta({
      description:
        'Everybody who may know its secret: whose it is, who made it, and who may know the key it was made with. What is said with it counts as the word of each of them',
    }),
  })
  .meta({ id: 'OperatorKey' });
export const MadeOperatorKey = OperatorKey.extend({ secret }).meta({ id: 'OpsMadeOperatorKey' });
