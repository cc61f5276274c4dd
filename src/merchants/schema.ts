import { z } from 'zod';

import { environment, id, MerchantKey, name, overlapHours, reason } from '../access/operator-schema.ts';
import { MEMBER_ROLES } from '../http/people.ts';
import { SCOPES } from '../http/route.ts';
import { birrAmount, instant, plainText } from '../lib/fields.ts';
import { ruleOf } from '../lib/issues.ts';
import { pageQuery, statusParam } from '../lib/pagination.ts';
import { Channel } from './channels/schema.ts';
import { KYC_STATUSES } from './operations.ts';

const NAME_CHARACTERS_MAX = 100;
const KEY_DAYS_MAX = 3_650;
const IP_RANGE_CHARACTERS_MAX = 64;
const IP_RANGES_MAX = 100;
const MERCHANT_STATUSES = ['ACTIVE', 'SUSPENDED'] as const;

export const MerchantListQuery = z.strictObject({
  status: statusParam(MERCHANT_STATUSES).optional(),
  kycStatus: statusParam(KYC_STATUSES).optional(),
  search: plainText(NAME_CHARACTERS_MAX).min(1).optional().describe('An id, or a part of the name'),
  ...pageQuery,
});
export const NewMerchant = z.strictObject({ name });

export const Merchant = z
  .object({
    merchantId: z.string(),
    name: z.string(),
    status: z.enum(MERCHANT_STATUSES),
    kycStatus: z.enum(KYC_STATUSES),
    createdAt: instant,
  })
  .meta({ id: 'OpsMerchant' });

/** A merchant's channel with what operators have to know of its provider. */
const ChannelWithAccount = Channel.extend({
  account: z
    .enum(['OWN', 'PLATFORM'])
    .nullable()
    .describe("Whether payments use the merchant's own account at the provider; null: there is none"),
  missingSettings: z.array(z.string()).describe('Settings without which it is NOT_CONFIGURED in live'),
}).meta({ id: 'OpsChannel' });

const EnvironmentSummary = z.object({
  available: z.number(),
  reserved: z.number(),
  feesToDate: z.number(),
  netSettled: z.number(),
  channels: z.array(ChannelWithAccount),
});

export const MerchantDetail = Merchant.extend({
  currency: z.literal('ETB'),
  sandbox: EnvironmentSummary,
  live: EnvironmentSummary,
}).meta({ id: 'OpsMerchantDetail' });

export const KeyListQuery = z.strictObject({ environment: environment.optional() });
export const AllKeysQuery = z.strictObject({
  merchantId: id.optional(),
  environment: environment.optional(),
  ...pageQuery,
});
export const ListedKey = MerchantKey.extend({ merchantId: z.string() }).meta({ id: 'OpsListedKey' });
export const KeyParams = z.strictObject({ merchantId: id, keyId: id });
const Range = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);
export const InvitedMerchantKey = z.strictObject({
  environment,
  name: plainText(NAME_CHARACTERS_MAX).optional(),
  scopes: z
    .array(z.enum(SCOPES))
    .min(1)
    .max(SCOPES.length)
    .optional()
    .describe('Restricts the key to these scopes; without them it is a secret key, which has all'),
  ipRanges: z
    .array(plainText(IP_RANGE_CHARACTERS_MAX))
    .max(IP_RANGES_MAX)
    .refine((ranges) => ranges.every((range) => Range.safeParse(range).success), {
      error: 'must be addresses in CIDR notation such as 203.0.113.0/24',
      params: ruleOf('not_an_ip_range'),
    })
    .optional(),
  days: z.int().min(1).max(KEY_DAYS_MAX).optional().describe('Its lifetime; unlimited unless given'),
});
export const KeyRotation = z.strictObject({ overlapHours });

const PER_HOUR_MAX = 10_000;

export const ReviewPolicyChange = z.strictObject({
  largeAmount: birrAmount.describe('Withdrawals of this amount and above are reviewed'),
  twoPersonAmount: birrAmount.describe('Withdrawals of this amount and above need two approvals'),
  perHourMax: z.int().min(1).max(PER_HOUR_MAX),
  reason,
});
export const ReviewPolicy = z
  .object({ own: z.boolean(), largeAmount: z.number(), twoPersonAmount: z.number(), perHourMax: z.int() })
  .meta({ id: 'OpsReviewPolicy' });

export const Member = z.object({
  userId: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(MEMBER_ROLES),
  twoFactor: z.boolean().describe('Whether two-factor authentication is on'),
  lastUsedAt: instant.nullable(),
  createdAt: instant,
});
