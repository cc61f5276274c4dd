import { setMerchantStatus } from '../../src/merchants/operations.ts';
import { acceptHeldPayment, returnHeldPayment } from '../../src/payments/holds.ts';
import { readSession } from '../../src/payments/session.ts';
import type { ProviderOutcome } from '../../src/providers/provider.ts';
import { ACCEPTED, buildAttempt, buildSession, declined, PAID, PENDING, UNKNOWN } from '../support/build.ts';
import { applyPaymentOutcome, type Attempt, type Payment } from './money-model.ts';
import type { PlannedCall, Scenario } from './money-scenarios.ts';
import type { PaymentReply, Step } from './money-steps.ts';

type ChosenAttempt = { payment: Payment; attempt: Attempt };

/** The calls for steps of payments, time and the merchant's status; null for other steps. */
export function planPayment(scenario: Scenario, step: Step): PlannedCall | null {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest is not about payments
  switch (step.do) {
    case 'pay':
      return pay(scenario, BigInt(step.santim), step.reply);
    case 'payAgain':
      return payAgain(scenario, choose(scenario.books.payments, step.pick));
    case 'query':
      return query(scenario, choose(attemptsOf(scenario), step.pick), step.reply);
    case 'expire':
    case 'cancelSession':
      return end(scenario, choose(attemptsOf(scenario), step.pick), step);
    case 'acceptHeld':
    case 'returnHeld':
      return decideHeld(scenario, choose(attemptsOf(scenario), step.pick), step.do);
    case 'pass':
      return { call: async () => pass(scenario, step.minutes), mustChange: null, record: () => {}, mayRepeat: true };
    case 'suspend':
    case 'resume':
      return setSuspended(scenario, step.do === 'suspend');
    default:
      return null;
  }
}

export function choose<T>(list: readonly T[], pick: number): T | undefined {
  return list[pick % Math.max(list.length, 1)];
}

const attemptsOf = ({ books }: Scenario): ChosenAttempt[] =>
  books.payments.flatMap((payment) => payment.attempts.map((attempt) => ({ payment, attempt })));

function outcomeOf(reply: PaymentReply, { amountSantim }: Payment, orderId: string): ProviderOutcome {
  const paid = { ...PAID, providerReference: `PROV-${orderId}`, amountSantim };
  switch (reply) {
    case 'accepted':
      return ACCEPTED;
    case 'pending':
      return PENDING;
    case 'unknown':
      return UNKNOWN;
    case 'declined':
      return declined(true);
    case 'permanentlyDeclined':
      return declined(false);
    case 'paid':
      return paid;
    case 'paidLess':
      return { ...paid, amountSantim: amountSantim - 7n };
    case 'paidMore':
      return { ...paid, amountSantim: amountSantim + 11n };
    case 'paidInDollars':
      return { ...paid, currency: 'USD' };
    default:
      return reply satisfies never;
  }
}

/** Scripts this reply of the provider for all requests about any attempt. */
function script({ fixture, outcomes }: Scenario, reply: PaymentReply, payment: () => Payment): void {
  fixture.provider.returns(async () => {
    const orderId = fixture.provider.queries.at(-1)?.orderId ?? '';
    const outcome = outcomeOf(reply, payment(), orderId);
    outcomes.push({ orderId, outcome });
    return outcome;
  });
}

/** Applies the outcomes received since the step began. */
function recordOutcomes({ outcomes }: Scenario, payment: Payment): void {
  for (const { orderId, outcome } of outcomes.splice(0)) {
    const attempt = payment.attempts.find(({ id }) => id === orderId);
    if (!attempt) throw new Error(`${orderId} is not an attempt of ${payment.sessionId}`);
    applyPaymentOutcome(payment, attempt, outcome as ProviderOutcome);
  }
}

const newAttempt = (id: string): Attempt => ({ id, received: null, decided: null });

