import { randomBytes } from 'node:crypto';

import type { MemberRole } from '../../http/people.ts';
import type { OperatorRole } from '../../http/route.ts';
import { sha256 } from '../../lib/crypto.ts';
import { DAY_MS, HOUR_MS } from '../../lib/dates.ts';
import { first, insertRow, rows, updateRow, type Queryable, type Trx } from '../../lib/db.ts';
import { deleteInBatches } from '../../lib/delete-in-batches.ts';
import { AppError, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { LiveRequirements } from '../authenticate.ts';
import type { User } from './users.ts';

const TOKEN_BYTES = 32;
/** The listener that a session is valid at: the merchants' portal or the operators' console. */
export type Audience = 'portal' | 'console';
/** How long a session lasts without use, and at most. */
const LIMITS_MS: Readonly<Record<Audience, { idle: number; life: number }>> = {
  portal: { idle: 12 * HOUR_MS, life: 7 * DAY_MS },
  console: { idle: HOUR_MS / 2, life: 12 * HOUR_MS },
};
/** After this time without use, a session of the portal reads no live data until the next sign-in. */
const LIVE_IDLE_MS = HOUR_MS / 2;
const USE_WRITTEN_EVERY_MS = 60_000;
const DEVICE_CHARACTERS_MAX = 300;
const LISTED_MAX = 100;

export type SessionRow = {
  id: string;
  userId: string;
  audience: Audience;
  merchantId: string | null;
  address: string;
  device: string;
  stepUpAt: Date | null;
  lastUsedAt: Date;
  idleUntil: Date;
  liveUntil: Date;
  expiresAt: Date;
  endedAt: Date | null;
  createdAt: Date;
};

/**
 * A session that has not ended, with its user. Of the portal: with the active merchant; `role` is null for no member of a
 * merchant. Of the console: with the active operator.
 */
export type Session = SessionRow &
  Pick<User, 'email' | 'name' | 'language' | 'calendar' | 'clock' | 'totpEnabledAt'> & {
    merchantName: string | null;
    merchantStatus: 'ACTIVE' | 'SUSPENDED' | null;
    role: MemberRole | null;
    operatorId: string | null;
    operatorRole: OperatorRole | null;
  } & LiveRequirements;

/** When idle sessions end that are used at an instant. */
const prolonged = (audience: Audience, at: Date) => ({
  lastUsedAt: at,
  idleUntil: new Date(at.getTime() + LIMITS_MS[audience].idle),
  liveUntil: new Date(at.getTime() + LIVE_IDLE_MS),
});

/** `stepUpAt`: when a second factor was given for it. */
type NewSession = Pick<SessionRow, 'userId' | 'audience' | 'address' | 'device'> & { stepUpAt?: Date | null; at: Date };

/** Begins a session; of the portal in the merchant of the user's last one. `token` is for the cookie; the table stores its hash. */
export async function createSession(
  trx: Trx,
  { userId, audience, address, device, stepUpAt = null, at }: NewSession,
): Promise<{ sessionId: string; token: string }> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const sql = `SELECT m.merchant_id FROM membership m WHERE m.user_id = :userId AND m.removed_at IS NULL
               ORDER BY (SELECT max(s.created_at) FROM user_session s
                         WHERE s.user_id = m.user_id AND s.merchant_id = m.merchant_id) DESC NULLS LAST, m.created_at
               LIMIT 1`;
  const active = audience === 'portal' ? await first<{ merchantId: string }>(trx, sql, { userId }) : null;
  const { id } = await insertRow<SessionRow>(trx, 'user_session', {
    id: newId('ses', at.getTime()),
    userId,
    audience,
    merchantId: active?.merchantId ?? null,
    tokenHash: sha256(token),
    address,
    device: device.slice(0, DEVICE_CHARACTERS_MAX),
    stepUpAt,
    ...prolonged(audience, at),
    expiresAt: new Date(at.getTime() + LIMITS_MS[audience].life),
    createdAt: at,
  });
  return { sessionId: id, token };
}

/**
 * The session of a cookie's token, and records its use by a person at most once a minute; null for any other text, and for a token of
 * another audience. It is read for each request, so what ends or changes a session applies to the next one.
 */
export async function useSession(
  db: Queryable,
  { token, audience, isAttended }: { token: string; audience: Audience; isAttended: boolean },
  at: Date,
): Promise<Session | null> {
  const session = await findSession(db, { tokenHash: sha256(token), id: null, audience }, at);
  if (session === null || !isAttended || at.getTime() - session.lastUsedAt.getTime() < USE_WRITTEN_EVERY_MS)
    return session;
  const sql = `UPDATE user_session SET last_used_at = :lastUsedAt, idle_until = :idleUntil,
                 live_until = CASE WHEN live_until > :lastUsedAt THEN :liveUntil ELSE live_until END
               WHERE id = :id AND ended_at IS NULL`;
  await rows(db, sql, { ...prolonged(audience, at), id: session.id });
  return session;
}

/** A session that has not ended. Throws AUTHENTICATION_REQUIRED, where it has ended within the request. */
export async function readSession(db: Queryable, id: string, at: Date): Promise<Session> {
  const session = await findSession(db, { tokenHash: null, id, audience: null }, at);
  if (session === null) throw new AppError('AUTHENTICATION_REQUIRED', 'Your session has ended. Sign in.');
  return session;
}

