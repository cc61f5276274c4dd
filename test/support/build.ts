import type { Clock } from '../../src/lib/clock.ts';
import { type Database, isDatabaseUnavailable, rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger, type Logger } from '../../src/lib/log.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { grantChannels } from '../../src/merchants/channels/operations.ts';
import { createTransactionRunner, type OutboxRow, type RunInTransaction } from '../../src/outbox/record.ts';
import {
  createCloseUnpaid,
  createExpireAttempt,
  type CloseUnpaid,
  type ExpireAttempt,
} from '../../src/payments/close-unpaid.ts';
import { createSession, type NewSession } from '../../src/payments/create-session.ts';
import { startPayment } from '../../src/payments/pay.ts';
import { createSyncAttempt, type CheckAttempt } from '../../src/payments/sync.ts';
import type {
  FindProvider,
  PaymentOrder,
  PayoutOrder,
  PayoutOutcome,
  Provider,
  ProviderOutcome,
} from '../../src/providers/provider.ts';

/** What a provider was asked, and what it will answer: the next of its script, then the last one for ever. */
export type ScriptedProvider = Provider & {
  queries: { question: 'initiate' | 'query'; orderId: string; order?: PaymentOrder }[];
  /** Sets the answers to come; a function may wait before it answers. */
  returns: (...script: Answer<ProviderOutcome>[]) => void;
  payoutQueries: { question: 'payout' | 'queryPayout'; orderId: string; order?: PayoutOrder }[];
  /** The same for payouts and their queries. */
  returnsForPayouts: (...script: Answer<PayoutOutcome>[]) => void;
};
type Answer<Outcome> = Outcome | (() => Promise<Outcome>);

export const ACCEPTED: ProviderOutcome = {
  kind: 'accepted',
  providerReference: null,
  redirectUrl: 'https://pay.example/confirm',
  providerCode: null,
};
const PAYOUT_ACCEPTED: PayoutOutcome = { kind: 'accepted', providerReference: null, providerCode: null };
export const PENDING: ProviderOutcome = { kind: 'pending', providerReference: null, providerCode: 'WAIT_PAY' };
export const UNKNOWN: ProviderOutcome = { kind: 'unknown', reason: 'timeout', message: 'no answer in 2 s' };
export const PAID: Extract<ProviderOutcome, { kind: 'succeeded' }> = {
  kind: 'succeeded',
  providerReference: 'PROV-1',
  amountSantim: 10_050n,
  currency: 'ETB',
  providerCode: 'PAY_SUCCESS',
};
export const declined = (retryable: boolean): ProviderOutcome => ({
  kind: 'declined',
  failure: { code: 'DECLINED', message: 'The customer said no.', providerCode: 'PAY_FAILED', retryable },
});

/** A provider that answers by a script: an argument like any other, for states that a real one is slow to reach. */
export function scriptedProvider(): ScriptedProvider {
  const payments = scriptOf<ProviderOutcome>(ACCEPTED);
  const payouts = scriptOf<PayoutOutcome>(PAYOUT_ACCEPTED);
  const asked: ScriptedProvider['queries'] = [];
  const askedOfPayouts: ScriptedProvider['payoutQueries'] = [];
  return {
    channel: 'TELEBIRR',
    queries: asked,
    returns: payments.set,
    initiate: (order) => {
      asked.push({ question: 'initiate', orderId: order.orderId, order });
      return ofThisOrder(payments.next(), order.orderId);
    },
    query: (orderId) => {
      asked.push({ question: 'query', orderId });
      return ofThisOrder(payments.next(), orderId);
    },
    payoutQueries: askedOfPayouts,
    returnsForPayouts: payouts.set,
    capabilities: { payoutTo: ['phone', 'bank'] },
    payout: (order) => {
      askedOfPayouts.push({ question: 'payout', orderId: order.orderId, order });
      return payouts.next();
    },
    queryPayout: (orderId) => {
      askedOfPayouts.push({ question: 'queryPayout', orderId });
      return payouts.next();
    },
    statement: async () => ({ kind: 'page', rows: [], next: null }),
    parseCallback: () => ({ verified: false, problem: 'none is expected' }),
    callbackResponse: { contentType: 'text/plain', body: 'ok' },
  };
}

/** A reference of one's own for each order, as providers give them, unless the script has one of its own. */
async function ofThisOrder(answer: Promise<ProviderOutcome>, orderId: string): Promise<ProviderOutcome> {
  const outcome = await answer;
  if (outcome.kind !== 'succeeded' || outcome.providerReference !== PAID.providerReference) return outcome;
  return { ...outcome, providerReference: paidReference(orderId) };
}

/** What the scripted provider calls the payment of an order. */
export const paidReference = (orderId: string): string => `PROV-${orderId}`;

