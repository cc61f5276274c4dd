import { randomBytes } from 'node:crypto';

import { formatBirr, parseBirr } from '../../lib/money.ts';
import type { SandboxBehaviour, SandboxPayoutBehaviour } from '../../lib/sandbox-providers.ts';
import type { SimulatedChannel } from './channels.ts';
import type { Direction, OrderFaults } from './faults.ts';

/** A payment begins as WAITING, a payout or refund as ACCEPTED. */
export type OrderState = 'WAITING' | 'ACCEPTED' | 'PAID' | 'DECLINED' | 'FAILED' | 'EXPIRED' | 'REVERSED';

/** `INSUFFICIENT_FLOAT`: the operator's own account at the provider is empty. */
export type Failure =
  | 'REFUSED_BY_PROVIDER'
  | 'INSUFFICIENT_FUNDS'
  | 'CANCELLED_BY_CUSTOMER'
  | 'INSUFFICIENT_FLOAT'
  | 'FAILED_AFTERWARDS';

/** What a merchant requests: money from a customer, money paid out, or the refund of a payment. Amounts are text as providers write them: "100.50". */
export type OrderRequest = {
  direction: Direction;
  channel: SimulatedChannel;
  orderId: string;
  amount: string;
  currency: string;
  callbackUrl: string;
  /** The payer, or the payee; of a refund the payer; empty for a payout to a bank account. */
  phone: string;
  bankCode: string;
  accountNumber: string;
  /** The payment's title, or the payee's name. */
  title: string;
  /** Where the customer's browser goes afterwards, if there is one. */
  returnUrl: string | null;
  /** Payments only. */
  expiresAtMs: number | null;
  /** Refunds only: the id of the payment. */
  refundOf?: string;
};

/** An order with the simulator's record. Times are milliseconds by its clock. */
export type Order = OrderRequest & {
  behaviour: SandboxBehaviour | SandboxPayoutBehaviour;
  faults: OrderFaults;
  /** Names the order before money moves: prepay id, push reference. */
  reference: string;
  /** Names the movement of money, and its reversal. */
  transactionReference: string;
  createdAtMs: number;
  state: OrderState;
  failure: Failure | null;
  decidedAtMs: number | null;
  /** Payouts only. */
  reversedAtMs: number | null;
  /** What moved; unchanged by a reversal. */
  paidAmount: string | null;
  /** How often the merchant submitted it: one order all the same. */
  submissions: number;
  /** How often the merchant queried it. */
  queries: number;
  callbacks: Callback[];
};

/** One callback about an order, with its sends so far. */
export type Callback = {
  state: OrderState;
  amount: string;
  signature: 'valid' | 'missing' | 'wrong';
  dueAtMs: number;
  sends: { atMs: number; status: number | null }[];
  done: boolean;
};

export type Transition = { state: OrderState; failure: Failure | null; atMs: number };

/** What happens to an order, and how long after its creation or its expiry. */
type Decision = {
  state: OrderState;
  afterMs: number;
  isAfterExpiry?: boolean;
  failure?: Failure;
  isWrongAmount?: boolean;
  isWithoutCallback?: boolean;
  /** Once paid. */
  reversedAfterMs?: number;
};

const SOON = { state: 'PAID', afterMs: 300 } as const;
const SLOWLY = { state: 'PAID', afterMs: 120_000 } as const;
const INTERMEDIATE_AFTER_MS = 200;
const WRONG_BY_SANTIM = 100n;

const PAYMENTS: Readonly<Record<SandboxBehaviour, Decision>> = {
  approve: SOON,
  'approve-without-callback': { ...SOON, isWithoutCallback: true },
  'approve-refund-fails': SOON,
  'approve-wrong-amount': { ...SOON, isWrongAmount: true },
  'approve-slowly': SLOWLY,
  'approve-after-expiry': { state: 'PAID', afterMs: 5_000, isAfterExpiry: true },
  decline: { ...SOON, state: 'DECLINED', failure: 'REFUSED_BY_PROVIDER' },
  'insufficient-funds': { ...SOON, state: 'DECLINED', failure: 'INSUFFICIENT_FUNDS' },
  // A customer may be typing the PIN when the order expires.
  never: { state: 'EXPIRED', afterMs: 30_000, isAfterExpiry: true },
};

/** A decision without delay is in the response to the submission. */
const PAYOUTS: Readonly<Record<SandboxPayoutBehaviour, Decision | null>> = {
  pay: SOON,
  'pay-then-reverse': { ...SOON, reversedAfterMs: 60_000 },
  'pay-without-callback': { ...SOON, isWithoutCallback: true },
  'pay-slowly': SLOWLY,
  decline: { state: 'FAILED', afterMs: 0, failure: 'REFUSED_BY_PROVIDER' },
  'insufficient-float': { state: 'FAILED', afterMs: 0, failure: 'INSUFFICIENT_FLOAT' },
  'accept-then-fail': { ...SOON, state: 'FAILED', failure: 'FAILED_AFTERWARDS' },
  never: null,
};

/** The decision by the order's behaviour and its faults. */
function decisionOf(order: Order): Decision | null {
  const { payoutAcceptedThenFailed, payoutReversed } = order.faults;
  const behaviour = payoutAcceptedThenFailed === undefined ? order.behaviour : 'accept-then-fail';
  const decisions: Readonly<Partial<Record<Order['behaviour'], Decision | null>>> =
    order.direction === 'payment' ? PAYMENTS : PAYOUTS;
  const decision = decisions[behaviour];
  if (!decision) return null;
  return {
    ...decision,
    ...('callbackBeforeAnswer' in order.faults && { afterMs: 0, isAfterExpiry: false }),
    ...('paidWrongAmount' in order.faults && { isWrongAmount: true }),
    ...(('callbackLost' in order.faults || order.callbackUrl === '') && { isWithoutCallback: true }),
    ...(payoutReversed !== undefined && order.direction === 'payout' && { reversedAfterMs: payoutReversed }),
  };
}

