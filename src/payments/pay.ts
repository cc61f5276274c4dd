import { randomBytes } from 'node:crypto';

import type { z } from 'zod';

import type { Clock } from '../lib/clock.ts';
import { first } from '../lib/db.ts';
import { AppError, invalid, invalidState } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { normalisePhone } from '../lib/phone.ts';
import { findSandboxPhone, SANDBOX_PHONES } from '../lib/sandbox-providers.ts';
import type { Environment } from '../lib/scope.ts';
import { TIMELINE_INSERT } from '../lib/timeline.ts';
import { withTimeout } from '../lib/timeout.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import { amountLimitError } from '../merchants/channels/limits.ts';
import { channelRejected } from '../merchants/channels/operations.ts';
import { listChannels } from '../merchants/channels/queries.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import type { FindProvider } from '../providers/provider.ts';
import { recordTransactionEvents } from './events.ts';
import type { TransactionRow, AttemptState } from './queries.ts';
import type * as schema from './session-schema.ts';
import { findSession, type Session, type SessionKey } from './session.ts';
import { ATTEMPTS_MAX, HELD_MESSAGE, isAttemptOver, isHeld } from './states.ts';
import { MIN_QUERY_INTERVAL_MS, type CheckAttempt } from './sync.ts';
import { paymentWorkflow } from './workflow.ts';

const CALLBACK_SECRET_BYTES = 24;
/** How long the response to `pay`, and the page, waits for the provider, to include the confirmation page. */
export const PROVIDER_WAIT_MS = 2_000;
export const NEXT_POLL_AFTER_MS = 2_000;

export type Payment = z.output<typeof schema.Payment>;

export type PayDeps = { tx: UnitOfWork; findProvider: FindProvider; clock: Clock };
type Payer = { channel: Channel; phone: string };

/**
 * Starts one attempt on one channel: the attempt, the session's transition to PROCESSING, the first `payment.created` and
 * the start of the attempt's workflow, in one transaction. A repeat with the same channel and phone returns the attempt in
 * flight. Throws VALIDATION_ERROR (phone), CHANNEL_*, AMOUNT_*, MERCHANT_SUSPENDED, INVALID_STATE, NOT_FOUND.
 */
export async function startPayment(deps: PayDeps, key: SessionKey, wanted: Payer): Promise<Payment> {
  const payer = { channel: wanted.channel, phone: readPhone(wanted.phone, key.environment) };
  const session = await findSession(deps.tx.trx, key);
  const inFlight = paymentInFlight(session, payer);
  if (inFlight) return inFlight;
  const now = deps.clock();
  ensureOpen(session, now);
  // Keys of a suspended merchant are rejected earlier; a session's own token is not.
  if (session.merchantStatus !== 'ACTIVE') {
    throw new AppError('MERCHANT_SUSPENDED', 'This shop is suspended and accepts no payments. Contact the shop.');
  }
  await ensureChannel(deps, session, payer.channel);

  const attemptId = newId('pat', now.getTime());
  const transaction = await insertAttempt(deps.tx, { session, payer, attemptId, now });
  // A concurrent attempt came first: the same one, or another that must end before.
  if (!transaction) return startPayment(deps, key, wanted);
  if (session.attemptsCount === 0) {
    await recordTransactionEvents(deps.tx, { transactions: [transaction], events: ['payment.created'], at: now });
  }
  const { merchantId, environment, expiresAt, checkoutOrderNo, merchantName } = session;
  const about = { merchantId, environment, channel: payer.channel, checkoutOrderNo, merchantName };
  const workflow = paymentWorkflow({ attemptId, ...about, expiresAt });
  // A result before the delay has passed needs no workflow.
  await deps.tx.enqueue([{ kind: 'start', ...workflow, delayMs: NEXT_POLL_AFTER_MS }]);
  return presentPayment({ attemptId, attemptStatus: 'CREATED', transactionStatus: 'PENDING', redirectUrl: null });
}

/**
 * After the commit: queries the provider at once, for 2 s at most, so that the response can include the confirmation page.
 * If the process dies first, the workflow queries 2 s later, under the same order id.
 */
export async function awaitProviderResult(checkAttempt: CheckAttempt, payment: Payment): Promise<Payment> {
  const check = checkAttempt(payment.attemptId, { minIntervalMs: MIN_QUERY_INTERVAL_MS, notifyWorkflow: true });
  const state = await withTimeout(check, PROVIDER_WAIT_MS);
  return state ? presentPayment(state) : payment;
}

type PaymentState = Pick<AttemptState, 'attemptId' | 'attemptStatus' | 'transactionStatus' | 'redirectUrl'>;

