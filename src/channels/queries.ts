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

export type AmountLimits = { minSantim: Santim; maxSantim: Santim };

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
  const found = await rows<Omit<MerchantChannel, 'usable' | 'reason' | 'payIn' | 'payOut'> & FlatLimits>(
    db,
    `SELECT c.id AS channel, c.transaction_through, c.display_name, c.platform_state,
            coalesce(m.approval, 'NONE') AS approval, coalesce(m.enabled, false) AS enabled,
            i.min_santim AS in_min, i.max_santim AS in_max, o.min_santim AS out_min, o.max_santim AS out_max
     FROM channel c
     JOIN channel_limit i ON i.channel = c.id AND i.direction = 'PAY_IN'
     JOIN channel_limit o ON o.channel = c.id AND o.direction = 'PAY_OUT'
     LEFT JOIN merchant_channel m
       ON m.channel = c.id AND m.merchant_id = :merchantId AND m.environment = :environment
     ORDER BY c.position`,
    owner,
  );
  return found.map(({ inMin, inMax, outMin, outMax, ...row }) => {
    const reason = whyUnusable({ ...row, configured: findProvider(row.channel, owner.environment) !== null });
    return {
      ...row,
      usable: reason === null,
      reason,
      payIn: { minSantim: inMin, maxSantim: inMax },
      payOut: { minSantim: outMin, maxSantim: outMax },
    };
  });
}

type FlatLimits = Record<'inMin' | 'inMax' | 'outMin' | 'outMax', Santim>;