function pay(scenario: Scenario, amountSantim: bigint, reply: PaymentReply): PlannedCall {
  const { fixture, scope, books } = scenario;
  const payment: Payment = { sessionId: '', transactionId: '', amountSantim, attempts: [] };
  return {
    mayRepeat: true,
    mustChange: !scenario.isSuspended,
    call: async () => {
      if (scenario.isSuspended) return false;
      const session = await buildSession(fixture, scope, { amountSantim });
      Object.assign(payment, { sessionId: session.sessionId, transactionId: session.transactionId });
      const id = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId });
      payment.attempts.push(newAttempt(id));
      script(scenario, reply, () => payment);
      await fixture.checkAttempt(id, { notifyWorkflow: true });
      return true;
    },
    record: () => {
      books.payments.push(payment);
      recordOutcomes(scenario, payment);
    },
  };
}

/** Another attempt; the session itself decides whether it accepts one. */
function payAgain({ fixture, scope }: Scenario, payment: Payment | undefined): PlannedCall | null {
  if (!payment) return null;
  let id = '';
  const isKnown = (): boolean => payment.attempts.some((attempt) => attempt.id === id);
  return {
    mustChange: null,
    call: async () => {
      id = await buildAttempt(fixture, { ...scope, sessionId: payment.sessionId });
      return !isKnown();
    },
    record: () => void payment.attempts.push(newAttempt(id)),
  };
}

function query(scenario: Scenario, chosen: ChosenAttempt | undefined, reply: PaymentReply): PlannedCall | null {
  if (!chosen) return null;
  const { payment, attempt } = chosen;
  return {
    mustChange: attempt.received ? false : null,
    call: async () => {
      script(scenario, reply, () => payment);
      const { queried } = await scenario.fixture.checkAttempt(attempt.id, { notifyWorkflow: true });
      return queried;
    },
    record: () => recordOutcomes(scenario, payment),
  };
}

/** The session expires or is cancelled: the provider is queried once more and may give any reply. */
function end(
  scenario: Scenario,
  chosen: ChosenAttempt | undefined,
  step: { do: string; reply: PaymentReply },
): PlannedCall | null {
  if (!chosen) return null;
  const { fixture } = scenario;
  const { sessionId } = chosen.payment;
  return {
    mayRepeat: true,
    mustChange: null,
    call: async () => {
      script(scenario, step.reply, () => chosen.payment);
      if (step.do === 'cancelSession') await fixture.closeUnpaid(sessionId, 'CANCELLED');
      else await fixture.expireAttempt(chosen.attempt.id, fixture.clock());
      await readSession(fixture, { ...scenario.scope, sessionId });
      return true;
    },
    record: () => recordOutcomes(scenario, chosen.payment),
  };
}

function decideHeld(
  scenario: Scenario,
  chosen: ChosenAttempt | undefined,
  decision: 'acceptHeld' | 'returnHeld',
): PlannedCall | null {
  if (!chosen) return null;
  const { payment, attempt } = chosen;
  const at = scenario.fixture.clock();
  const choice = { transactionId: payment.transactionId, attemptId: attempt.id, at };
  const { received, decided } = attempt;
  const isHeld = received !== null && received.as !== 'EXACT' && decided === null;
  const isAccepted = decision === 'acceptHeld';
  return {
    mustChange: isHeld && (!isAccepted || received.isBirr),
    call: () =>
      scenario.fixture.runInTransaction(async (tx) => {
        const back = { ...choice, reason: 'Not the requested amount', reference: `RET-${attempt.id}` };
        const held = await (isAccepted ? acceptHeldPayment(tx, choice) : returnHeldPayment(tx, back));
        return held.isNew;
      }),
    record: () => void (attempt.decided = isAccepted ? 'ACCEPTED' : 'RETURNED'),
  };
}

/** Advances the clock, and ends the expired sessions. */
async function pass({ fixture, scope, books }: Scenario, minutes: number): Promise<boolean> {
  fixture.pass(minutes * 60_000);
  for (const { sessionId } of books.payments) await readSession(fixture, { ...scope, sessionId });
  return true;
}

function setSuspended(scenario: Scenario, isSuspended: boolean): PlannedCall {
  const status = isSuspended ? 'SUSPENDED' : 'ACTIVE';
  return {
    mustChange: scenario.isSuspended !== isSuspended,
    call: () =>
      scenario.fixture.runInTransaction(({ trx }) => setMerchantStatus(trx, scenario.scope.merchantId, status)),
    record: () => void (scenario.isSuspended = isSuspended),
  };
}
