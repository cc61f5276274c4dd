import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Clock } from '../../src/lib/clock.ts';
import { isDatabaseUnavailable } from '../../src/lib/db-errors.ts';
import { type Database, rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger, type Logger } from '../../src/lib/log.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { grantChannels } from '../../src/merchants/channels/operations.ts';
import { createDocumentStore, type DocumentStore } from '../../src/merchants/kyc/store.ts';
import { createTransactionRunner, type OutboxRow, type RunInTransaction } from '../../src/outbox/record.ts';
import {
  createCloseUnpaid,
  createExpireAttempt,
  type CloseUnpaid,
  type ExpireAttempt,
} from '../../src/payments/close-session.ts';
import { createSession, type NewSession } from '../../src/payments/create-session.ts';
import { startPayment } from '../../src/payments/pay.ts';
import type { RefundsOfPayments } from '../../src/payments/refunds-of-payments.ts';
import { createSyncAttempt, type CheckAttempt } from '../../src/payments/sync.ts';
import { REFUNDS_OF_PAYMENTS } from '../../src/payouts/refunds/of-payments.ts';
import type {
  FindProvider,
  PaymentOrder,
  PayoutOrder,
  PayoutOutcome,
  Provider,
  ProviderOutcome,
  RefundOrder,
  RefundOutcome,
} from '../../src/providers/provider.ts';
import { KEY_RING } from './key-ring.ts';

/** The requests a provider received, and its scripted results: each is returned once, the last one repeatedly. */
export type ScriptedProvider = Provider & {
  queries: { operation: 'initiate' | 'query'; orderId: string; order?: PaymentOrder }[];
  /** Sets the next results; a function may wait before it returns one. */
  returns: (...script: ScriptedResult<ProviderOutcome>[]) => void;
  payoutQueries: { operation: 'payout' | 'queryPayout'; orderId: string; order?: PayoutOrder }[];
  /** The same for payouts and their queries. */
  returnsForPayouts: (...script: ScriptedResult<PayoutOutcome>[]) => void;
  refundQueries: { operation: 'refund' | 'queryRefund'; refundId: string; paymentId: string; order?: RefundOrder }[];
  /** The same for refunds and their queries. */
  returnsForRefunds: (...script: ScriptedResult<RefundOutcome>[]) => void;
};
type ScriptedResult<Outcome> = Outcome | (() => Promise<Outcome>);

export const ACCEPTED: ProviderOutcome = {
  kind: 'accepted',
  providerReference: null,
  redirectUrl: 'https://pay.example/confirm',
  providerCode: null,
};
const REFUND_ACCEPTED: RefundOutcome = { kind: 'accepted', providerReference: null, providerCode: null };
const PAYOUT_ACCEPTED: PayoutOutcome = { kind: 'accepted', providerReference: null, providerCode: null };
export const PENDING: ProviderOutcome = { kind: 'pending', providerReference: null, providerCode: 'WAIT_PAY' };
export const UNKNOWN: ProviderOutcome = { kind: 'unknown', reason: 'timeout', message: 'no response in 2 s' };
export const PAID: Extract<ProviderOutcome, { kind: 'succeeded' }> = {
  kind: 'succeeded',
  providerReference: 'PROV-1',
  amountSantim: 10_050n,
  currency: 'ETB',
  providerCode: 'PAY_SUCCESS',
};
export const declined = (retryable: boolean): ProviderOutcome => ({
  kind: 'declined',
  failure: { code: 'DECLINED', message: 'The customer declined.', providerCode: 'PAY_FAILED', retryable },
});

