import type { z } from 'zod';

import type { Clock } from '../lib/clock.ts';
import { isUniqueViolation } from '../lib/db-errors.ts';
import { first, type Queryable } from '../lib/db.ts';
import { AppError, invalidFields } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { toBirr, type Santim } from '../lib/money.ts';
import type { MerchantScope } from '../lib/scope.ts';
import { TIMELINE_INSERT } from '../lib/timeline.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import { amountLimitError } from '../merchants/channels/limits.ts';
import { channelRejected } from '../merchants/channels/operations.ts';
import { listChannels, type MerchantChannel } from '../merchants/channels/queries.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import type { FindProvider } from '../providers/provider.ts';
import type * as schema from './session-schema.ts';
import { clientTokenOf, checkoutPageUrl } from './session.ts';

/** `pepper`: the secret that page tokens are derived with. */
export type CreateDeps = { db: Queryable; findProvider: FindProvider; clock: Clock; baseUrl: string; pepper: string };

/** A session to create. `channels`: those to choose from; by default all that are usable now or later. */
export type NewSession = Omit<z.output<typeof schema.NewSession>, 'amount'> & { amountSantim: Santim };

/**
 * Creates a session with its transaction, in two statements. Throws DUPLICATE_REFERENCE with the existing sessionId,
 * CHANNEL_NOT_AVAILABLE or CHANNEL_DISABLED, AMOUNT_BELOW_MINIMUM or AMOUNT_ABOVE_MAXIMUM, VALIDATION_ERROR.
 */
export async function createSession(deps: CreateDeps & { tx: UnitOfWork }, scope: MerchantScope, wanted: NewSession) {
  ensureHttpsInLive(scope, wanted);
  const channels = chooseChannels(await listChannels(deps.tx.trx, scope, deps.findProvider), wanted.channels);
  ensureSomeChannelFits(channels, wanted.amountSantim);

  const now = deps.clock();
  const sessionId = newId('cs', now.getTime());
  const transactionId = newId('txn', now.getTime());
  const clientToken = clientTokenOf(deps.pepper, sessionId);
  const expiresAt = new Date(now.getTime() + wanted.expiresInMinutes * 60_000);
  await insertSession(deps, {
    ...wanted,
    merchantId: scope.merchantId,
    environment: scope.environment,
    channels: channels.map((one) => one.channel),
    sessionId,
    transactionId,
    tokenHash: clientToken.hash,
    expiresAt,
    now,
  });
  const checkoutUrl = `${checkoutPageUrl(deps.baseUrl, sessionId)}?t=${clientToken.token}`;
  return {
    ...wanted,
    sessionId,
    transactionId,
    amount: toBirr(wanted.amountSantim),
    status: 'OPEN',
    transactionStatus: 'PENDING',
    checkoutUrl,
    clientToken: clientToken.token,
    qrPayload: wanted.type === 'QRCODE' ? checkoutUrl : undefined,
    expiresAt,
    createdAt: now,
  };
}

function ensureHttpsInLive(scope: MerchantScope, wanted: NewSession): void {
  if (scope.environment !== 'live') return;
  const details = (['successUrl', 'errorUrl', 'cancelUrl'] as const)
    .filter((field) => wanted[field] !== undefined && !wanted[field].startsWith('https://'))
    .map((field) => ({ field, issue: 'must be https in live', code: 'not_https' as const }));
  const [first] = details;
  if (first) throw invalidFields(details, `${first.field} ${first.issue}`);
}

function chooseChannels(all: MerchantChannel[], wanted: Channel[] | undefined): MerchantChannel[] {
  if (wanted === undefined) {
    // A session outlives most maintenance windows and outages: a channel that returns can be paid with then.
    const usable = all.filter((one) => one.usable || one.usableLater);
    if (usable.length > 0) return usable;
    throw new AppError(
      'CHANNEL_NOT_AVAILABLE',
      'No payment channel is usable. GET /api/checkout/channels has the reasons.',
    );
  }
  const chosen = all.filter((one) => wanted.includes(one.channel));
  for (const { channel, reason, openMaintenance } of chosen) {
    const field = `channels.${wanted.indexOf(channel)}`;
    if (reason !== null && reason !== 'UNAVAILABLE') throw channelRejected(channel, reason, { field, openMaintenance });
  }
  return chosen;
}

