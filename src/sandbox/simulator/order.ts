import type { SandboxBehaviour, SandboxPayoutBehaviour } from '../../lib/sandbox-providers.ts';
import type { Callback } from './callbacks.ts';
import { faultOf, type OrderFault, type SimulatedChannel } from './faults.ts';

export type OrderState = 'WAITING' | 'PAID' | 'DECLINED' | 'EXPIRED';

export type PayoutState = 'ACCEPTED' | 'PAID' | 'FAILED' | 'REVERSED';

export type Rejection = 'REFUSED_BY_PROVIDER' | 'INSUFFICIENT_FUNDS' | 'CANCELLED_BY_CUSTOMER';

/** `INSUFFICIENT_FLOAT`: the operator's own account at the provider is empty. */
export type PayoutFailure = 'REFUSED_BY_PROVIDER' | 'INSUFFICIENT_FLOAT' | 'FAILED_AFTERWARDS';

export type Payee = { phone: string } | { bankCode: string; accountNumber: string };

/** What a merchant requests of either kind. Amounts are text as providers write them: "100.50". */
type Requested = { channel: SimulatedChannel; orderId: string; amount: string; currency: string; callbackUrl: string };

export type OrderRequest = Requested & {
  phone: string;
  title: string;
  /** Where the customer's browser goes afterwards, if there is one. */
  returnUrl: string | null;
  expiresAtMs: number;
};

export type PayoutRequest = Requested & { payee: Payee; accountName: string };

/** What the simulator records of either kind. Times are milliseconds by its clock. */
export type Recorded<State> = {
  /** Names the order before money moves: prepay id, push reference. */
  reference: string;
  /** Names the movement of money, and its reversal. */
  transactionReference: string;
  createdAtMs: number;
  faults: OrderFault[];
  state: State;
  decidedAtMs: number | null;
  /** What moved; unchanged by a reversal. */
  paidAmount: string | null;
  /** How often the merchant submitted it: one order all the same. */
  submissions: number;
  /** How often the merchant queried it. */
  queries: number;
  callbacks: Callback[];
};

/** A customer's payment. */
export type Order = OrderRequest & Recorded<OrderState> & { behaviour: SandboxBehaviour; rejection: Rejection | null };

/** Money paid out. */
export type Payout = PayoutRequest &
  Recorded<PayoutState> & {
    behaviour: SandboxPayoutBehaviour;
    failure: PayoutFailure | null;
    reversedAtMs: number | null;
  };

/** An order as a query or a callback reports it. */
export type OrderStatus = {
  order: Order | Payout;
  state: OrderState | PayoutState;
  amount: string;
  /** Whether money has moved, back again or not. */
  isPaid: boolean;
  /** The transaction's reference once paid, the order's before. */
  reference: string;
  failure: Rejection | PayoutFailure | null;
};

export function isPayout(order: Order | Payout): order is Payout {
  return 'payee' in order;
}

/** The status that a callback reports. */
export function statusAt(order: Order | Payout, reported: Pick<OrderStatus, 'state' | 'amount'>): OrderStatus {
  const { state } = reported;
  const isPaid = state === 'PAID' || state === 'REVERSED';
  const failure = isPayout(order) ? order.failure : order.rejection;
  return {
    ...reported,
    order,
    isPaid,
    reference: isPaid ? order.transactionReference : order.reference,
    failure: state === 'DECLINED' || state === 'FAILED' ? failure : null,
  };
}

/** The status that a query reports: the current one, or with the fault `queryLag` an earlier one. */
export function visibleStatus(order: Order | Payout, nowMs: number): OrderStatus {
  const seenMs = nowMs - (faultOf(order, 'queryLag')?.delayMs ?? 0);
  const status = (state: OrderStatus['state'], amount = order.amount) => statusAt(order, { state, amount });
  if (order.decidedAtMs === null || order.decidedAtMs > seenMs) return status(isPayout(order) ? 'ACCEPTED' : 'WAITING');
  const isReversalUnseen = isPayout(order) && order.reversedAtMs !== null && order.reversedAtMs > seenMs;
  return status(isReversalUnseen ? 'PAID' : order.state, order.paidAmount ?? order.amount);
}

/** How every call about this payout fails at this time, although the payout is made. */
export function outageOf(order: Order | Payout, nowMs: number): 'serverError' | 'hang' | null {
  const lasts = (kind: 'payoutUnknown' | 'payoutSilent'): boolean => {
    const fault = faultOf(order, kind);
    return fault !== undefined && nowMs < order.createdAtMs + fault.delayMs;
  };
  if (lasts('payoutUnknown')) return 'serverError';
  return lasts('payoutSilent') ? 'hang' : null;
}