/** A provider that returns scripted results, for states that the simulator is slow to reach. */
export function scriptedProvider(): ScriptedProvider {
  const payments = scriptOf<ProviderOutcome>(ACCEPTED);
  const payouts = scriptOf<PayoutOutcome>(PAYOUT_ACCEPTED);
  const refunds = scriptOf<RefundOutcome>(REFUND_ACCEPTED);
  const queries: ScriptedProvider['queries'] = [];
  const payoutQueries: ScriptedProvider['payoutQueries'] = [];
  const refundQueries: ScriptedProvider['refundQueries'] = [];
  return {
    channel: 'TELEBIRR',
    queries,
    returns: payments.set,
    initiate: (order) => {
      queries.push({ operation: 'initiate', orderId: order.orderId, order });
      return withOwnReference(payments.next(), order.orderId);
    },
    query: (orderId) => {
      queries.push({ operation: 'query', orderId });
      return withOwnReference(payments.next(), orderId);
    },
    payoutQueries,
    returnsForPayouts: payouts.set,
    capabilities: { payoutTo: ['phone', 'bank'], refunds: true },
    payout: (order) => {
      payoutQueries.push({ operation: 'payout', orderId: order.orderId, order });
      return withOwnReference(payouts.next(), order.orderId);
    },
    queryPayout: (orderId) => {
      payoutQueries.push({ operation: 'queryPayout', orderId });
      return withOwnReference(payouts.next(), orderId);
    },
    refundQueries,
    returnsForRefunds: refunds.set,
    refund: (order) => {
      const { refundId, paymentId } = order;
      refundQueries.push({ operation: 'refund', refundId, paymentId, order });
      return withOwnReference(refunds.next(), refundId);
    },
    queryRefund: (order) => {
      refundQueries.push({ operation: 'queryRefund', ...order });
      return withOwnReference(refunds.next(), order.refundId);
    },
    statement: async () => ({ kind: 'page', rows: [], next: null }),
    parseCallback: () => ({ verified: false, problem: 'none is expected' }),
    callbackResponse: { contentType: 'text/plain', body: 'ok' },
  };
}

/** Each order gets its own provider reference (PROV-pat_…, OUT-wd_…, BACK-rfd_…), unless the script sets another one. */
async function withOwnReference<Outcome extends { kind: string }>(result: Promise<Outcome>, orderId: string) {
  const outcome = await result;
  if (!('providerReference' in outcome) || typeof outcome.providerReference !== 'string') return outcome;
  return { ...outcome, providerReference: outcome.providerReference.replace(/^(PROV|OUT|BACK)-1$/, `$1-${orderId}`) };
}

/** The reference of the scripted provider for the payment of an order. */
export const paidReference = (orderId: string): string => `PROV-${orderId}`;

function scriptOf<Outcome extends object>(byDefault: Outcome) {
  let script: ScriptedResult<Outcome>[] = [byDefault];
  return {
    set: (...results: ScriptedResult<Outcome>[]) => void (script = results),
    next: async (): Promise<Outcome> => {
      const result = (script.length > 1 ? script.shift() : script[0]) ?? byDefault;
      return typeof result === 'function' ? result() : result;
    },
  };
}

/** The operations of checkout and transactions over one database, with a clock that tests move. */
export type Fixture = {
  db: Database;
  runInTransaction: RunInTransaction;
  clock: Clock;
  /** Moves the clock forward. */
  pass: (ms: number) => void;
  provider: ScriptedProvider;
  findProvider: FindProvider;
  baseUrl: string;
  pepper: string;
  peppers: readonly string[];
  /** The messages handed to the relay. */
  enqueued: OutboxRow[];
  log: Logger;
  /** Of the merchants' documents. */
  store: DocumentStore;
  checkAttempt: CheckAttempt;
  closeUnpaid: CloseUnpaid;
  expireAttempt: ExpireAttempt;
  refundsOfPayments: RefundsOfPayments;
};

export type FixtureOptions = {
  /** The time at which the clock is fixed until it is moved; `clock` replaces it by a running clock. */
  start?: Date;
  clock?: Clock;
  /** Replaces the silent log. */
  log?: Logger;
  /** Replaces the scripted provider. */
  findProvider?: FindProvider;
  baseUrl?: string;
};

export function buildFixture(db: Database, options: FixtureOptions = {}): Fixture {
  const enqueued: OutboxRow[] = [];
  const start = options.start ?? new Date('2026-03-02T09:00:00.000Z');
  const clockBefore = options.clock ?? (() => start);
  let passedMs = 0;
  const provider = scriptedProvider();
  const base = {
    db,
    runInTransaction: createTransactionRunner(db, (messages) => void enqueued.push(...messages)),
    clock: () => new Date(clockBefore().getTime() + passedMs),
    findProvider: options.findProvider ?? ((channel: string) => (channel === 'MPESA' ? null : provider)),
    baseUrl: options.baseUrl ?? 'https://checkout.example',
    pepper: 'pepper of the tests',
    peppers: ['pepper of the tests'],
    log: options.log ?? createLogger('silent', 'test'),
    store: createDocumentStore(join(tmpdir(), `meskot-documents-${process.pid}`), KEY_RING),
  };
  const checkAttempt = createSyncAttempt(base);
  return {
    ...base,
    pass: (ms) => void (passedMs += ms),
    provider,
    enqueued,
    checkAttempt,
    closeUnpaid: createCloseUnpaid({ ...base, checkAttempt }),
    expireAttempt: createExpireAttempt({ ...base, checkAttempt }),
    refundsOfPayments: REFUNDS_OF_PAYMENTS,
  };
}

