import type { MerchantCaller, Scope } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { equalInConstantTime, hmac, sha256 } from '../lib/crypto.ts';
import { HOUR_MS } from '../lib/dates.ts';
import { first, rows, type Database, type Queryable } from '../lib/db.ts';
import { found, notFound } from '../lib/errors.ts';
import { toBirr } from '../lib/money.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { DayRange, Page } from '../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { Merchant } from '../merchants/operations.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import type { ProviderFailure } from '../providers/provider.ts';
import { closeSession } from './close-session.ts';
import type { TransactionRow } from './queries.ts';
import { reviewReason, type ReviewFacts, type AttemptStatus, type SessionStatus } from './states.ts';

/** A session with its transaction and latest attempt, from which responses, hooks and pages are built. */
export type Session = Pick<
  TransactionRow,
  | 'merchantId'
  | 'environment'
  | 'checkoutOrderNo'
  | 'amountSantim'
  | 'currency'
  | 'type'
  | 'version'
  | 'providerReference'
  | 'customerPhone'
  | 'completedAt'
  | 'receivedSantim'
> &
  ReviewFacts & {
    id: string;
    transactionId: string;
    status: SessionStatus;
    clientTokenHash: Buffer;
    channels: Channel[];
    attemptsCount: number;
    successUrl: string | null;
    errorUrl: string | null;
    cancelUrl: string | null;
    /** The shop's choice; null leaves it to the customer's browser. */
    locale: 'en' | 'am' | null;
    expiresAt: Date;
    createdAt: Date;
    attemptId: string | null;
    attemptStatus: AttemptStatus | null;
    attemptChannel: Channel | null;
    attemptPhone: string | null;
    attemptFailure: ProviderFailure | null;
    redirectUrl: string | null;
    /** The channel of the latest attempt, or of the one that paid. */
    paidChannel: Channel | null;
    lastCheckedAt: Date | null;
    /** Whether it has an attempt without a definite decline. */
    mayBePaid: boolean;
    merchantName: string;
    merchantStatus: Merchant['status'];
  };

/** The session a caller may see: of their merchant and environment; with a client token only its own. */
export type SessionKey = Pick<MerchantCaller, 'merchantId' | 'environment'> & { sessionId: string };

/** Throws NOT_FOUND when a client's token is another session's. */
export function sessionKey(caller: MerchantCaller, sessionId: string): SessionKey {
  if (caller.kind === 'client' && caller.sessionId !== sessionId) throw notFound('checkout session');
  return { ...scopeOf(caller), sessionId };
}

/** In SQL: the columns of {@link Session}, and the tables they are of. */
const COLUMNS = `s.*, t.checkout_order_no, t.amount_santim, t.currency, t.type, t.status AS transaction_status, t.hold_reason,
            t.needs_reconciliation, t.version, t.provider_reference, t.customer_phone, t.completed_at,
            t.received_santim, t.channel AS paid_channel, a.id AS attempt_id, a.status AS attempt_status, a.channel AS attempt_channel,
            a.phone AS attempt_phone, a.failure AS attempt_failure, a.redirect_url, a.last_checked_at,
            EXISTS (SELECT FROM payment_attempt d WHERE d.session_id = s.id AND d.status = 'DUPLICATE'
                    AND d.hold_resolution IS NULL) AS paid_twice,
            EXISTS (SELECT FROM payment_attempt d WHERE d.session_id = s.id AND d.status <> 'DECLINED') AS may_be_paid, m.name AS merchant_name, m.status AS merchant_status`;
const TABLES = `checkout_session s
  JOIN transaction t ON t.id = s.transaction_id
  JOIN merchant m ON m.id = s.merchant_id
  LEFT JOIN LATERAL (
    SELECT * FROM payment_attempt WHERE session_id = s.id ORDER BY created_at DESC, id DESC LIMIT 1
  ) a ON true`;

/** One session as stored. Throws NOT_FOUND. */
export async function findSession(db: Queryable, key: SessionKey): Promise<Session> {
  const sql = `SELECT ${COLUMNS} FROM ${TABLES}
    WHERE s.id = :sessionId AND s.merchant_id = :merchantId AND s.environment = :environment`;
  return found(await first<Session>(db, sql, key), 'checkout session');
}

type SessionFilter = MerchantScope & { range: DayRange; statuses: SessionStatus[] | null };

/** A page of the sessions of a range of days, the newest first, as stored: the sweep closes expired ones every second. */
export async function listSessions(db: Queryable, { range, statuses, ...scope }: SessionFilter, page: Page) {
  // By the index of transactions: a session and its transaction are created at one instant.
  const table = `(SELECT s.id, s.status, t.created_at FROM transaction t JOIN checkout_session s ON s.transaction_id = t.id
    WHERE t.merchant_id = :merchantId AND t.environment = :environment
      AND t.created_at >= :from AND t.created_at < :until) listed`;
  const where = statuses ? 'status = ANY (:statuses)' : 'true';
  const values = { ...scopeOf(scope), ...range, statuses };
  const listed = await paginateNewest<{ id: string }>(db, { table, where, values }, page);
  const ids = listed.rows.map(({ id }) => id);
  const sql = `SELECT ${COLUMNS} FROM ${TABLES} WHERE s.id = ANY (:ids) ORDER BY s.created_at DESC, s.id DESC`;
  return { sessions: await rows<Session>(db, sql, { ids }), pagination: listed.pagination };
}

