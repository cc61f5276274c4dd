import { rows } from '../../lib/db.ts';
import { SANDBOX_PHONES, type SandboxBehaviour } from '../../lib/sandbox-providers.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { closeAttempt, closeSession } from '../../payments/close-session.ts';
import { createExpireAttempt } from '../../payments/close-unpaid.ts';
import { createSession, type NewSession } from '../../payments/create-session.ts';
import { startPayment } from '../../payments/pay.ts';
import { createSyncAttempt, type CheckAttempt } from '../../payments/sync.ts';
import type { FindProvider, ProviderOutcome } from '../../providers/provider.ts';
import { advance, scriptedProvider, silentLogger, type SeedContext, type HistoryItem } from './history.ts';

export type DemoChannel = 'TELEBIRR' | 'CBE_BIRR' | 'AWASH';

/** One payment: the merchant's request, its time, and how it proceeds. */
export type PlannedPayment = {
  createdAt: Date;
  session: NewSession;
  channel: DemoChannel;
  scenario: Scenario;
  /** The time between two steps. */
  stepMs: number;
  providerReference: string;
};

export type Scenario = keyof typeof SCENARIOS;

/** One customer's session. */
type Visit = SeedContext & {
  payment: PlannedPayment;
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
const unanswered = [pay('never'), receive(accepted)];

/**
 * How a payment proceeds after its session was created, and how many in a thousand do: 86 % SUCCESS, 6 % FAILED,
 * 4 % EXPIRED, 3 % CANCELLED, 1 % PENDING.
 */
export const SCENARIOS = {
  paid: { share: 822, steps: [pay('approve'), receive(paid)] },
  paidOnSecondTry: { share: 35, steps: [...failedTry, pay('approve'), receive(paid)] },
  paidLate: { share: 3, steps: [...unanswered, waitForExpiry, expireAttempt, receive(paid)] },
  declined: { share: 45, steps: [pay('decline'), receive(declined('DECLINED'))] },
  declinedThrice: { share: 15, steps: [...failedTry, ...failedTry, ...failedTry] },
  leftOpen: { share: 25, steps: [waitForExpiry, endSession('EXPIRED')] },
  expiredInFlight: { share: 15, steps: [...unanswered, waitForExpiry, expireAttempt] },
  cancelled: { share: 20, steps: [endSession('CANCELLED')] },
  cancelledInFlight: { share: 10, steps: [...unanswered, cancelAttempt] },
  stillOpen: { share: 10, steps: [] },
} satisfies Record<string, { share: number; steps: readonly Step[] }>;

/** A past payment, whose provider responds by the scenario. */
export function paymentItem(payment: PlannedPayment): HistoryItem {
  const { createdAt, session, scenario, stepMs } = payment;
  const steps: readonly Step[] = SCENARIOS[scenario].steps;
  const expiry = steps.indexOf(waitForExpiry);
  const expiryMs = expiry === -1 ? 0 : session.expiresInMinutes * 60_000 + EXPIRY_NOTICED_AFTER_MS;
  return {
    key: session.checkoutOrderNo,
    begunAt: createdAt,
    completedAt: new Date(createdAt.getTime() + expiryMs + (steps.length - 1 - expiry) * stepMs),
    isAlone: false,
    seed: async (context) => {
      const visit = await beginVisit(context, payment);
      for (const step of steps) {
        advance(context, stepMs);
        await step(visit);
      }
    },
  };
}

async function beginVisit(context: SeedContext, payment: PlannedPayment): Promise<Visit> {
  const { trx } = context.tx;
  const respond = async (): Promise<ProviderOutcome> => visit.result;
  const findProvider = scriptedProvider(payment.channel, { initiate: respond, query: respond });
  // Not deferred: the next step reads the session.
  const writeDeferred: UnitOfWork['writeDeferred'] = async (sql, values) => void (await rows(trx, sql, values));
  const deps = { ...context, tx: { ...context.tx, writeDeferred }, db: trx, pepper: UNUSED_PEPPER, findProvider };
  const { sessionId, expiresAt } = await createSession(deps, context.scope, payment.session);
  const visit: Visit = {
    ...context,
    payment,
    findProvider,
    checkAttempt: createSyncAttempt({ ...context, findProvider, db: trx, log: silentLogger }),
    result: accepted(payment),
    sessionId,
    attemptId: '',
    expiresAt: new Date(expiresAt),
  };
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
  visit.advanceTo(new Date(visit.expiresAt.getTime() + EXPIRY_NOTICED_AFTER_MS));
}

async function expireAttempt({ tx, runInTransaction, checkAttempt, attemptId, clock }: Visit): Promise<void> {
  await createExpireAttempt({ db: tx.trx, runInTransaction, checkAttempt, log: silentLogger })(attemptId, clock());
}

async function cancelAttempt({ tx, attemptId, sessionId, clock }: Visit): Promise<void> {
  const attempt = { id: attemptId, sessionId, notifyWorkflow: false };
  await closeAttempt(tx, attempt, { status: 'CANCELLED', needsReconciliation: false, at: clock() });
}

function endSession(status: 'CANCELLED' | 'EXPIRED'): Step {
  return async ({ tx, sessionId, clock }) =>
    closeSession(tx, sessionId, { status, needsReconciliation: false, at: clock() });
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
