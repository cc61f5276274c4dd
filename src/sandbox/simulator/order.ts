import type { SandboxBehaviour } from '../../lib/sandbox-providers.ts';
import { callbacksFor, faultOf, hasFault, wrongAmount, type Callback } from './callback.ts';
import type { OrderFault, SimulatedChannel } from './faults.ts';

export type OrderState = 'WAITING' | 'PAID' | 'DECLINED' | 'EXPIRED';

export type Rejection = 'REFUSED_BY_PROVIDER' | 'INSUFFICIENT_FUNDS' | 'CANCELLED_BY_CUSTOMER';

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
  rejection: Rejection | null;
  /** How often the merchant asked. */
  queries: number;
  callbacks: Callback<OrderState>[];
};

/** What an order becomes, and when. */
export type Decision = {
  atMs: number;
  state: Exclude<OrderState, 'WAITING'>;
  paidAmount: string | null;
  rejection: Rejection | null;
};

const QUICKLY_MS = 300;
const SLOWLY_MS = 120_000;
const AFTER_EXPIRY_MS = 5_000;
/** A customer may be typing the PIN when the order's time runs out. */
const CLOSED_AFTER_EXPIRY_MS = 30_000;

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
      return { atMs: order.expiresAtMs + CLOSED_AFTER_EXPIRY_MS, state: 'EXPIRED', paidAmount: null, rejection: null };
  }
}

/** The order paid at this time: the amount asked for, or a birr more where the wrong amount is wanted. */
export function paid(order: Order, atMs: number): Decision {
  const wrong = order.behaviour === 'approve-wrong-amount' || hasFault(order, 'paidWrongAmount');
  return { atMs, state: 'PAID', paidAmount: wrong ? wrongAmount(order.amount) : order.amount, rejection: null };
}

export function declined(atMs: number, rejection: Rejection): Decision {
  return { atMs, state: 'DECLINED', paidAmount: null, rejection };
}

/** The callbacks that tell of a decision, as the order's faults will have them. */
export function callbacksOf(order: Order, decision: Decision): Callback<OrderState>[] {
  if (order.behaviour === 'approve-without-callback') return [];
  const amount = decision.paidAmount ?? order.amount;
  return callbacksFor<OrderState>(order, { state: decision.state, before: 'WAITING', amount, atMs: decision.atMs });
}

/** What a query is told: the truth, or what was true a while ago. */
export function visibleState(order: Order, nowMs: number): OrderState {
  const lag = faultOf(order, 'queryLag');
  if (lag && order.decidedAtMs !== null && order.decidedAtMs > nowMs - lag.delayMs) return 'WAITING';
  return order.state;
}
