import type { SandboxBehaviour, SandboxPayoutBehaviour } from '../../lib/sandbox-providers.ts';
import type { Callback } from './callbacks.ts';
import { faultOf, type OrderFault, type SimulatedChannel } from './faults.ts';

/** A payment begins as WAITING, a payout as ACCEPTED. */
export type OrderState = 'WAITING' | 'ACCEPTED' | 'PAID' | 'DECLINED' | 'FAILED' | 'EXPIRED' | 'REVERSED';

/** `INSUFFICIENT_FLOAT`: the operator's own account at the provider is empty. */
export type Failure =
  | 'REFUSED_BY_PROVIDER'
  | 'INSUFFICIENT_FUNDS'
  | 'CANCELLED_BY_CUSTOMER'
  | 'INSUFFICIENT_FLOAT'
  | 'FAILED_AFTERWARDS';

export type Payee = { phone: string } | { bankCode: string; accountNumber: string };

/** What a merchant requests of either kind. Amounts are text as providers write them: "100.50". */
export type Requested = {
  channel: SimulatedChannel;
  orderId: string;
  amount: string;
  currency: string;
  callbackUrl: string;
};

export type PaymentRequest = Requested & {
  phone: string;
  title: string;
  /** Where the customer's browser goes afterwards, if there is one. */
  returnUrl: string | null;
  expiresAtMs: number;
};

export type PayoutRequest = Requested & { payee: Payee; accountName: string };

/** What the simulator records of either kind. Times are milliseconds by its clock. */
export type Recorded = {
  /** Names the order before money moves: prepay id, push reference. */
  reference: string;
  /** Names the movement of money, and its reversal. */
  transactionReference: string;
  createdAtMs: number;
  faults: OrderFault[];
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

/** Money from a customer. */
export type Payment = PaymentRequest & Recorded & { behaviour: SandboxBehaviour };

/** Money paid out. */
export type Payout = PayoutRequest & Recorded & { behaviour: SandboxPayoutBehaviour };

export type Order = Payment | Payout;

/** An order as a query or a callback reports it. */
export type OrderStatus = {
  order: Order;
  state: OrderState;
  amount: string;
  /** Whether money has moved, back again or not. */
  isPaid: boolean;
  /** The transaction's reference once paid, the order's before. */
  reference: string;
  failure: Failure | null;
};

export function isPayout<Both extends object>(order: Both): order is Extract<Both, { payee: Payee }> {
  return 'payee' in order;
}

/** The status that a callback reports. */
export function statusAt(order: Order, { state, amount }: Pick<OrderStatus, 'state' | 'amount'>): OrderStatus {
  const isPaid = state === 'PAID' || state === 'REVERSED';
  const reference = isPaid ? order.transactionReference : order.reference;
  const failure = state === 'DECLINED' || state === 'FAILED' ? order.failure : null;
  return { order, state, amount, isPaid, reference, failure };
}

/** The status that a query reports: the current one, or with the fault `queryLag` an earlier one. */
export function visibleStatus(order: Order, nowMs: number): OrderStatus {
  const seenMs = nowMs - (faultOf(order, 'queryLag')?.delayMs ?? 0);
  if (order.decidedAtMs === null || order.decidedAtMs > seenMs) {
    return statusAt(order, { state: isPayout(order) ? 'ACCEPTED' : 'WAITING', amount: order.amount });
  }
  const state = order.reversedAtMs !== null && order.reversedAtMs > seenMs ? 'PAID' : order.state;
  return statusAt(order, { state, amount: order.paidAmount ?? order.amount });
}
