import { rows } from '../../lib/db.ts';
import { SANDBOX_PHONES, type SandboxBehaviour } from '../../lib/sandbox-providers.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { closeAttempt, closeSession, createExpireAttempt } from '../../payments/close-session.ts';
import { createSession } from '../../payments/create-session.ts';
import { startPayment } from '../../payments/pay.ts';
import { createSyncAttempt, type CheckAttempt } from '../../payments/sync.ts';
import type { FindProvider, ProviderOutcome } from '../../providers/provider.ts';
import { advance, scriptedProvider, silentLogger, type SeedContext } from './context.ts';
import type { PlannedPayment, Scenario } from './plan.ts';

/** One customer's session, on a clock of its own. */
type Visit = SeedContext & {
  payment: PlannedPayment;
  clock: () => Date;
  findProvider: FindProvider;
  checkAttempt: CheckAttempt;
  /** The provider's next response. */
  result: ProviderOutcome;
  sessionId: string;
  attemptId: string;
  expiresAt: Date;
};

type Step = (visit: Visit) => Promise<unknown>;

/** From the expiry of a session to its processing. */
const EXPIRY_NOTICED_AFTER_MS = 500;
/** The tokens of past sessions go to no customer. */
const UNUSED_PEPPER = 'unused';

const failedTry = [pay('insufficient-funds'), receive(declined('INSUFFICIENT_FUNDS'))];

const SCENARIOS: Readonly<Record<Scenario, readonly Step[]>> = {
  paid: [pay('approve'), receive(paid)],
  paidOnSecondTry: [...failedTry, pay('approve'), receive(paid)],
  paidLate: [pay('never'), receive(accepted), waitForExpiry, expireAttempt, receive(paid)],
  declined: [pay('decline'), receive(declined('DECLINED'))],
  declinedThrice: [...failedTry, ...failedTry, ...failedTry],
  leftOpen: [waitForExpiry, endSession('EXPIRED')],
  expiredInFlight: [pay('never'), receive(accepted), waitForExpiry, expireAttempt],
  cancelled: [endSession('CANCELLED')],
  cancelledInFlight: [pay('never'), receive(accepted), cancelAttempt],
  stillOpen: [],
};

/** Seeds a past payment, whose provider responds by the scenario. */
export async function seedPayment(context: SeedContext, payment: PlannedPayment): Promise<void> {
  const visit = await beginVisit(context, payment);
  for (const step of SCENARIOS[payment.scenario]) {
    advance(context, payment.stepMs);
    await step(visit);
  }
}

/** When the last step of a payment happens. */
export function endOf({ createdAt, scenario, stepMs, session }: PlannedPayment): Date {
  const steps = SCENARIOS[scenario];
  const expiry = steps.indexOf(waitForExpiry);
  const expiryMs = expiry === -1 ? 0 : session.expiresInMinutes * 60_000 + EXPIRY_NOTICED_AFTER_MS;
  return new Date(createdAt.getTime() + expiryMs + (steps.length - 1 - expiry) * stepMs);
}

async function beginVisit(context: SeedContext, payment: PlannedPayment): Promise<Visit> {
  const respond = async (): Promise<ProviderOutcome> => visit.result;
  const provider = scriptedProvider(payment.channel, { initiate: respond, query: respond });
  const { trx } = context.tx;
  const visit: Visit = {
    ...context,
    payment,
    clock: () => context.time.now,
    findProvider: () => provider,
    checkAttempt: (attemptId, options) => checkAttempt(attemptId, options),
    result: accepted(payment),
    sessionId: '',
    attemptId: '',
    expiresAt: payment.createdAt,
  };
  const checkAttempt = createSyncAttempt({ ...visit, db: trx, log: silentLogger });
  // Not deferred: the next step reads the session.
  const writeDeferred: UnitOfWork['writeDeferred'] = async (sql, values) => void (await rows(trx, sql, values));
  const deps = { ...visit, tx: { ...context.tx, writeDeferred }, db: trx, pepper: UNUSED_PEPPER };
  const session = await createSession(deps, context.scope, payment.session);
  visit.sessionId = session.sessionId;
  visit.expiresAt = new Date(session.expiresAt);
  return visit;
}

function pay(behaviour: SandboxBehaviour): Step {
  const phone = SANDBOX_PHONES.find((one) => one.behaviour === behaviour)?.phone ?? '';
  return async (visit) => {
    const { channel } = visit.payment;
    const { attemptId } = await startPayment(visit, { ...visit.scope, sessionId: visit.sessionId }, { channel, phone });
    visit.attemptId = attemptId;
  };
}

function receive(outcome: (payment: PlannedPayment) => ProviderOutcome): Step {
  return async (visit) => {
    visit.result = outcome(visit.payment);
    await visit.checkAttempt(visit.attemptId, { notifyWorkflow: false });
  };
}

async function waitForExpiry(visit: Visit): Promise<void> {
  visit.time.now = new Date(visit.expiresAt.getTime() + EXPIRY_NOTICED_AFTER_MS);
}

async function expireAttempt({ tx, runInTransaction, checkAttempt, attemptId, time }: Visit): Promise<void> {
  const expire = createExpireAttempt({ db: tx.trx, runInTransaction, checkAttempt, log: silentLogger });
  await expire(attemptId, time.now);
}

async function cancelAttempt({ tx, attemptId, time }: Visit): Promise<void> {
  const attempt = { id: attemptId, notifyWorkflow: false };
  await closeAttempt(tx, attempt, { status: 'CANCELLED', needsReconciliation: false, at: time.now });
}

function endSession(status: 'CANCELLED' | 'EXPIRED'): Step {
  return async ({ tx, sessionId, time }) => closeSession(tx, sessionId, { status, at: time.now });
}

function accepted({ providerReference }: PlannedPayment): ProviderOutcome {
  return { kind: 'accepted', providerReference, redirectUrl: null, providerCode: null };
}

function paid({ providerReference, session }: PlannedPayment): ProviderOutcome {
  const { amountSantim, currency } = session;
  return { kind: 'succeeded', providerReference, amountSantim, currency, providerCode: null };
}

function declined(code: 'DECLINED' | 'INSUFFICIENT_FUNDS'): () => ProviderOutcome {
  const retryable = code === 'INSUFFICIENT_FUNDS';
  const message = retryable ? 'The balance was not sufficient.' : 'The customer declined the payment.';
  return () => ({ kind: 'declined', failure: { code, message, providerCode: code, retryable } });
}