export type ReadDeps = { db: Database; runInTransaction: RunInTransaction; clock: Clock };

/** One session, expired first if its time is over, so that reads agree with lists. Throws NOT_FOUND. */
export async function readSession(deps: ReadDeps, key: SessionKey): Promise<Session> {
  const session = await findSession(deps.db, key);
  const now = deps.clock();
  if (session.status !== 'OPEN' || session.expiresAt > now) return session;
  await deps.runInTransaction((tx) => closeSession(tx, session.id, { status: 'EXPIRED', at: now }));
  return findSession(deps.db, key);
}

/** The page's address without its token: for a browser that already holds the cookie. */
export function checkoutPageUrl(baseUrl: string, sessionId: string): string {
  return `${baseUrl}/checkout/${sessionId}`;
}

/** The merchant's return address for a session's end, with two ids and no outcome; null when there is none. */
export function returnUrl(session: Session): string | null {
  const target = {
    OPEN: null,
    PROCESSING: null,
    COMPLETED: session.successUrl,
    FAILED: session.errorUrl,
    CANCELLED: session.cancelUrl,
    EXPIRED: session.errorUrl,
  }[session.status];
  if (target === null) return null;
  const url = new URL(target);
  url.searchParams.set('sessionId', session.id);
  url.searchParams.set('checkoutOrderNo', session.checkoutOrderNo);
  return url.href;
}

export type PageLink = { baseUrl: string; pepper: string; scopes: readonly Scope[] };

/**
 * The page's address with its token, for keys that may pay: a read-only key must not get what pays and cancels. Null once
 * the session has ended, and where the token was derived with another secret than today's.
 */
function checkoutUrl({ id, status, clientTokenHash }: Session, { baseUrl, pepper, scopes }: PageLink): string | null {
  if ((status !== 'OPEN' && status !== 'PROCESSING') || !scopes.includes('checkout:write')) return null;
  const { token, hash } = clientTokenOf(pepper, id);
  return equalInConstantTime(hash, clientTokenHash) ? `${checkoutPageUrl(baseUrl, id)}?t=${token}` : null;
}

/** The public session; its schema leaves out the other columns. */
export function presentSession(session: Session, link: PageLink) {
  return {
    ...session,
    sessionId: session.id,
    amount: toBirr(session.amountSantim),
    underReview: reviewReason(session) ?? undefined,
    checkoutUrl: checkoutUrl(session, link),
  };
}

const TOKEN_CHARACTERS = 43;
/** The page can still be read, and outcomes reported, this long after the session's end. */
const VALID_AFTER_END_MS = HOUR_MS;

/**
 * The token of a session's page: 256 bits derived from the session's id with the server's secret, so that the address can
 * be given to the merchant again. Only its hash is stored.
 */
export function clientTokenOf(pepper: string, sessionId: string): { token: string; hash: Buffer } {
  const token = hmac(pepper, `checkout session ${sessionId}`).toString('base64url');
  return { token, hash: sha256(token) };
}

type TokenRow = MerchantScope & { clientTokenHash: Buffer; endedAt: Date | null };

export type TokenAuthenticator = ReturnType<typeof createTokenAuthenticator>;

/** Checks tokens of session pages. */
export function createTokenAuthenticator(deps: { db: Queryable; clock: Clock; peppers: readonly string[] }) {
  const { db, clock, peppers } = deps;
  return {
    /** The caller of a session's token, by one query; null for any other text, and from 1 h after the session's end. */
    authenticateClientToken: async (sessionId: string, token: string): Promise<MerchantCaller | null> => {
      if (token.length !== TOKEN_CHARACTERS || !isSessionId(sessionId)) return null;
      const sql =
        'SELECT merchant_id, environment, client_token_hash, ended_at FROM checkout_session WHERE id = :sessionId';
      const row = await first<TokenRow>(db, sql, { sessionId });
      if (!row || !equalInConstantTime(sha256(token), row.clientTokenHash)) return null;
      if (row.endedAt && row.endedAt.getTime() + VALID_AFTER_END_MS <= clock().getTime()) return null;
      return { kind: 'client', ...scopeOf(row), sessionId };
    },
    /** Whether this server derived the token for this session, by its signature alone. */
    isOurToken: (sessionId: string, token: string): boolean =>
      peppers.some((pepper) => equalInConstantTime(sha256(token), clientTokenOf(pepper, sessionId).hash)),
  };
}

/** The form of `newId('cs')`: no other text is queried. */
const isSessionId = (text: string): boolean => /^cs_[0-9A-Z]{26}$/.test(text);
