import { formatBirr, parseBirr } from '../lib/money.ts';
import type { SandboxBehaviour } from '../lib/sandbox-providers.ts';
import type { OrderFault, OrderFaultKind, SimulatedChannel } from './faults.ts';

export type OrderState = 'WAITING' | 'PAID' | 'DECLINED' | 'EXPIRED';

export type Refusal = 'REFUSED_BY_PROVIDER' | 'INSUFFICIENT_FUNDS' | 'CANCELLED_BY_CUSTOMER';

/** An order as a merchant asks for it. Amounts are text as providers write them: "100.50". */
export type OrderRequest = {
  channel: SimulatedChannel;
  orderId: string;
  phone: string;
  amount: string;
  currency: string;
  title: string;
  callbackUrl: string;
  /** Where the customer's browser goes afterwards, if there is one. */
  returnUrl: string | null;
  expiresAtMs: number;
};

/** The truth about an order. Times are milliseconds by the simulator's clock. */
export type Order = OrderRequest & {
  /** Names the order before it is paid: prepay id, push reference. */
  reference: string;
  /** Names the payment. */
  transactionReference: string;
  createdAtMs: number;
  behaviour: SandboxBehaviour;
  faults: OrderFault[];
  state: OrderState;
  decidedAtMs: number | null;
  paidAmount: string | null;
  refusal: Refusal | null;
  /** How often the merchant asked. */
  queries: number;
  callbacks: Callback[];
};

/** One callback, to be sent or sent. */
export type Callback = {
  says: OrderState;
  amount: string;
  signature: 'valid' | 'missing' | 'wrong';
  dueAtMs: number;
  sends: { atMs: number; status: number | null }[];
  done: boolean;
};

/** What an order becomes, and when. */
export type Decision = {
  atMs: number;
  state: Exclude<OrderState, 'WAITING'>;
  paidAmount: string | null;
  refusal: Refusal | null;
};

const QUICKLY_MS = 300;
const SLOWLY_MS = 120_000;
const AFTER_EXPIRY_MS = 5_000;
/** A customer may be typing the PIN when the order's time runs out. */
const CLOSED_AFTER_EXPIRY_MS = 30_000;
const WRONG_BY_SANTIM = 100n;
const INTERMEDIATE_AFTER_MS = 200;

/** What the phone's behaviour makes of an order if nobody decides otherwise on the pay page. */
export function plannedDecision(order: Order): Decision {
  const soonMs = order.createdAtMs + QUICKLY_MS;
  switch (order.behaviour) {
    case 'approve':
    case 'approve-without-callback':
    case 'approve-wrong-amount':
      return paid(order, soonMs);
    case 'approve-slowly':
      return paid(order, order.createdAtMs + SLOWLY_MS);
    case 'approve-after-expiry':
      return paid(order, order.expiresAtMs + AFTER_EXPIRY_MS);
    case 'decline':
      return declined(soonMs, 'REFUSED_BY_PROVIDER');
    case 'insufficient-funds':
      return declined(soonMs, 'INSUFFICIENT_FUNDS');
    case 'never':
      return { atMs: order.expiresAtMs + CLOSED_AFTER_EXPIRY_MS, state: 'EXPIRED', paidAmount: null, refusal: null };
  }
}

/** The order paid at this time: the amount asked for, or a birr more where the wrong amount is wanted. */
export function paid(order: Order, atMs: number): Decision {
  const wrong = order.behaviour === 'approve-wrong-amount' || hasFault(order, 'paidWrongAmount');
  return { atMs, state: 'PAID', paidAmount: wrong ? wrongAmount(order.amount) : order.amount, refusal: null };
}

export function declined(atMs: number, refusal: Refusal): Decision {
  return { atMs, state: 'DECLINED', paidAmount: null, refusal };
}

/** The callbacks that tell of a decision, as the order's faults will have them. */
export function callbacksOf(order: Order, decision: Decision): Callback[] {
  if (order.behaviour === 'approve-without-callback' || hasFault(order, 'callbackLost')) return [];
  const amount = decision.paidAmount ?? order.amount;
  const late = order.faults.find(({ kind }) => kind === 'callbackLate');
  const callback: Callback = {
    says: decision.state,
    amount: hasFault(order, 'callbackWrongAmount') ? wrongAmount(amount) : amount,
    signature: signatureOf(order),
    dueAtMs: decision.atMs + (late?.delayMs ?? 0),
    sends: [],
    done: false,
  };
  const again = hasFault(order, 'callbackDoubled') ? [{ ...callback, sends: [] }] : [];
  const before: Callback = {
    ...callback,
    says: 'WAITING',
    dueAtMs: callback.dueAtMs + INTERMEDIATE_AFTER_MS,
    sends: [],
  };
  return [callback, ...again, ...(hasFault(order, 'callbackOutOfOrder') ? [before] : [])];
}

/** What a query is told: the truth, or what was true a while ago. */
export function visibleState(order: Order, nowMs: number): OrderState {
  const lag = order.faults.find(({ kind }) => kind === 'queryLag');
  if (lag && order.decidedAtMs !== null && order.decidedAtMs > nowMs - lag.delayMs) return 'WAITING';
  return order.state;
}

export function hasFault(order: Order, fault: OrderFaultKind): boolean {
  return order.faults.some(({ kind }) => kind === fault);
}

function signatureOf(order: Order): Callback['signature'] {
  if (hasFault(order, 'callbackUnsigned')) return 'missing';
  return hasFault(order, 'callbackWronglySigned') ? 'wrong' : 'valid';
}

function wrongAmount(amount: string): string {
  return formatBirr((parseBirr(amount) ?? 0n) + WRONG_BY_SANTIM);
}
