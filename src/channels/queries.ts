import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import type { Owner } from '../lib/owner.ts';
import type { FindProvider } from '../providers/provider.ts';
import {
  whyUnusable,
  type Approval,
  type Channel,
  type PlatformState,
  type TransactionThrough,
  type Unusable,
} from './channel.ts';

/** What one payment may be, and all of an Addis day together (null: as much as comes). */
export type AmountLimits = { minSantim: Santim; maxSantim: Santim; dailySantim: Santim | null };

/** One channel as it stands for one merchant in one environment. */
export type MerchantChannel = {
  channel: Channel;
  transactionThrough: TransactionThrough;
  displayName: string;
  platformState: PlatformState;
  approval: Approval;
  enabled: boolean;
  usable: boolean;
  reason: Unusable | null;
  payIn: AmountLimits;
  payOut: AmountLimits;
};

/** Every channel in its listed order, with what the merchant may do on it. One statement. */
export async function listChannels(
  db: Queryable,
  owner: Owner,
  findProvider: FindProvider,
): Promise<MerchantChannel[]> {
  const found = await rows<
    Omit<MerchantChannel, 'usable' | 'reason' | 'payIn' | 'payOut'> & { tierAllows: boolean } & Record<
        'payIn' | 'payOut',
        LimitsJson
      >
  >(
    db,
    `SELECT c.id AS channel, c.transaction_through, c.display_name, c.platform_state,
            coalesce(m.approval, 'NONE') AS approval, coalesce(m.enabled, false) AS enabled,
            kyc_tier_allows(:merchantId, :environment, c.id) AS tier_allows,
            limits_of(:merchantId, :environment, c.id, 'PAY_IN', now()) AS pay_in,
            limits_of(:merchantId, :environment, c.id, 'PAY_OUT', now()) AS pay_out
     FROM channel c
     LEFT JOIN merchant_channel m
       ON m.channel = c.id AND m.merchant_id = :merchantId AND m.environment = :environment
     ORDER BY c.position`,
    owner,
  );
  return found.map(({ payIn, payOut, tierAllows, ...row }) => {
    const reason = whyUnusable({
      ...row,
      tierAllows,
      configured: findProvider(row.channel, owner.environment) !== null,
    });
    return {
      ...row,
      usable: reason === null,
      reason,
      payIn: readLimits(payIn),
      payOut: readLimits(payOut),
    };
  });
}

/** Limits as `limits_of` answers them in JSON, where santim are plain numbers. */
export type LimitsJson = { minSantim: number; maxSantim: number; dailySantim: number | null };

/** Reads what the SQL function `limits_of` has answered. */
export function readLimits({ minSantim, maxSantim, dailySantim }: LimitsJson): AmountLimits {
  return {
    minSantim: BigInt(minSantim),
    maxSantim: BigInt(maxSantim),
    dailySantim: dailySantim === null ? null : BigInt(dailySantim),
  };
}
