import { formatBirr, parseBirr } from '../../lib/money.ts';
import type { OrderFault, OrderFaultKind } from './faults.ts';

/** One callback, to be sent or sent. `Says` are the states of what it tells of. */
export type Callback<Says extends string> = {
  state: Says;
  amount: string;
  signature: 'valid' | 'missing' | 'wrong';
  dueAtMs: number;
  sends: { atMs: number; status: number | null }[];
  done: boolean;
};

/** What there is to tell: the new state, and the one before it, for a callback that comes too late to be true. */
type News<Says> = { state: Says; before: Says; amount: string; atMs: number };

type Faulty = { faults: readonly OrderFault[] };

const WRONG_BY_SANTIM = 100n;
const INTERMEDIATE_AFTER_MS = 200;

/** The callbacks that tell the news, as the faults will have them. */
export function callbacksFor<Says extends string>(item: Faulty, news: News<Says>): Callback<Says>[] {
  if (hasFault(item, 'callbackLost')) return [];
  const callback: Callback<Says> = {
    state: news.state,
    amount: hasFault(item, 'callbackWrongAmount') ? wrongAmount(news.amount) : news.amount,
    signature: signatureOf(item),
    dueAtMs: news.atMs + (faultOf(item, 'callbackLate')?.delayMs ?? 0),
    sends: [],
    done: false,
  };
  const again = hasFault(item, 'callbackDoubled') ? [{ ...callback, sends: [] }] : [];
  const dueAtMs = callback.dueAtMs + INTERMEDIATE_AFTER_MS;
  const before = { ...callback, state: news.before, dueAtMs, sends: [] };
  return [callback, ...again, ...(hasFault(item, 'callbackOutOfOrder') ? [before] : [])];
}

export function hasFault(item: Faulty, fault: OrderFaultKind): boolean {
  return faultOf(item, fault) !== undefined;
}

export function faultOf(item: Faulty, fault: OrderFaultKind): OrderFault | undefined {
  return item.faults.find(({ kind }) => kind === fault);
}

/** A birr more. */
export function wrongAmount(amount: string): string {
  return formatBirr((parseBirr(amount) ?? 0n) + WRONG_BY_SANTIM);
}

function signatureOf(item: Faulty): Callback<string>['signature'] {
  if (hasFault(item, 'callbackUnsigned')) return 'missing';
  return hasFault(item, 'callbackWronglySigned') ? 'wrong' : 'valid';
}
