import { setMerchantStatus } from '../../src/merchants/operations.ts';
import { expireSessionIfDue } from '../../src/payments/close-session.ts';
import { acceptHeldPayment, returnHeldPayment } from '../../src/payments/holds.ts';
import type { ProviderOutcome } from '../../src/providers/provider.ts';
import { ACCEPTED, buildAttempt, buildSession, declined, PAID, PENDING, UNKNOWN } from '../support/build.ts';
import { hearPayment, type Attempt, type Payment } from './money-model.ts';
import type { Act, Play } from './money-scenarios.ts';
import type { PaymentWord, Step } from './money-steps.ts';

type Tried = { payment: Payment; attempt: Attempt };

/** What a step does to payments, and the time and the merchant that they have; null for another's step. */
export function planPayment(play: Play, step: Step): Act | null {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest is not about payments
  switch (step.do) {
    case 'pay':
      return pay(play, BigInt(step.santim), step.says);
    case 'payAgain':
      return payAgain(play, choose(play.books.payments, step.pick));
    case 'hear':
      return hear(play, choose(triesOf(play), step.pick), step.says);
    case 'expire':
    case 'cancelSession':
      return end(play, choose(triesOf(play), step.pick), step);
    case 'acceptHeld':
    case 'returnHeld':
      return decideHeld(play, choose(triesOf(play), step.pick), step.do);
    case 'pass':
      return { call: async () => pass(play, step.minutes), may: null, note: () => {}, isFree: true };
    case 'suspend':
    case 'resume':
      return turn(play, step.do === 'suspend');
    default:
      return null;
  }
}

export function choose<T>(list: readonly T[], pick: number): T | undefined {
  return list[pick % Math.max(list.length, 1)];
}

const triesOf = ({ books }: Play): Tried[] =>
  books.payments.flatMap((payment) => payment.attempts.map((attempt) => ({ payment, attempt })));

function outcomeOf(word: PaymentWord, { amountSantim }: Payment, orderId: string): ProviderOutcome {
  const paid = { ...PAID, providerReference: `PROV-${orderId}`, amountSantim };
  switch (word) {
    case 'accepted':
      return ACCEPTED;
    case 'pending':
      return PENDING;
    case 'unknown':
      return UNKNOWN;
    case 'refused':
      return declined(true);
    case 'asNonRetryable':
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
      return word satisfies never;
  }
}

/** The provider will say so whenever it is asked, about whatever attempt. */
function script({ world, heard }: Play, word: PaymentWord, payment: () => Payment): void {
  world.provider.returns(async () => {
    const orderId = world.provider.queries.at(-1)?.orderId ?? '';
    const said = outcomeOf(word, payment(), orderId);
    heard.push({ orderId, said });
    return said;
  });
}

/** Writes down what was heard since the step began. */
function note({ heard }: Play, payment: Payment): void {
  for (const { orderId, said } of heard.splice(0)) {
    const attempt = payment.attempts.find(({ id }) => id === orderId);
    if (!attempt) throw new Error(`${orderId} is no try of ${payment.sessionId}`);
    hearPayment(payment, attempt, said as ProviderOutcome);
  }
}

const newAttempt = (id: string): Attempt => ({ id, came: null, decided: null });

function pay(play: Play, amountSantim: bigint, says: PaymentWord): Act {
  const { world, scope, books } = play;
  const payment: Payment = { sessionId: '', transactionId: '', amountSantim, attempts: [] };
  return {
    isFree: true,
    may: !play.isSuspended,
    call: async () => {
      if (play.isSuspended) return false;
      const session = await buildSession(world, scope, { amountSantim });
      Object.assign(payment, { sessionId: session.sessionId, transactionId: session.transactionId });
      const id = await buildAttempt(world, { ...scope, sessionId: session.sessionId });
      payment.attempts.push(newAttempt(id));
      script(play, says, () => payment);
      await world.checkAttempt(id, { notifyWorkflow: true });
      return true;
    },
    note: () => {
      books.payments.push(payment);
      note(play, payment);
    },
  };
}

/** Another try; whether the session has room for one the session says. */
function payAgain({ world, scope }: Play, payment: Payment | undefined): Act | null {
  if (!payment) return null;
  let id = '';
  const isKnown = (): boolean => payment.attempts.some((attempt) => attempt.id === id);
  return {
    may: null,
    call: async () => {
      id = await buildAttempt(world, { ...scope, sessionId: payment.sessionId });
      return !isKnown();
    },
    note: () => void payment.attempts.push(newAttempt(id)),
  };
}

function hear(play: Play, tried: Tried | undefined, says: PaymentWord): Act | null {
  if (!tried) return null;
  const { payment, attempt } = tried;
  return {
    may: attempt.came ? false : null,
    call: async () => {
      script(play, says, () => payment);
      const { queried } = await play.world.checkAttempt(attempt.id, { notifyWorkflow: true });
      return queried;
    },
    note: () => note(play, payment),
  };
}

/** Its time is over, or the customer gives up: the provider is asked a last time, and may say anything. */
function end(play: Play, tried: Tried | undefined, step: { do: string; says: PaymentWord }): Act | null {
  if (!tried) return null;
  const { world } = play;
  const { sessionId } = tried.payment;
  return {
    isFree: true,
    may: null,
    call: async () => {
      script(play, step.says, () => tried.payment);
      if (step.do === 'cancelSession') await world.endUnpaid(sessionId, 'CANCELLED');
      else await world.expireAttempt(tried.attempt.id, world.clock());
      await expireSessionIfDue(world.runInTransaction, sessionId, world.clock());
      return true;
    },
    note: () => note(play, tried.payment),
  };
}

function decideHeld(play: Play, tried: Tried | undefined, word: 'acceptHeld' | 'returnHeld'): Act | null {
  if (!tried) return null;
  const { payment, attempt } = tried;
  const at = play.world.clock();
  const choice = { transactionId: payment.transactionId, attemptId: attempt.id, at };
  const { came, decided } = attempt;
  const waits = came !== null && came.as !== 'EXACT' && decided === null;
  const isAccepted = word === 'acceptHeld';
  return {
    may: waits && (!isAccepted || came.isBirr),
    call: () =>
      play.world.runInTransaction(async (tx) => {
        const back = { ...choice, reason: 'Not what was asked for', reference: `RET-${attempt.id}` };
        const held = await (isAccepted ? acceptHeldPayment(tx, choice) : returnHeldPayment(tx, back));
        return held.isNew;
      }),
    note: () => void (attempt.decided = isAccepted ? 'ACCEPTED' : 'RETURNED'),
  };
}

/** Time goes by, and sessions whose time is over end. */
async function pass({ world, books }: Play, minutes: number): Promise<boolean> {
  world.pass(minutes * 60_000);
  for (const { sessionId } of books.payments)
    await expireSessionIfDue(world.runInTransaction, sessionId, world.clock());
  return true;
}

function turn(play: Play, isSuspended: boolean): Act {
  const status = isSuspended ? 'SUSPENDED' : 'ACTIVE';
  return {
    may: play.isSuspended !== isSuspended,
    call: () => play.world.runInTransaction(({ trx }) => setMerchantStatus(trx, play.scope.merchantId, status)),
    note: () => void (play.isSuspended = isSuspended),
  };
}
