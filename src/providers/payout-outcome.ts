import { parseBirr } from '../lib/money.ts';
import { declined, unreadable } from './exchange.ts';
import type { PayoutOrder, PayoutOutcome } from './provider.ts';

/** What a provider wrote of money that left or came back. */
type Written = {
  reference: string | null | undefined;
  amount: string | undefined;
  currency: string | undefined;
  providerCode: string;
};

/** Paid, or come back, as written; `unknown` when it is not written how much, or how. */
export function payoutMoved(
  kind: 'succeeded' | 'reversed',
  { reference, amount, currency, providerCode }: Written,
): PayoutOutcome {
  const amountSantim = parseBirr(amount ?? '');
  if (amountSantim === null || !reference || !currency) return unreadable(`${kind}, but not what or how`);
  return { kind, providerReference: reference, amountSantim, currency, providerCode };
}

/** The order's phone, for a provider that pays to phones only; or its refusal, which never left the house. */
export function phoneOnly(
  { destination }: PayoutOrder,
  provider: string,
): { kind: 'phone'; phone: string } | Extract<PayoutOutcome, { kind: 'declined' }> {
  if (destination.kind === 'phone') return destination;
  const message = `${provider} pays out to phone numbers only.`;
  return declined({ code: 'REJECTED', message, retryable: false }, 'NOT_SENT');
}

/**
 * A submission that was refused for a reason that judges the request, not the payout: a signature, a field, or an id
 * that was used for another amount. An earlier submission may have been taken all the same, so only a query can tell.
 */
export function rejectedWithoutOrder(providerCode: string): PayoutOutcome {
  return unreadable(`the payout was refused with ${providerCode}, which does not say how it stands`);
}