function scriptOf<Outcome extends object>(otherwise: Outcome) {
  let script: Answer<Outcome>[] = [otherwise];
  return {
    set: (...answers: Answer<Outcome>[]) => void (script = answers),
    next: async (): Promise<Outcome> => {
      const answer = (script.length > 1 ? script.shift() : script[0]) ?? otherwise;
      return typeof answer === 'function' ? answer() : answer;
    },
  };
}

/** The operations of checkout and transactions over one database, with a clock that tests move. */
export type World = {
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
  /** What was handed to the relay. */
  enqueued: OutboxRow[];
  log: Logger;
  checkAttempt: CheckAttempt;
  endUnpaid: CloseUnpaid;
  expireAttempt: ExpireAttempt;
};

export type WorldOptions = {
  /** Where the clock stands still until it is moved; a running clock instead. */
  start?: Date;
  clock?: Clock;
  /** Instead of silence. */
  log?: Logger;
  /** Instead of the scripted provider. */
  findProvider?: FindProvider;
  baseUrl?: string;
};

export function buildWorld(db: Database, options: WorldOptions = {}): World {
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
  };
  const checkAttempt = createSyncAttempt(base);
  return {
    ...base,
    pass: (ms) => void (passedMs += ms),
    provider,
    enqueued,
    checkAttempt,
    endUnpaid: createCloseUnpaid({ ...base, checkAttempt }),
    expireAttempt: createExpireAttempt({ ...base, checkAttempt }),
  };
}

/** A merchant with every available channel approved and on, in the sandbox. */
export async function buildMerchant(db: Database, name = 'Abyssinia Coffee'): Promise<MerchantScope> {
  const scope: MerchantScope = { merchantId: newId('mrc'), environment: 'sandbox' };
  await db.transaction(async (trx) => {
    await rows(trx, 'INSERT INTO merchant (id, name) VALUES (:merchantId, :name)', { ...scope, name });
    await grantChannels(trx, scope);
  });
  return scope;
}

let orders = 0;

/** A session of 100.50 ETB, open for 30 minutes, unless said otherwise. */
export function buildSession(world: World, scope: MerchantScope, wanted: Partial<NewSession> = {}) {
  orders += 1;
  const session: NewSession = {
    checkoutOrderNo: `ORDER-${orders}`,
    amountSantim: 10_050n,
    currency: 'ETB',
    type: 'API',
    expiresInMinutes: 30,
    locale: 'en',
    ...wanted,
  };
  return world.runInTransaction((tx) => createSession({ ...world, tx }, scope, session));
}

export const PHONE = '0911000001';

/** A try on a session, not yet sent to the provider. Returns its id. */
export async function buildAttempt(
  world: World,
  key: MerchantScope & { sessionId: string },
  payer: { channel?: 'TELEBIRR' | 'CBE_BIRR' | 'AWASH'; phone?: string } = {},
): Promise<string> {
  const wanted = { channel: payer.channel ?? 'TELEBIRR', phone: payer.phone ?? PHONE };
  const payment = await world.runInTransaction((tx) => startPayment({ ...world, tx }, key, wanted));
  return payment.attemptId;
}

/** A session with an attempt that the provider has accepted. */
export async function buildPendingPayment(world: World, scope: MerchantScope) {
  const session = await buildSession(world, scope);
  const attemptId = await buildAttempt(world, { ...scope, sessionId: session.sessionId });
  world.provider.returns(ACCEPTED);
  await world.checkAttempt(attemptId, { notifyWorkflow: false });
  return { ...session, attemptId };
}

/** How everything of one session stands, for assertions; events in alphabetical order, for those of one change have none. */
export async function standing(db: Database, sessionId: string) {
  const [row] = await rows<Record<string, unknown>>(
    db,
    `SELECT s.status AS session, t.status AS transaction, t.confirmed_late, t.hold_reason, t.needs_reconciliation, t.version,
            (SELECT array_agg(a.status ORDER BY a.created_at, a.id) FROM payment_attempt a WHERE a.session_id = s.id) AS attempts,
            (SELECT array_agg(e.event ORDER BY e.event) FROM webhook_event e WHERE e.resource_id = t.id) AS events,
            (SELECT array_agg(l.kind ORDER BY l.id) FROM transaction_timeline l WHERE l.transaction_id = t.id) AS timeline
     FROM checkout_session s JOIN transaction t ON t.id = s.transaction_id WHERE s.id = :sessionId`,
    { sessionId },
  );
  if (!row) throw new Error(`no session ${sessionId}`);
  return row;
}

const SERVED_WAIT_MS = 40_000;

/**
 * Calls again what the API would answer 503 to (no connection or lock within a second): it did nothing, and clients
 * repeat it. Keeps races of fifty callers about their rows, not about a busy machine.
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

/** No connection or no lock in time. A deadlock is not among them: that is a bug in the order of locks, and must fail. */
function wasShed(error: unknown): boolean {
  const lockTimeout = error instanceof Error && 'code' in error && error.code === '55P03';
  return lockTimeout || isDatabaseUnavailable(error);
}
