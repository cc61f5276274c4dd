import { rows, type Knex } from '../../lib/db.ts';
import { AppError, invalid, notFound } from '../../lib/errors.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import type { FindConfigured } from './channel.ts';
import type { Approval, Channel, Unusable } from './channel.ts';
import { listChannels, type MerchantChannel } from './queries.ts';

/** Approves and switches on every channel that is available on the platform: what a new sandbox merchant starts with. */
export async function grantChannels(trx: Knex.Transaction, scope: MerchantScope): Promise<void> {
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
 * The merchant's own toggle; new attempts only, what is in flight goes on. Switching on what was never approved asks the
 * platform for it: in live an operator decides (approval REQUESTED), the sandbox says yes by itself; switching it off
 * takes the request back. Throws CHANNEL_NOT_AVAILABLE when switching on what the platform does not offer (MPESA), or has
 * taken from this merchant.
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
  if (approval === 'SUSPENDED' && input.enabled) throw suspended(before.channel);
  // A request is taken back whatever the channel's state on the platform is meanwhile.
  const canTurn = reason === null || reason === 'DISABLED' || reason === 'NOT_APPROVED' || !input.enabled;
  if (!canTurn) throw channelRejected(before.channel, reason);
  const isUnapproved = approval === 'NONE' || approval === 'REQUESTED';
  await (isUnapproved ? requestChannel(trx, input) : turn(trx, input));
  return (await find()) ?? before;
}

type Wish = MerchantScope & { channel: Channel; enabled: boolean };

async function turn(trx: Knex.Transaction, wish: Wish): Promise<void> {
  await rows(
    trx,
    `UPDATE merchant_channel SET enabled = :enabled, updated_at = now()
     WHERE merchant_id = :merchantId AND environment = :environment AND channel = :channel AND enabled <> :enabled`,
    wish,
  );
}

/** In the sandbox nobody waits for a person. What has been suspended stays so. */
async function requestChannel(trx: Knex.Transaction, { enabled, ...place }: Wish): Promise<void> {
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
    'is not approved for this merchant; ask for it with PATCH /api/checkout/channels/{channel} {"enabled": true}',
  KYC_TIER: 'is not open to a merchant verified as far as this one; see GET /api/checkout/kyc',
  DISABLED: 'is switched off; switch it on with PATCH /api/checkout/channels/{channel}',
};

function suspended(channel: Channel): AppError {
  const issue = `${channel} was suspended for this merchant: only the platform's operators can approve it again`;
  return invalid('channel', issue, { code: 'CHANNEL_NOT_AVAILABLE' });
}

/**
 * The refusal of a channel that cannot be used: CHANNEL_DISABLED for the merchant's own toggle, else
 * CHANNEL_NOT_AVAILABLE. `field`: where the caller named it.
 */
export function channelRejected(channel: Channel, reason: Unusable, field = 'channel'): AppError {
  const code = reason === 'DISABLED' ? 'CHANNEL_DISABLED' : 'CHANNEL_NOT_AVAILABLE';
  return new AppError(code, `channel ${channel} ${WHY[reason]}`, {
    details: [{ field, issue: `${channel} ${WHY[reason]}` }],
  });
}

/**
 * The platform's word on a merchant's channel; the merchant's own toggle stays as it is, off where there is none yet.
 * New attempts only, what is in flight goes on. Returns what the word was before.
 */
export async function setChannelApproval(
  trx: Knex.Transaction,
  input: MerchantScope & { channel: Channel; approval: 'APPROVED' | 'SUSPENDED' },
): Promise<Approval> {
  const [before] = await rows<{ approval: Approval }>(
    trx,
    `WITH before AS (
       SELECT approval FROM merchant_channel
       WHERE merchant_id = :merchantId AND environment = :environment AND channel = :channel FOR UPDATE
     ), changed AS (
       INSERT INTO merchant_channel (merchant_id, environment, channel, approval)
       VALUES (:merchantId, :environment, :channel, :approval)
       ON CONFLICT (merchant_id, environment, channel) DO UPDATE SET approval = excluded.approval, updated_at = now()
     )
     SELECT approval FROM before`,
    input,
  );
  return before?.approval ?? 'NONE';
}
