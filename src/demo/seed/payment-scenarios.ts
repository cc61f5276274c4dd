import type { Clock } from '../../lib/clock.ts';
import { rows } from '../../lib/db.ts';
import { SANDBOX_PHONES, type SandboxBehaviour } from '../../lib/sandbox-providers.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { closeAttempt, closeSession } from '../../payments/close-session.ts';
import { createExpireAttempt } from '../../payments/close-unpaid.ts';
import { createSession } from '../../payments/create-session.ts';
import { startPayment } from '../../payments/pay.ts';
import { createSyncAttempt, type CheckAttempt } from '../../payments/sync.ts';
import type { FindProvider, Provider, ProviderOutcome } from '../../providers/provider.ts';
import { notUsed, SILENT, type Past } from './context.ts';
import type { Journey, PlannedPayment } from './plan.ts';

/** One customer's way through one session, on a clock of its own. */
type Visit = Past & {
  payment: PlannedPayment;
  clock: Clock;
  findProvider: FindProvider;
  checkAttempt: CheckAttempt;
  /** What the provider says when it is asked next. */
  result: ProviderOutcome;
  sessionId: string;
  attemptId: string;
  expiresAt: Date;
};

type Step = (visit: Visit) => Promise<unknown>;

/** That a session's time is over. */
const NOTICED_AFTER_MS = 500;

const approve = phoneOf('approve');
const reject = phoneOf('decline');
const tooPoor = phoneOf('insufficient-funds');
const ignore = phoneOf('never');

const JOURNEYS: Readonly<Record<Journey, readonly Step[]>> = {
  paid: [pays(approve), hears(paid)],
  paidOnSecondTry: [pays(tooPoor), hears(declined('INSUFFICIENT_FUNDS')), pays(approve), hears(paid)],
  paidLate: [pays(ignore), hears(accepted), timeRunsOut, attemptExpires, hears(paid)],
  declined: [pays(reject), hears(declined('DECLINED'))],
  declinedThrice: [...triesInVain(), ...triesInVain(), ...triesInVain()],
  leftOpen: [timeRunsOut, sessionEnds('EXPIRED')],
  expiredInFlight: [pays(ignore), hears(accepted), timeRunsOut, attemptExpires],
  cancelled: [sessionEnds('CANCELLED')],
  cancelledInFlight: [pays(ignore), hears(accepted), attemptCancelled],
  stillOpen: [],
};

/** Makes a payment of the past, with a provider that answers by the journey's script. */
export async function seedPayment(past: Past, payment: PlannedPayment): Promise<void> {
  const visit = await beginVisit(past, payment);
  for (const step of JOURNEYS[payment.journey]) {
    past.time.now = new Date(past.time.now.getTime() + payment.stepMs);
    await step(visit);
  }
}

/** Nobody gets the tokens of past sessions. */
const UNUSED = 'unused';

/** When the last step of a payment happens. */
export function endOf({ createdAt, journey, stepMs, session }: PlannedPayment): Date {
  const steps = JOURNEYS[journey];
  const over = steps.indexOf(timeRunsOut);
  const overMs = over === -1 ? 0 : session.expiresInMinutes * 60_000 + NOTICED_AFTER_MS;
  return new Date(createdAt.getTime() + overMs + (steps.length - 1 - over) * stepMs);
}

async function beginVisit(past: Past, payment: PlannedPayment): Promise<Visit> {
  const visit: Visit = {
    ...past,
    payment,
    clock: () => past.time.now,
    findProvider: (channel) => (channel === 'MPESA' ? null : scriptedProvider(visit)),
    checkAttempt: (attemptId, options) => checkAttempt(attemptId, options),
    result: accepted(payment),
    sessionId: '',
    attemptId: '',
    expiresAt: payment.createdAt,
  };
  const checkAttempt = createSyncAttempt({ ...visit, db: past.tx.trx, log: SILENT });
  const { trx } = past.tx;
  // At once: the next step reads it.
  const writeDeferred: UnitOfWork['writeDeferred'] = async (sql, values) => void (await rows(trx, sql, values));
  const tx = { ...past.tx, writeDeferred };
  const session = await createSession({ ...visit, tx, db: trx, pepper: UNUSED }, past.scope, payment.session);
  visit.sessionId = session.sessionId;
  visit.expiresAt = new Date(session.expiresAt);
  return visit;
}

function scriptedProvider(visit: Visit): Provider {
  const result = async (): Promise<ProviderOutcome> => visit.result;
  return {
    channel: visit.payment.channel,
    initiate: result,
    query: result,
    capabilities: { payoutTo: [] },
    payout: notUsed,
    queryPayout: notUsed,
    statement: notUsed,
    parseCallback: () => ({ verified: false, problem: 'the past sends no callbacks' }),
    callbackResponse: { contentType: 'text/plain', body: '' },
  };
}

function pays(phone: string): Step {
  return async (visit) => {
    const wanted = { channel: visit.payment.channel, phone };
    const { attemptId } = await startPayment(visit, { ...visit.scope, sessionId: visit.sessionId }, wanted);
    visit.attemptId = attemptId;
  };
}

function hears(outcome: (payment: PlannedPayment) => ProviderOutcome): Step {
  return async (visit) => {
    visit.result = outcome(visit.payment);
    await visit.checkAttempt(visit.attemptId, { notifyWorkflow: false });
  };
}

function triesInVain(): readonly Step[] {
  return [pays(tooPoor), hears(declined('INSUFFICIENT_FUNDS'))];
}

async function timeRunsOut(visit: Visit): Promise<void> {
  visit.time.now = new Date(visit.expiresAt.getTime() + NOTICED_AFTER_MS);
}

async function attemptExpires({ tx, runInTransaction, checkAttempt, attemptId, time }: Visit): Promise<void> {
  await createExpireAttempt({ db: tx.trx, runInTransaction, checkAttempt, log: SILENT })(attemptId, time.now);
}

async function attemptCancelled({ tx, attemptId, sessionId, time }: Visit): Promise<void> {
  const attempt = { id: attemptId, sessionId, notifyWorkflow: false };
  await closeAttempt(tx, attempt, { status: 'CANCELLED', needsReconciliation: false, at: time.now });
}

function sessionEnds(status: 'CANCELLED' | 'EXPIRED'): Step {
  return async ({ tx, sessionId, time }) =>
    closeSession(tx, sessionId, { status, needsReconciliation: false, at: time.now });
}

function accepted(payment: PlannedPayment): ProviderOutcome {
  return { kind: 'accepted', providerReference: payment.providerReference, redirectUrl: null, providerCode: null };
}

function paid(payment: PlannedPayment): ProviderOutcome {
  const { providerReference, session } = payment;
  const { amountSantim, currency } = session;
  return { kind: 'succeeded', providerReference, amountSantim, currency, providerCode: null };
}

function declined(code: 'DECLINED' | 'INSUFFICIENT_FUNDS'): () => ProviderOutcome {
  const retryable = code === 'INSUFFICIENT_FUNDS';
  const message = retryable ? 'The balance was not sufficient.' : 'The customer declined the payment.';
  return () => ({ kind: 'declined', failure: { code, message, providerCode: code, retryable } });
}

function phoneOf(behaviour: SandboxBehaviour): string {
  const found = SANDBOX_PHONES.find((one) => one.behaviour === behaviour);
  if (!found) throw new Error(`the sandbox has no phone that does "${behaviour}"`);
  return found.phone;
}