/** A merchant with every available channel approved and enabled, in the sandbox. */
export async function buildMerchant(db: Database, name = 'Abyssinia Coffee'): Promise<MerchantScope> {
  const scope: MerchantScope = { merchantId: newId('mrc'), environment: 'sandbox' };
  await db.transaction(async (trx) => {
    await rows(trx, 'INSERT INTO merchant (id, name) VALUES (:merchantId, :name)', { ...scope, name });
    await grantChannels(trx, scope);
  });
  return scope;
}

let orders = 0;

/** A session of 100.50 ETB, open for 30 minutes by default. */
export function buildSession(fixture: Fixture, scope: MerchantScope, wanted: Partial<NewSession> = {}) {
  orders += 1;
  const session: NewSession = {
    checkoutOrderNo: `ORDER-${orders}`,
    amountSantim: 10_050n,
    currency: 'ETB',
    type: 'API',
    expiresInMinutes: 30,
    ...wanted,
  };
  return fixture.runInTransaction((tx) => createSession({ ...fixture, tx }, scope, session));
}

export const PHONE = '0911000001';

/** Creates an attempt on a session without sending it to the provider. Returns its id. */
export async function buildAttempt(
  fixture: Fixture,
  key: MerchantScope & { sessionId: string },
  payer: { channel?: 'TELEBIRR' | 'CBE_BIRR' | 'AWASH'; phone?: string } = {},
): Promise<string> {
  const wanted = { channel: payer.channel ?? 'TELEBIRR', phone: payer.phone ?? PHONE };
  const payment = await fixture.runInTransaction((tx) => startPayment({ ...fixture, tx }, key, wanted));
  return payment.attemptId;
}

/** A session with an attempt that the provider has accepted. */
export async function buildPendingPayment(fixture: Fixture, scope: MerchantScope) {
  const session = await buildSession(fixture, scope);
  const attemptId = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
  fixture.provider.returns(ACCEPTED);
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  return { ...session, attemptId };
}

/**
 * The state of a session and all that belongs to it; events are sorted by name because those of one transaction have no
 * order.
 */
export async function stateOfSession(db: Database, sessionId: string) {
  const [row] = await rows<Record<string, unknown>>(
    db,
    `SELECT s.status AS session, t.status AS transaction, t.confirmed_late, t.hold_reason, t.needs_reconciliation, t.version,
            (SELECT array_agg(a.status ORDER BY a.created_at, a.id) FROM payment_attempt a WHERE a.session_id = s.id) AS attempts,
            (SELECT array_agg(e.event ORDER BY e.event) FROM webhook_event e WHERE e.resource_id = t.id) AS events,
            (SELECT array_agg(l.kind ORDER BY l.id) FROM timeline l WHERE l.resource_id = t.id) AS timeline
     FROM checkout_session s JOIN transaction t ON t.id = s.transaction_id WHERE s.id = :sessionId`,
    { sessionId },
  );
  if (!row) throw new Error(`no session ${sessionId}`);
  return row;
}

const SERVED_WAIT_MS = 40_000;

/**
 * Repeats a call that the API would reject with 503 (no connection or lock within a second): it has had no effect, and
 * clients repeat it. Races of fifty callers then fail by their rows only, not by a busy machine.
 */
export async function untilServed<T>(call: () => Promise<T>): Promise<T> {
  for (const endMs = Date.now() + SERVED_WAIT_MS; ;) {
    try {
      return await call();
    } catch (error) {
      if (!wasShed(error) || Date.now() > endMs) throw error;
    }
  }
}

/** No connection or lock in time. Deadlocks are excluded: they are bugs in the lock order and must fail the test. */
function wasShed(error: unknown): boolean {
  const lockTimeout = error instanceof Error && 'code' in error && error.code === '55P03';
  return lockTimeout || isDatabaseUnavailable(error);
}