/** A new order, undecided. */
export function createOrder(request: OrderRequest, more: Pick<Order, 'behaviour' | 'faults' | 'createdAtMs'>): Order {
  return {
    ...request,
    ...more,
    reference: randomBytes(12).toString('hex').toUpperCase(),
    transactionReference: randomBytes(6).toString('hex').toUpperCase(),
    state: firstState(request),
    failure: null,
    decidedAtMs: null,
    reversedAtMs: null,
    paidAmount: null,
    submissions: 1,
    queries: 0,
    callbacks: [],
  };
}

function firstState({ direction }: Pick<Order, 'direction'>): OrderState {
  return direction === 'payment' ? 'WAITING' : 'ACCEPTED';
}

/** Identifies an order in the store and in its file. */
export function keyOf({ direction, channel, orderId }: Pick<Order, 'direction' | 'channel' | 'orderId'>): string {
  return `${direction} ${channel} ${orderId}`;
}

/** The refunds of a payment among these orders. */
export function refundsOf(all: readonly Order[], paid: Pick<Order, 'channel' | 'orderId'>): Order[] {
  return all.filter((one) => one.refundOf === paid.orderId && one.channel === paid.channel);
}

/** What happens to an order next unless a person decides on the pay page; null when nothing does. */
export function nextTransition(order: Order): Transition | null {
  const { state, decidedAtMs, createdAtMs, expiresAtMs } = order;
  const decision = decisionOf(order);
  if (!decision) return null;
  if (decidedAtMs === null) {
    const fromMs = decision.isAfterExpiry ? (expiresAtMs ?? createdAtMs) : createdAtMs;
    return { state: decision.state, failure: decision.failure ?? null, atMs: fromMs + decision.afterMs };
  }
  const { reversedAfterMs } = decision;
  if (state !== 'PAID' || reversedAfterMs === undefined) return null;
  return { state: 'REVERSED', failure: null, atMs: decidedAtMs + reversedAfterMs };
}

/** Changes the order and adds the callbacks that report its new state. */
export function applyTransition(order: Order, { state, atMs, failure }: Transition): void {
  const before = order.state;
  const decision = decisionOf(order);
  order.state = state;
  order.failure = failure;
  order.decidedAtMs ??= atMs;
  if (state === 'REVERSED') order.reversedAtMs = atMs;
  if (state === 'PAID') {
    order.paidAmount = decision?.isWrongAmount ? wrongAmount(order.amount) : order.amount;
  }
  // The response to the submission has already reported a failure without delay.
  const isReported = state !== 'FAILED' || atMs !== order.createdAtMs;
  if (isReported && !decision?.isWithoutCallback) addCallbacks(order, before, atMs);
}

function addCallbacks(order: Order, before: OrderState, atMs: number): void {
  const { faults, paidAmount, state } = order;
  const amount = paidAmount ?? order.amount;
  const dueAtMs = atMs + (faults.callbackLate ?? 0);
  const signature = 'callbackUnsigned' in faults ? 'missing' : 'callbackWronglySigned' in faults ? 'wrong' : 'valid';
  const add = (changes: Partial<Callback>): void => {
    const reported = 'callbackWrongAmount' in faults ? wrongAmount(amount) : amount;
    order.callbacks.push({ state, amount: reported, signature, dueAtMs, sends: [], done: false, ...changes });
  };
  add({});
  if ('callbackDoubled' in faults) add({});
  if ('callbackOutOfOrder' in faults) add({ state: before, dueAtMs: dueAtMs + INTERMEDIATE_AFTER_MS });
}

/** A birr more. */
export function wrongAmount(amount: string): string {
  return formatBirr((parseBirr(amount) ?? 0n) + WRONG_BY_SANTIM);
}

/** The order as a callback reports it. Without a transaction reference as long as no money has moved. */
export function reportedOrder(order: Order, { state, amount }: Pick<Order, 'state' | 'amount'>): Order {
  const isPaid = state === 'PAID' || state === 'REVERSED';
  const isFailed = state === 'DECLINED' || state === 'FAILED';
  const transactionReference = isPaid ? order.transactionReference : '';
  return { ...order, state, amount, transactionReference, failure: isFailed ? order.failure : null };
}

/** The order as a query reports it: the current state, or with the fault `queryLag` an earlier one. */
export function visibleOrder(order: Order, nowMs: number): Order {
  const seenMs = nowMs - (order.faults.queryLag ?? 0);
  if (order.decidedAtMs === null || order.decidedAtMs > seenMs) {
    return reportedOrder(order, { state: firstState(order), amount: order.amount });
  }
  const state = order.reversedAtMs !== null && order.reversedAtMs > seenMs ? 'PAID' : order.state;
  return reportedOrder(order, { state, amount: order.paidAmount ?? order.amount });
}

export type Outage = 'serverError' | 'hang';

/** How every call about this payout fails at this time, although the payout is made. */
export function outageOf({ faults, createdAtMs }: Order, nowMs: number): Outage | null {
  const outageMs = faults.payoutUnknown ?? faults.payoutSilent ?? 0;
  if (nowMs >= createdAtMs + outageMs) return null;
  return faults.payoutUnknown === undefined ? 'hang' : 'serverError';
}
