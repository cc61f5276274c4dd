import { unreadable } from './exchange.ts';
import type { PayoutOutcome, ProviderOutcome, Unknown } from './provider.ts';

/** `named`: the order that a reply says it is about. `mayBeNameless`: a refusal of the request itself need not say. */
type Named = { ours: string; named: string | undefined; mayBeNameless: boolean };

/** The outcome, if the reply is about our order: what is said of another one, or of nobody knows which, is no answer. */
export function ofOrder<Outcome extends ProviderOutcome | PayoutOutcome>(
  outcome: Outcome,
  { ours, named, mayBeNameless }: Named,
): Outcome | Unknown {
  if (named === ours) return outcome;
  if (named !== undefined) {
    return { kind: 'unknown', reason: 'other-order', message: 'the answer is about another order' };
  }
  return mayBeNameless || outcome.kind === 'unknown'
    ? outcome
    : unreadable('the answer does not say which order it is about');
}