function presentPayment({ attemptId, attemptStatus: status, transactionStatus, redirectUrl }: PaymentState): Payment {
  if (isAttemptOver(status)) return { attemptId, status, transactionStatus, nextPollAfterMs: null };
  const common = { attemptId, status, transactionStatus, nextPollAfterMs: NEXT_POLL_AFTER_MS };
  return redirectUrl === null ? common : { ...common, redirectUrl };
}

function readPhone(text: string, environment: Environment): string {
  const phone = normalisePhone(text);
  if (phone === null) {
    const issue = 'must be an Ethiopian mobile number as 09…, 07… or +251…';
    throw invalid('phone', { issue, code: 'not_a_phone' });
  }
  if (environment === 'sandbox' && !findSandboxPhone(phone)) {
    const list = SANDBOX_PHONES.map((one) => `${one.phone} (${one.outcome})`).join(', ');
    throw invalid('phone', { issue: `must be one of the sandbox's numbers: ${list}`, code: 'not_a_sandbox_phone' });
  }
  return phone;
}

function paymentInFlight(session: Session, payer: Payer): Payment | null {
  const { attemptId, attemptStatus } = session;
  if (session.status !== 'PROCESSING' || attemptId === null || attemptStatus === null || isHeld(session)) return null;
  if (session.attemptChannel !== payer.channel || session.attemptPhone !== payer.phone) return null;
  return presentPayment({ ...session, attemptId, attemptStatus });
}

function ensureOpen(session: Session, now: Date): void {
  const { status, expiresAt } = session;
  if (isHeld(session)) throw invalidState(`The session cannot be paid again. ${HELD_MESSAGE}`);
  if (status === 'PROCESSING') {
    throw invalidState('Another payment of this session is in progress. Wait for its end, or cancel it.');
  }
  if (status !== 'OPEN') throw invalidState(`The session is ${status}. Create a new one.`);
  if (expiresAt <= now) throw invalidState(`The session expired at ${expiresAt.toISOString()}. Create a new one.`);
  if (session.attemptsCount < ATTEMPTS_MAX) return;
  throw invalidState(`All ${ATTEMPTS_MAX} attempts of this session are used. Create a new one.`);
}

async function ensureChannel(deps: PayDeps, session: Session, wanted: Channel): Promise<void> {
  const channels = await listChannels(deps.tx.trx, session, deps.findProvider);
  const channel = channels.find((one) => one.channel === wanted);
  if (!channel) throw new Error(`channel ${wanted} has no row`);
  if (channel.reason !== null) throw channelRejected(wanted, channel.reason, channel);
  if (!session.channels.includes(wanted)) {
    const issue = `must be one of this session's channels: ${session.channels.join(', ')}, got ${wanted}`;
    const wrong = { issue, code: 'not_an_option', params: { allowed: session.channels.join(', ') } } as const;
    throw invalid('channel', wrong, { code: 'CHANNEL_DISABLED' });
  }
  const rejection = amountLimitError(channel.channel, channel.payIn, session.amountSantim);
  if (rejection) throw rejection;
}

/** OPEN → PROCESSING with a new attempt, if the session is still OPEN; undefined otherwise. */
async function insertAttempt(
  { trx }: UnitOfWork,
  { session, payer, attemptId, now }: { session: Session; payer: Payer; attemptId: string; now: Date },
): Promise<TransactionRow | undefined> {
  return first<TransactionRow>(
    trx,
    `WITH session AS (
       UPDATE checkout_session SET status = 'PROCESSING', attempts_count = attempts_count + 1
       WHERE id = :sessionId AND status = 'OPEN' AND attempts_count < :attemptsMax AND expires_at > :now
       RETURNING id, transaction_id
     ), updated AS (
       UPDATE transaction t SET channel = :channel, version = t.version + 1
       FROM session WHERE t.id = session.transaction_id AND t.status = 'PENDING' AND t.hold_reason IS NULL
       RETURNING t.*
     ), attempt AS (
       INSERT INTO payment_attempt (id, session_id, transaction_id, merchant_id, environment, channel, phone,
         amount_santim, currency, status, callback_secret, created_at)
       SELECT :attemptId, session_id, id, merchant_id, environment, channel, :phone, amount_santim, currency, 'CREATED',
         :callbackSecret, CAST(:now AS timestamptz)
       FROM updated
     ), timeline_row AS (
       ${TIMELINE_INSERT}
       SELECT id, CAST(:now AS timestamptz), 'attempt.started', CAST(:detail AS jsonb) FROM updated
     )
     SELECT * FROM updated`,
    {
      sessionId: session.id,
      attemptsMax: ATTEMPTS_MAX,
      now,
      attemptId,
      ...payer,
      callbackSecret: randomBytes(CALLBACK_SECRET_BYTES).toString('base64url'),
      detail: JSON.stringify({ attemptId, channel: payer.channel }),
    },
  );
}
