import { rows, type Queryable, type Trx } from '../../lib/db.ts';
import { AppError, found, invalid } from '../../lib/errors.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { UNAVAILABLE_SECONDS, type Channel, type FindConfigured, type Unusable } from './channel.ts';
import { listChannels, type MerchantChannel, type OpenMaintenance } from './queries.ts';

/** Approves and enables every available channel, as for a new sandbox merchant. */
export async function grantChannels(trx: Trx, scope: MerchantScope): Promise<void> {
  await rows(
    trx,
    `INSERT INTO merchant_channel (merchant_id, environment, channel, approval, enabled)
     SELECT CAST(:merchantId AS text), CAST(:environment AS text), c.id, 'APPROVED', true
     FROM channel c WHERE c.platform_state = 'AVAILABLE'
     ON CONFLICT (merchant_id, environment, channel) DO UPDATE SET approval = 'APPROVED', enabled = true`,
    scope,
  );
}

type Place = MerchantScope & { channel: Channel };

/** One channel of a merchant. Throws NOT_FOUND. */
export async function findChannel(db: Queryable, place: Place, findProvider: FindConfigured): Promise<MerchantChannel> {
  const channels = await listChannels(db, scopeOf(place), findProvider);
  return found(
    channels.find(({ channel }) => channel === place.channel),
    'channel',
  );
}

type Deps = { tx: UnitOfWork; findProvider: FindConfigured };

/** The reasons that do not prevent a merchant from enabling or requesting a channel. */
const SWITCHABLE: ReadonlySet<Unusable> = new Set(['DISABLED', 'NOT_APPROVED', 'UNAVAILABLE']);

/**
 * The merchant's own toggle, for new attempts only. Enabling a channel that was never approved requests it: in live an
 * operator decides (approval REQUESTED), the sandbox approves at once; disabling it cancels the request.
 * Throws CHANNEL_NOT_AVAILABLE when enabling a channel that the platform does not offer yet or has suspended.
 */
export async function switchChannel(
  { tx: { trx }, findProvider }: Deps,
  { enabled, ...place }: Place & { enabled: boolean },
): Promise<{ before: MerchantChannel; after: MerchantChannel }> {
  const before = await findChannel(trx, place, findProvider);
  const { channel, approval, reason, openMaintenance } = before;
  if (approval === 'SUSPENDED' && enabled) {
    const issue = `${channel} was suspended for this merchant: only the platform's operators can approve it again`;
    const wrong = { issue, code: 'not_usable', params: { reason: 'NOT_APPROVED' } } as const;
    throw invalid('channel', wrong, { code: 'CHANNEL_NOT_AVAILABLE' });
  }
  // A request can be cancelled in any state of the channel.
  if (enabled && reason !== null && !SWITCHABLE.has(reason))
    throw channelRejected(channel, reason, { openMaintenance });
  const isUnapproved = approval === 'NONE' || approval === 'REQUESTED';
  const isGranted = enabled && place.environment === 'sandbox';
  const requested = { approval: isGranted ? 'APPROVED' : enabled ? 'REQUESTED' : 'NONE', enabled: isGranted };
  await rows(
    trx,
    `INSERT INTO merchant_channel AS m (merchant_id, environment, channel, approval, enabled)
     VALUES (:merchantId, :environment, :channel, :approval, :enabled)
     ON CONFLICT (merchant_id, environment, channel) DO UPDATE
     SET approval = excluded.approval, enabled = excluded.enabled, updated_at = now()
     WHERE m.approval = :before AND (m.approval, m.enabled) <> (excluded.approval, excluded.enabled)`,
    { ...place, before: approval, ...(isUnapproved ? requested : { approval, enabled }) },
  );
  return { before, after: await findChannel(trx, place, findProvider) };
}

const WHY: Record<Unusable, string> = {
  COMING_SOON: 'is announced as coming soon and cannot be used yet',
  MAINTENANCE: 'is under maintenance; try again later',
  NOT_CONFIGURED: 'is not set up in this environment yet',
  NOT_APPROVED:
    'is not approved for this merchant; request it with PATCH /api/checkout/channels/{channel} {"enabled": true}',
  KYC_TIER: 'is not allowed in the KYC tier of this merchant; see GET /api/checkout/kyc',
  DISABLED: 'is switched off; switch it on with PATCH /api/checkout/channels/{channel}',
  UNAVAILABLE: `is not available just now: its provider does not respond; try again in ${UNAVAILABLE_SECONDS} s, or use another channel`,
};

/**
 * The error of an unusable channel: CHANNEL_DISABLED for the merchant's own toggle, else CHANNEL_NOT_AVAILABLE; with
 * Retry-After during a maintenance window, whose end it has, and where the provider does not respond. `field`: that of the
 * request that has the channel.
 */
export function channelRejected(
  channel: Channel,
  reason: Unusable,
  { field = 'channel', openMaintenance }: { field?: string; openMaintenance?: OpenMaintenance | null } = {},
): AppError {
  const code = reason === 'DISABLED' ? 'CHANNEL_DISABLED' : 'CHANNEL_NOT_AVAILABLE';
  const window = reason === 'MAINTENANCE' ? openMaintenance : null;
  const until = window && `is under maintenance until ${new Date(window.endsAt).toISOString()}; try again then`;
  const issue = `${channel} ${until ?? WHY[reason]}`;
  const retryAfter = window?.secondsLeft ?? (reason === 'UNAVAILABLE' ? UNAVAILABLE_SECONDS : null);
  const headers = retryAfter === null ? {} : { 'Retry-After': String(retryAfter) };
  const details = [{ field, issue, code: 'not_usable', params: { reason } } as const];
  return new AppError(code, `channel ${issue}`, { details, headers });
}

/** Approves or suspends a merchant's channel, for new attempts only. The merchant's own toggle stays as it is. */
export async function setChannelApproval(
  { tx: { trx }, findProvider }: Deps,
  place: Place,
  approval: 'APPROVED' | 'SUSPENDED',
): Promise<{ before: MerchantChannel; after: MerchantChannel; changed: boolean }> {
  const before = await findChannel(trx, place, findProvider);
  const changed = await rows(
    trx,
    `INSERT INTO merchant_channel AS m (merchant_id, environment, channel, approval)
     VALUES (:merchantId, :environment, :channel, :approval)
     ON CONFLICT (merchant_id, environment, channel) DO UPDATE SET approval = excluded.approval, updated_at = now()
     WHERE m.approval <> excluded.approval RETURNING 1`,
    { ...place, approval },
  );
  return { before, after: await findChannel(trx, place, findProvider), changed: changed.length > 0 };
}

/**
 * Stores that the provider of a live channel takes no payments, for so many seconds unless it is stored again; 0: that it
 * takes them again. Attempts and payouts that exist are not affected.
 */
export async function setLiveUnavailable(db: Queryable, channel: Channel, seconds: number): Promise<void> {
  const until = 'now() + make_interval(secs => CAST(:seconds AS float8))';
  await rows(db, `UPDATE channel SET live_unavailable_until = ${until} WHERE id = :channel`, { channel, seconds });
}
