import { rows, type Trx } from '../../lib/db.ts';
import { invalid, notFound, type AppError } from '../../lib/errors.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import type { Approval, Channel, FindConfigured, Unusable } from './channel.ts';
import { listChannels, type MerchantChannel } from './queries.ts';

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

/**
 * The merchant's own toggle, for new attempts only. Enabling a channel that was never approved requests it: in live an
 * operator decides (approval REQUESTED), the sandbox approves at once; disabling it cancels the request.
 * Throws CHANNEL_NOT_AVAILABLE when enabling a channel that the platform does not offer (MPESA) or has suspended.
 */
export async function switchChannel(
  deps: { tx: UnitOfWork; findProvider: FindConfigured },
  input: MerchantScope & { channel: Channel; enabled: boolean },
): Promise<MerchantChannel> {
  const { trx } = deps.tx;
  const scope = scopeOf(input);
  const find = async () =>
    (await listChannels(trx, scope, deps.findProvider)).find((one) => one.channel === input.channel);
  const before = await find();
  if (!before) throw notFound('channel');
  const { approval, reason } = before;
  if (approval === 'SUSPENDED' && input.enabled) {
    const issue = `${before.channel} was suspended for this merchant: only the platform's operators can approve it again`;
    throw invalid('channel', issue, { code: 'CHANNEL_NOT_AVAILABLE' });
  }
  // A request can be cancelled in any state of the channel.
  const isAllowed = reason === null || reason === 'DISABLED' || reason === 'NOT_APPROVED' || !input.enabled;
  if (!isAllowed) throw channelRejected(before.channel, reason);
  const isUnapproved = approval === 'NONE' || approval === 'REQUESTED';
  await (isUnapproved ? requestChannel(trx, input) : setEnabled(trx, input));
  return (await find()) ?? before;
}

type Toggle = MerchantScope & { channel: Channel; enabled: boolean };

async function setEnabled(trx: Trx, { channel, enabled, ...scope }: Toggle): Promise<void> {
  const switched = trx('merchantChannel')
    .where({ ...scopeOf(scope), channel })
    .whereNot({ enabled });
  await switched.update({ enabled, updatedAt: trx.knex().fn.now() });
}

/** The sandbox approves at once. A suspended channel stays suspended. */
async function requestChannel(trx: Trx, { enabled, ...place }: Toggle): Promise<void> {
  const isGranted = enabled && place.environment === 'sandbox';
  const approval: Approval = isGranted ? 'APPROVED' : enabled ? 'REQUESTED' : 'NONE';
  await rows(
    trx,
    `INSERT INTO merchant_channel AS m (merchant_id, environment, channel, approval, enabled)
     VALUES (:merchantId, :environment, :channel, :approval, :isGranted)
     ON CONFLICT (merchant_id, environment, channel) DO UPDATE
     SET approval = excluded.approval, enabled = excluded.enabled, updated_at = now()
     WHERE m.approval IN ('NONE', 'REQUESTED') AND m.approval <> excluded.approval`,
    { ...place, approval, isGranted },
  );
}

const WHY: Record<Unusable, string> = {
  COMING_SOON: 'is announced as coming soon and cannot be used yet',
  MAINTENANCE: 'is under maintenance; try again later',
  NOT_CONFIGURED: 'is not set up in this environment yet',
  NOT_APPROVED:
    'is not approved for this merchant; request it with PATCH /api/checkout/channels/{channel} {"enabled": true}',
  KYC_TIER: 'is not allowed in the KYC tier of this merchant; see GET /api/checkout/kyc',
  DISABLED: 'is switched off; switch it on with PATCH /api/checkout/channels/{channel}',
};

/**
 * The error of an unusable channel: CHANNEL_DISABLED for the merchant's own toggle, else CHANNEL_NOT_AVAILABLE.
 * `field`: the field of the request that has the channel.
 */
export function channelRejected(channel: Channel, reason: Unusable, field = 'channel'): AppError {
  const code = reason === 'DISABLED' ? 'CHANNEL_DISABLED' : 'CHANNEL_NOT_AVAILABLE';
  const issue = `${channel} ${WHY[reason]}`;
  return invalid(field, issue, { code, message: `channel ${issue}` });
}

/**
 * Approves or suspends a merchant's channel, for new attempts only. Does not change the merchant's own toggle, which is off
 * at first. Returns the approval before.
 */
export async function setChannelApproval(
  trx: Trx,
  input: MerchantScope & { channel: Channel; approval: 'APPROVED' | 'SUSPENDED' },
): Promise<Approval> {
  const { channel, approval } = input;
  const place = { ...scopeOf(input), channel };
  const channels = () => trx<typeof place & { approval: Approval; updatedAt: Date }>('merchantChannel');
  const before = await channels().where(place).forUpdate().first('approval');
  await channels()
    .insert({ ...place, approval })
    .onConflict(['merchantId', 'environment', 'channel'])
    .merge(['approval', 'updatedAt']);
  return before?.approval ?? 'NONE';
}
