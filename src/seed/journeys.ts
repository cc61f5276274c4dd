import { createSession } from '../checkout/create.ts';
import { startPayment } from '../checkout/pay.ts';
import type { Clock } from '../lib/clock.ts';
import { rows, type Knex } from '../lib/db.ts';
import type { Change, RunChange } from '../lib/outbox.ts';
import type { Owner } from '../lib/owner.ts';
import { SANDBOX_PHONES, type SandboxBehaviour } from '../lib/sandbox-providers.ts';
import type { FindProvider, Provider, ProviderOutcome } from '../providers/provider.ts';
import { createCheckAttempt, type CheckAttempt } from '../transactions/check.ts';
import { endAttempt, endOpenSession } from '../transactions/end.ts';
import { createExpireAttempt } from '../transactions/unpaid.ts';
import type { Journey, PlannedPayment } from './plan.ts';

/** At most so many statements wait for each other on one connection: each has 6 s. */
const SIDE_BY_SIDE = 25;

/** A delivery that a payment of the past has caused, and when. */
export type DueDelivery = { deliveryId: string; subscriptionId: string; at: Date };

export type JourneyDeps = { trx: Knex.Transaction; owner: Owner; baseUrl: string };

/** One customer's way through one session, on a clock of its own. */
type Visit = {
  payment: PlannedPayment;
  owner: Owner;
  change: Change;
  clock: Clock;
  findProvider: FindProvider;
  checkAttempt: CheckAttempt;
  baseUrl: string;
  now: Date;
  /** What the provider says when it is asked next. */
  answer: ProviderOutcome;
  sessionId: string;
  attemptId: string;
  expiresAt: Date;
};

type Step = (visit: Visit) => Promise<unknown>;

const approve = phoneOf('approve');
const refuse = phoneOf('decline');
const tooPoor = phoneOf('insufficient-funds');
const ignore = phoneOf('never');

const JOURNEYS: Readonly<Record<Journey, readonly Step[]>> = {
  paid: [pays(approve), hears(paid)],
  paidOnSecondTry: [pays(tooPoor), hears(declined('INSUFFICIENT_FUNDS')), pays(approve), hears(paid)],
  paidLate: [pays(ignore), hears(accepted), timeRunsOut, attemptExpires, hears(paid)],
  declined: [pays(refuse), hears(declined('DECLINED'))],
  declinedThrice: [...triesInVain(), ...triesInVain(), ...triesInVain()],
  leftOpen: [timeRunsOut, sessionEnds('EXPIRED')],
  expiredInFlight: [pays(ignore), hears(accepted), timeRunsOut, attemptExpires],
  cancelled: [sessionEnds('CANCELLED')],
  cancelledInFlight: [pays(ignore), hears(accepted), attemptCancelled],
  stillOpen: [],
};

/**
 * Makes payments of the past by the operations that make today's: each with its own clock, and a provider that answers
 * by the journey's script. Nothing is told to Temporal: the journey itself is what the workflows would have done.
 * `trx` must pipeline: the payments are made side by side, as customers pay.
 * @returns the deliveries that are due to subscriptions, which nobody but the caller knows of.
 */
export async function makePayments(deps: JourneyDeps, payments: readonly PlannedPayment[]): Promise<DueDelivery[]> {
  const due: DueDelivery[] = [];
  for (let from = 0; from < payments.length; from += SIDE_BY_SIDE) {
    const group = payments.slice(from, from + SIDE_BY_SIDE);
    due.push(...(await Promise.all(group.map((payment) => makePayment(deps, payment)))).flat());
  }
  return due;
}

async function makePayment(deps: JourneyDeps, payment: PlannedPayment): Promise<DueDelivery[]> {
  const due: DueDelivery[] = [];
  const change: Change = {
    trx: deps.trx,
    write: async (sql, values) => void (await rows(deps.trx, sql, values)),
    tell: async () => {},
    told: (messages) => {
      for (const { deliveryId, subscriptionId } of messages) {
        if (deliveryId && subscriptionId) due.push({ deliveryId, subscriptionId, at: visit.now });
      }
    },
  };
  const visit = await beginVisit(deps, change, payment);
  for (const step of JOURNEYS[payment.journey]) {
    visit.now = new Date(visit.now.getTime() + payment.stepMs);
    await step(visit);
  }
  return due;
}

async function beginVisit(deps: JourneyDeps, change: Change, payment: PlannedPayment): Promise<Visit> {
  const { owner, baseUrl, trx } = deps;
  const visit: Visit = {
    payment,
    owner,
    change,
    baseUrl,
    clock: () => visit.now,
    findProvider: (channel) => (channel === 'MPESA' ? null : scriptedProvider(visit)),
    checkAttempt: (attemptId, options) => checkAttempt(attemptId, options),
    now: payment.createdAt,
    answer: accepted(payment),
    sessionId: '',
    attemptId: '',
    expiresAt: payment.createdAt,
  };
  const checkAttempt = createCheckAttempt({ ...visit, db: trx, runChange: inside(change), log: SILENT });
  const session = await createSession(visit, owner, payment.session);
  visit.sessionId = session.sessionId;
  visit.expiresAt = new Date(session.expiresAt);
  return visit;
}

/** What is odd about the past is no news. */
const SILENT = { warn: () => {} };

/** Runs what would be a change of its own inside this one. */
function inside(change: Change): RunChange {
  return async (work) => work(change);
}

function scriptedProvider(visit: Visit): Provider {
  const answer = async (): Promise<ProviderOutcome> => visit.answer;
  return {
    channel: visit.payment.channel,
    initiate: answer,
    query: answer,
    capabilities: { payoutTo: [] },
    payout: neverAsked,
    queryPayout: neverAsked,
    statement: neverAsked,
    parseCallback: () => ({ verified: false, problem: 'the past sends no callbacks' }),
    callbackAnswer: { contentType: 'text/plain', body: '' },
  };
}

async function neverAsked(): Promise<never> {
  throw new Error('a payment of the past asks for no payout and no list');
}

function pays(phone: string): Step {
  return async (visit) => {
    const wanted = { channel: visit.payment.channel, phone };
    const { attemptId } = await startPayment(visit, { ...visit.owner, sessionId: visit.sessionId }, wanted);
    visit.attemptId = attemptId;
  };
}

function hears(outcome: (payment: PlannedPayment) => ProviderOutcome): Step {
  return async (visit) => {
    visit.answer = outcome(visit.payment);
    await visit.checkAttempt(visit.attemptId, { tellWorkflow: false });
  };
}

function triesInVain(): readonly Step[] {
  return [pays(tooPoor), hears(declined('INSUFFICIENT_FUNDS'))];
}

async function timeRunsOut(visit: Visit): Promise<void> {
  visit.now = new Date(visit.expiresAt.getTime() + 500);
}

async function attemptExpires({ change, checkAttempt, attemptId, now }: Visit): Promise<void> {
  const deps = { db: change.trx, runChange: inside(change), checkAttempt, log: SILENT };
  await createExpireAttempt(deps)(attemptId, now);
}

async function attemptCancelled({ change, attemptId, sessionId, now }: Visit): Promise<void> {
  const attempt = { id: attemptId, sessionId, tellWorkflow: false };
  await endAttempt(change, attempt, { status: 'CANCELLED', reconcile: false, at: now });
}

function sessionEnds(status: 'CANCELLED' | 'EXPIRED'): Step {
  return async ({ change, sessionId, now }) => endOpenSession(change, sessionId, { status, reconcile: false, at: now });
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
