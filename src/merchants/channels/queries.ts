import { rows, type Queryable } from '../../lib/db.ts';
import { toBirr, type Santim } from '../../lib/money.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { WorkItemSource } from '../../outbox/work-items.ts';
import {
  isConfigured,
  whyUnusable,
  type ChannelFacts,
  type Channel,
  type FindConfigured,
  type TransactionThrough,
  type Unusable,
} from './channel.ts';

/** The limits of one payment, and of a day in Addis Ababa (null: none). */
export type AmountLimits = { minSantim: Santim; maxSantim: Santim; dailySantim: Santim | null };

export type MerchantChannel = Pick<ChannelFacts, 'platformState' | 'approval' | 'enabled'> & {
  channel: Channel;
  transactionThrough: TransactionThrough;
  displayName: string;
  hasOwnAccount: boolean;
  usable: boolean;
  reason: Unusable | null;
  /** The open maintenance window, or else the next one. */
  maintenance: MaintenancePeriod | null;
  openMaintenance: OpenMaintenance | null;
  /** Whether only an open maintenance window or an outage of its provider makes it unusable. */
  usableLater: boolean;
  payIn: AmountLimits;
  payOut: AmountLimits;
};

/** A maintenance window as merchants see it. */
type MaintenancePeriod = { startsAt: Date; endsAt: Date; reason: string; reasonAm: string | null };

/** The end of an open maintenance window, as PostgreSQL's JSON has it, and how long it lasts yet. */
export type OpenMaintenance = { endsAt: string; secondsLeft: number };

type ChannelRow = Pick<MerchantChannel, 'channel' | 'transactionThrough' | 'displayName' | 'hasOwnAccount'> &
  Omit<ChannelFacts, 'configured'> & {
    /** `secondsLeft`: null before the window opens. */
    maintenance:
      | (Pick<MaintenancePeriod, 'reason' | 'reasonAm'> & {
          startsAt: string;
          endsAt: string;
          secondsLeft: number | null;
        })
      | null;
    payInMinSantim: Santim;
    payInMaxSantim: Santim;
    payInDailySantim: Santim | null;
    payOutMinSantim: Santim;
    payOutMaxSantim: Santim;
    payOutDailySantim: Santim | null;
  };

/**
 * All channels in their order, with the merchant's state and limits. One statement with one join, since every payment runs
 * it. The limits equal the SQL function `effective_limits`: the newest effective rule, the merchant's own before the
 * platform's, and in live the KYC tier's where they are lower.
 */