/**
 * Throws the error with the widest limit: of the channel with the highest maximum, or of the one with the lowest minimum;
 * and CHANNEL_NOT_AVAILABLE while each fitting channel is under maintenance, or its provider does not respond.
 */
function ensureSomeChannelFits(channels: MerchantChannel[], amountSantim: Santim): void {
  const errorOf = ({ channel, payIn }: MerchantChannel) => amountLimitError(channel, payIn, amountSantim);
  const [fitting, ...others] = channels.filter((one) => errorOf(one) === null);
  if (fitting) {
    if ([fitting, ...others].some((one) => one.usable)) return;
    const { channel, reason, openMaintenance } = fitting;
    throw channelRejected(channel, reason ?? 'UNAVAILABLE', { field: 'channels', openMaintenance });
  }
  const highest = channels.reduce((a, b) => (b.payIn.maxSantim > a.payIn.maxSantim ? b : a));
  const lowest = channels.reduce((a, b) => (b.payIn.minSantim < a.payIn.minSantim ? b : a));
  throw errorOf(amountSantim > highest.payIn.maxSantim ? highest : lowest) ?? new Error('no limit is exceeded');
}

type Ids = { sessionId: string; transactionId: string; tokenHash: Buffer };
type SessionRow = NewSession & MerchantScope & Ids & { channels: Channel[]; expiresAt: Date; now: Date };

/** Inserts session, transaction and the first entry of its timeline. The transaction fails when the order number is taken. */
async function insertSession(
  { db, tx }: Pick<CreateDeps, 'db'> & { tx: UnitOfWork },
  session: SessionRow,
): Promise<void> {
  await tx.writeDeferred(
    `WITH inserted AS (
       INSERT INTO transaction (id, session_id, merchant_id, environment, checkout_order_no, amount_santim, currency, type,
         status, customer_name, customer_email, customer_phone, metadata, created_at)
       VALUES (:transactionId, :sessionId, :merchantId, :environment, :checkoutOrderNo, :amountSantim, :currency, :type,
         'PENDING', :customerName, :customerEmail, :customerPhone, CAST(:metadata AS jsonb), :now)
       RETURNING id, session_id, merchant_id, environment, created_at
     ), opened AS (
       INSERT INTO checkout_session (id, transaction_id, merchant_id, environment, status, channels, client_token_hash,
         success_url, error_url, cancel_url, locale, expires_at, created_at)
       SELECT session_id, id, merchant_id, environment, 'OPEN', CAST(:channels AS text[]), CAST(:tokenHash AS bytea),
         CAST(:successUrl AS text), CAST(:errorUrl AS text), CAST(:cancelUrl AS text), CAST(:locale AS text),
         CAST(:expiresAt AS timestamptz), created_at FROM inserted
     )
     ${TIMELINE_INSERT}
     SELECT id, created_at, 'session.created', CAST(:detail AS jsonb) FROM inserted`,
    {
      ...session,
      customerName: session.customerName ?? null,
      customerEmail: session.customerEmail ?? null,
      customerPhone: session.customerPhone ?? null,
      successUrl: session.successUrl ?? null,
      errorUrl: session.errorUrl ?? null,
      cancelUrl: session.cancelUrl ?? null,
      locale: session.locale ?? null,
      metadata: session.metadata ? JSON.stringify(session.metadata) : null,
      detail: JSON.stringify({ amountSantim: Number(session.amountSantim), type: session.type }),
    },
    async (error) => (isUniqueViolation(error, ORDER_NO) ? duplicateReference(db, session) : error),
  );
}

const ORDER_NO = 'transaction_order_no';

async function duplicateReference(db: Queryable, session: SessionRow): Promise<AppError> {
  const existing = await first<{ sessionId: string }>(
    db,
    `SELECT session_id FROM transaction
     WHERE merchant_id = :merchantId AND environment = :environment AND checkout_order_no = :checkoutOrderNo`,
    session,
  );
  const message = `checkoutOrderNo "${session.checkoutOrderNo}" is already used by another session. Read that session, or use a new number.`;
  return new AppError('DUPLICATE_REFERENCE', message, { existing: { sessionId: existing?.sessionId ?? '' } });
}