/** In SQL: sessions s that have not ended. The console's are those of active operators with two factors. */
const USABLE = `
  user_session s
  JOIN user_account u ON u.id = s.user_id
  LEFT JOIN membership m ON m.user_id = s.user_id AND m.merchant_id = s.merchant_id AND m.removed_at IS NULL
  LEFT JOIN merchant ON merchant.id = m.merchant_id
  LEFT JOIN operator o ON s.audience = 'console' AND lower(o.email) = lower(u.email) AND o.active
  WHERE (s.audience = 'portal' OR (o.id IS NOT NULL AND u.totp_enabled_at IS NOT NULL))
    AND s.ended_at IS NULL AND s.idle_until > :at AND s.expires_at > :at`;

/** In SQL: what the merchant has done to use live; nothing, unread, where the condition does not hold. */
const liveRequirements = (condition = 'true'): string => `
           coalesce(merchant.kyc_status, 'NOT_STARTED') AS kyc_status,
           ${condition} AND effective_kyc_tier(merchant.id) > 0 AS is_verified,
           ${condition} AND has_sandbox_payment(merchant.id) AS has_sandbox_payment`;

async function findSession(
  db: Queryable,
  of: { tokenHash: Buffer | null; id: string | null; audience: Audience | null },
  at: Date,
): Promise<Session | null> {
  const sql = `
    SELECT s.*, u.email, u.name, u.language, u.calendar, u.clock, u.totp_enabled_at, m.role,
           merchant.name AS merchant_name, o.id AS operator_id, o.role AS operator_role,
           merchant.status AS merchant_status, ${liveRequirements()}
    FROM ${USABLE} AND (s.token_hash = :tokenHash OR s.id = :id) AND s.audience = coalesce(:audience, s.audience)`;
  return (await first<Session>(db, sql, { ...of, at })) ?? null;
}

/**
 * Those of these sessions that have not ended; `merchantId` of an active merchant, and what it has done to use live where the
 * session is one of `liveIds`. Their use is not recorded.
 */
export async function findUsableSessions(
  db: Queryable,
  { ids, liveIds }: Record<'ids' | 'liveIds', readonly string[]>,
  at: Date,
) {
  const sql = `
    SELECT s.id, CASE WHEN merchant.status = 'ACTIVE' THEN merchant.id END AS merchant_id, s.live_until, m.role,
           o.role AS operator_role, u.totp_enabled_at, ${liveRequirements('s.id = ANY(:liveIds)')}
    FROM ${USABLE} AND s.id = ANY(:ids)`;
  type Usable = Pick<Session, 'id' | 'merchantId' | 'liveUntil' | 'role' | 'operatorRole' | 'totpEnabledAt'>;
  return rows<Usable & LiveRequirements>(db, sql, { ids, liveIds, at });
}

/** Ends a session of a user. Idempotent; returns whether there is one. */
export async function endSession(trx: Trx, of: Pick<SessionRow, 'id' | 'userId'>, at: Date): Promise<boolean> {
  const sql = `UPDATE user_session SET ended_at = coalesce(ended_at, :at) WHERE id = :id AND user_id = :userId RETURNING 1`;
  return (await rows(trx, sql, { ...of, at })).length > 0;
}

/** Ends the sessions that the person of an operator has at the console. */
export async function endOperatorSessions(trx: Trx, operatorId: string, at: Date): Promise<void> {
  const sql = `UPDATE user_session s SET ended_at = :at FROM user_account u JOIN operator o ON lower(o.email) = lower(u.email)
               WHERE o.id = :operatorId AND s.user_id = u.id AND s.audience = 'console' AND s.ended_at IS NULL`;
  await rows(trx, sql, { operatorId, at });
}

/** Ends all sessions of a user, but for the one to keep. */
export async function endSessions(trx: Trx, userId: string, { at, keep = '' }: { at: Date; keep?: string }) {
  const sql = `UPDATE user_session SET ended_at = :at WHERE user_id = :userId AND id <> :keep AND ended_at IS NULL`;
  await rows(trx, sql, { userId, at, keep });
}

/** The sessions of a user that have not ended, newest first. */
export async function listSessions(db: Queryable, userId: string, at: Date): Promise<SessionRow[]> {
  const sql = `SELECT * FROM user_session WHERE user_id = :userId AND ended_at IS NULL AND idle_until > :at
               AND expires_at > :at ORDER BY created_at DESC, id DESC LIMIT ${LISTED_MAX}`;
  return rows<SessionRow>(db, sql, { userId, at });
}

/** Records that the person of a session has just entered a code. */
export async function recordStepUp(trx: Trx, sessionId: string, at: Date): Promise<void> {
  await updateRow(trx, { table: 'user_session', id: sessionId }, { stepUpAt: at });
}

/** Makes another of the user's merchants the active one. Throws NOT_FOUND. */
export async function switchMerchant(
  trx: Trx,
  to: Record<'sessionId' | 'userId' | 'merchantId', string>,
): Promise<void> {
  const sql = `UPDATE user_session s SET merchant_id = m.merchant_id FROM membership m
               WHERE s.id = :sessionId AND s.audience = 'portal' AND m.user_id = :userId AND m.merchant_id = :merchantId AND m.removed_at IS NULL
               RETURNING 1`;
  if ((await rows(trx, sql, to)).length === 0) throw notFound('merchant');
}

/** Deletes the sessions that ended more than 30 days ago; returns how many. For a periodic job. */
export async function deleteOldSessions(db: Queryable, stopping?: AbortSignal): Promise<number> {
  const where = "least(ended_at, idle_until, expires_at) < now() - interval '30 days'";
  return deleteInBatches(db, { table: 'user_session', where }, stopping);
}
