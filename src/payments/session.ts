import type { MerchantCaller, Scope } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { equalInConstantTime } from '../lib/crypto.ts';
import { first, type Database, type Queryable } from '../lib/db.ts';
import { found, notFound } from '../lib/errors.ts';
import { toBirr } from '../lib/money.ts';
import { scopeOf } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { Merchant } from '../merchants/operations.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import type { ProviderFailure } from '../providers/provider.ts';
import { clientTokenOf } from './client-token.ts';
import { expireSessionIfDue } from './close-session.ts';
import type { TransactionRow } from './present.ts';
import { reviewReason, type ReviewFacts, type AttemptStatus, type SessionStatus } from './states.ts';

/** A session with its transaction and latest attempt, from which responses, hooks and pages are built. */
export type Session = Pick<
  TransactionRow,
  'merchantId' | 'environment' | 'checkoutOrderNo' | 'amountSantim' | 'currency' | 'type'
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
    locale: 'en' | 'am';
    expiresAt: Date;
    createdAt: Date;
    attemptId: string | null;
    attemptStatus: AttemptStatus | null;
    attemptChannel: Channel | null;
    attemptPhone: string | null;
    attemptFailure: ProviderFailure | null;
    redirectUrl: string | null;
    lastCheckedAt: Date | null;
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

/** One session as stored. Throws NOT_FOUND. */
export async function findSession(db: Queryable, key: SessionKey): Promise<Session> {
  const session = await first<Session>(
    db,
    `SELECT s.*, t.checkout_order_no, t.amount_santim, t.currency, t.type, t.status AS transaction_status, t.hold_reason,
            t.needs_reconciliation, a.id AS attempt_id, a.status AS attempt_status, a.channel AS attempt_channel,
            a.phone AS attempt_phone, a.failure AS attempt_failure, a.redirect_url, a.last_checked_at,
            EXISTS (SELECT FROM payment_attempt d WHERE d.session_id = s.id AND d.status = 'DUPLICATE'
                    AND d.hold_resolution IS NULL) AS paid_twice, m.name AS merchant_name, m.status AS merchant_status
     FROM checkout_session s
     JOIN transaction t ON t.id = s.transaction_id
     JOIN merchant m ON m.id = s.merchant_id
     LEFT JOIN LATERAL (
       SELECT * FROM payment_attempt WHERE session_id = s.id ORDER BY created_at DESC, id DESC LIMIT 1
     ) a ON true
     WHERE s.id = :sessionId AND s.merchant_id = :merchantId AND s.environment = :environment`,
    key,
  );
  return found(session, 'checkout session');
}

export type ReadDeps = { db: Database; runInTransaction: RunInTransaction; clock: Clock };

/** One session, expired first if its time is over, so that reads agree with lists. Throws NOT_FOUND. */
export async function readSession(deps: ReadDeps, key: SessionKey): Promise<Session> {
  const session = await findSession(deps.db, key);
  const now = deps.clock();
  if (session.status !== 'OPEN' || session.expiresAt > now) return session;
  await expireSessionIfDue(deps.runInTransaction, session.id, now);
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

/** The public session. */
export function presentSession(session: Session, link: PageLink) {
  const underReview = reviewReason(session);
  return {
    sessionId: session.id,
    transactionId: session.transactionId,
    checkoutOrderNo: session.checkoutOrderNo,
    amount: toBirr(session.amountSantim),
    currency: session.currency,
    type: session.type,
    status: session.status,
    transactionStatus: session.transactionStatus,
    ...(underReview === null ? {} : { underReview }),
    checkoutUrl: checkoutUrl(session, link),
    expiresAt: session.expiresAt.toISOString(),
    createdAt: session.createdAt.toISOString(),
  };
}