export async function listChannels(
  db: Queryable,
  scope: MerchantScope,
  findProvider: FindConfigured,
): Promise<MerchantChannel[]> {
  const found = await rows<ChannelRow>(
    db,
    `WITH rule AS (
       SELECT DISTINCT ON (channel, direction) channel, direction, min_santim, max_santim, daily_santim
       FROM limit_rule
       WHERE coalesce(merchant_id, '') IN (:merchantId, '') AND valid_from <= now()
       ORDER BY channel, direction, merchant_id IS NULL, valid_from DESC, version DESC
     ), tier AS (
       SELECT t.channels, t.payment_max_santim, t.payout_daily_santim
       FROM (SELECT coalesce(max(tier), 0) AS tier FROM kyc_application
             WHERE merchant_id = :merchantId AND environment = 'live') own
       JOIN kyc_tier t ON t.tier = own.tier
       WHERE :environment <> 'sandbox'
     )
     SELECT c.id AS channel, c.transaction_through, c.display_name, c.platform_state,
            coalesce(m.approval, 'NONE') AS approval, coalesce(m.enabled, false) AS enabled,
            tier.channels IS NULL OR c.id = ANY (tier.channels) AS tier_allows,
            w.maintenance,
            :environment <> 'sandbox' AND coalesce(c.live_unavailable_until > now(), false) AS unavailable,
            CASE WHEN :environment = 'live' THEN has_own_account(:merchantId, :environment, c.id)
                 ELSE false END AS has_own_account,
            i.min_santim AS pay_in_min_santim, least(i.max_santim, tier.payment_max_santim) AS pay_in_max_santim,
            i.daily_santim AS pay_in_daily_santim,
            o.min_santim AS pay_out_min_santim, least(o.max_santim, tier.payout_daily_santim) AS pay_out_max_santim,
            least(o.daily_santim, tier.payout_daily_santim) AS pay_out_daily_santim
     FROM channel c
     JOIN rule i ON i.channel = c.id AND i.direction = 'PAY_IN'
     JOIN rule o ON o.channel = c.id AND o.direction = 'PAY_OUT'
     LEFT JOIN tier ON true
     LEFT JOIN merchant_channel m
       ON m.channel = c.id AND m.merchant_id = :merchantId AND m.environment = :environment
     LEFT JOIN LATERAL (
       SELECT json_build_object('startsAt', starts_at, 'endsAt', ends_at, 'reason', reason, 'reasonAm', reason_am,
                'secondsLeft', CASE WHEN starts_at <= now() THEN ceil(extract(epoch FROM ends_at - now())) END) AS maintenance
       FROM channel_maintenance
       WHERE channel = c.id AND environment = :environment AND cancelled_at IS NULL AND ends_at > now()
       ORDER BY ends_at LIMIT 1
     ) w ON true
     ORDER BY c.position`,
    scope,
  );
  return found.map((row) => {
    const planned = readMaintenance(row.maintenance);
    const isOpen = row.platformState === 'AVAILABLE' && planned.openMaintenance !== null;
    const platformState = isOpen ? 'MAINTENANCE' : row.platformState;
    const configured = isConfigured(findProvider(row.channel, scope.environment), row.hasOwnAccount);
    const reason = whyUnusable({ ...row, platformState, configured });
    return {
      ...row,
      ...planned,
      platformState,
      usable: reason === null,
      reason,
      usableLater: reason !== null && whyUnusable({ ...row, configured, unavailable: false }) === null,
      payIn: { minSantim: row.payInMinSantim, maxSantim: row.payInMaxSantim, dailySantim: row.payInDailySantim },
      payOut: { minSantim: row.payOutMinSantim, maxSantim: row.payOutMaxSantim, dailySantim: row.payOutDailySantim },
    };
  });
}

function readMaintenance(planned: ChannelRow['maintenance']): Pick<MerchantChannel, 'maintenance' | 'openMaintenance'> {
  if (planned === null) return { maintenance: null, openMaintenance: null };
  const { startsAt, endsAt, secondsLeft, ...reasons } = planned;
  return {
    maintenance: { startsAt: new Date(startsAt), endsAt: new Date(endsAt), ...reasons },
    openMaintenance: secondsLeft === null ? null : { endsAt, secondsLeft },
  };
}

/** A merchant's channel as the merchant and operators see it. */
export function presentChannel({ payIn, payOut, ...channel }: MerchantChannel) {
  return { ...channel, limits: { currency: 'ETB', payIn: presentLimits(payIn), payOut: presentLimits(payOut) } };
}

/** Limits in birr. */
export function presentLimits({ minSantim, maxSantim, dailySantim }: AmountLimits) {
  return { min: toBirr(minSantim), max: toBirr(maxSantim), daily: dailySantim === null ? null : toBirr(dailySantim) };
}

/** The JSON of the SQL function `effective_limits`; santim as plain numbers. */
export type LimitsJson = { minSantim: number; maxSantim: number; dailySantim: number | null };

/** Converts the JSON of `effective_limits`. */
export function readLimits({ minSantim, maxSantim, dailySantim }: LimitsJson): AmountLimits {
  return {
    minSantim: BigInt(minSantim),
    maxSantim: BigInt(maxSantim),
    dailySantim: dailySantim === null ? null : BigInt(dailySantim),
  };
}

/** Channels that merchants have requested; `id` is merchant/channel. */
export const CHANNEL_REVIEW_ITEMS: WorkItemSource = {
  kinds: ['CHANNEL_REQUEST'],
  sql: `SELECT 'CHANNEL_REQUEST' AS kind, m.merchant_id || '/' || m.channel AS id, m.merchant_id, m.environment,
               NULL::bigint AS amount_santim, m.updated_at AS since,
               'The merchant requests ' || c.display_name
                 || CASE WHEN kyc_tier_allows(m.merchant_id, m.environment, m.channel) THEN ''
                         ELSE ', which its KYC tier does not allow' END AS what,
               jsonb_build_object('channel', m.channel, 'platformState', c.platform_state) AS detail,
               NULL AS workflow_id
        FROM merchant_channel m JOIN channel c ON c.id = m.channel WHERE m.approval = 'REQUESTED'`,
};
