import type { SandboxPayoutBehaviour } from '../../lib/sandbox-providers.ts';
import { callbacksFor, faultOf, hasFault, wrongAmount, type Callback } from './callback.ts';
import type { OrderFault, SimulatedChannel } from './faults.ts';

export type PayoutState = 'ACCEPTED' | 'PAID' | 'FAILED' | 'REVERSED';

/** `INSUFFICIENT_FLOAT`: the operator's own account at the provider is empty. */
export type PayoutFailure = 'REFUSED_BY_PROVIDER' | 'INSUFFICIENT_FLOAT' | 'FAILED_AFTERWARDS';

export type Payee = { phone: string } | { bankCode: string; accountNumber: string };

/** A payout as a merchant asks for it. Amounts are text as providers write them: "100.50". */
export type PayoutRequest = {
  channel: SimulatedChannel;
  orderId: string;
  payee: Payee;
  accountName: string;
  amount: string;
  currency: string;
  callbackUrl: string;
};

/** The truth about a payout. Times are milliseconds by the simulator's clock. */
export type Payout = PayoutRequest & {
  /** Names it before it is paid. */
  reference: string;
  /** Names the money's movement, and its way back. */
  transactionReference: string;
  createdAtMs: number;
  behaviour: SandboxPayoutBehaviour;
  faults: OrderFault[];
  state: PayoutState;
  decidedAtMs: number | null;
  /** What left; also after it came back. */
  paidAmount: string | null;
  failure: PayoutFailure | null;
  reversedAtMs: number | null;
  /** How often the merchant asked for it: one payout all the same. */
  submissions: number;
  /** How often the merchant asked how it stands. */
  queries: number;
  callbacks: Callback<PayoutState>[];
};

/** What a payout becomes, and when. */
export type PayoutDecision =
  | { atMs: number; state: 'PAID'; paidAmount: string; failure: null }
  | { atMs: number; state: 'FAILED'; paidAmount: null; failure: PayoutFailure };

const QUICKLY_MS = 300;
const SLOWLY_MS = 120_000;
const REVERSED_AFTER_MS = 60_000;

/** What its payee's behaviour makes of a payout; null: nothing, ever. */
export function plannedPayout(payout: Payout): PayoutDecision | null {
  const soonMs = payout.createdAtMs + QUICKLY_MS;
  if (hasFault(payout, 'payoutAcceptedThenFailed')) return failed(soonMs, 'FAILED_AFTERWARDS');
  switch (payout.behaviour) {
    case 'pay':
    case 'pay-then-reverse':
    case 'pay-without-callback':
      return paidOut(payout, soonMs);
    case 'pay-slowly':
      return paidOut(payout, payout.createdAtMs + SLOWLY_MS);
    case 'decline':
      return failed(payout.createdAtMs, 'REFUSED_BY_PROVIDER');
    case 'insufficient-float':
      return failed(payout.createdAtMs, 'INSUFFICIENT_FLOAT');
    case 'accept-then-fail':
      return failed(soonMs, 'FAILED_AFTERWARDS');
    case 'never':
      return null;
  }
}

/** When a paid payout comes back; null: it does not. */
export function plannedReversalMs(payout: Payout): number | null {
  if (payout.state !== 'PAID' || payout.decidedAtMs === null) return null;
  const fault = faultOf(payout, 'payoutReversed');
  if (fault) return payout.decidedAtMs + fault.delayMs;
  return payout.behaviour === 'pay-then-reverse' ? payout.decidedAtMs + REVERSED_AFTER_MS : null;
}

/** The callbacks that tell what has become of it. A refusal in the answer itself is not told again. */
export function payoutCallbacks(payout: Payout, atMs: number): Callback<PayoutState>[] {
  if (payout.behaviour === 'pay-without-callback') return [];
  if (payout.state === 'FAILED' && payout.decidedAtMs === payout.createdAtMs) return [];
  const before = payout.state === 'REVERSED' ? 'PAID' : 'ACCEPTED';
  const amount = payout.paidAmount ?? payout.amount;
  return callbacksFor<PayoutState>(payout, { state: payout.state, before, amount, atMs });
}

/** What a query is told: the truth, or what was true a while ago. */
export function visiblePayoutState(payout: Payout, nowMs: number): PayoutState {
  const seenMs = nowMs - (faultOf(payout, 'queryLag')?.delayMs ?? 0);
  if (payout.decidedAtMs === null || payout.decidedAtMs > seenMs) return 'ACCEPTED';
  return payout.reversedAtMs !== null && payout.reversedAtMs > seenMs ? 'PAID' : payout.state;
}

/** How every call about this payout fails at this time, though it is made. */
export function silenceOf(payout: Payout, nowMs: number): 'serverError' | 'hang' | null {
  const lasts = (kind: 'payoutUnknown' | 'payoutSilent'): boolean => {
    const fault = faultOf(payout, kind);
    return fault !== undefined && nowMs < payout.createdAtMs + fault.delayMs;
  };
  if (lasts('payoutUnknown')) return 'serverError';
  return lasts('payoutSilent') ? 'hang' : null;
}

function paidOut(payout: Payout, atMs: number): PayoutDecision {
  const wrong = hasFault(payout, 'paidWrongAmount');
  return { atMs, state: 'PAID', paidAmount: wrong ? wrongAmount(payout.amount) : payout.amount, failure: null };
}

function failed(atMs: number, failure: PayoutFailure): PayoutDecision {
  return { atMs, state: 'FAILED', paidAmount: null, failure };
}
