import { parseBirr } from '../lib/money.ts';
import { unreadable } from './exchange.ts';
import type { StatementPage, StatementRow, Unknown } from './provider.ts';

/** A row as a provider writes it, under our names. */
type WrittenRow = {
  /** Ours, or as the provider writes it when it is nobody's: money that nobody asked for is in the list as well. */
  orderId: string;
  type: StatementRow['type'] | undefined;
  amount: string;
  currency: string;
  reference: string;
  /** Milliseconds since 1970. */
  atMs: number;
};

/**
 * The page as the contract wants it. One row that cannot be read makes the whole page `unknown`: a list with a hole
 * would be taken for money that did not move.
 */
export function readPage(rows: readonly WrittenRow[], next: string | null): StatementPage | Unknown {
  const read: StatementRow[] = [];
  for (const { orderId, type, amount, currency, reference, atMs } of rows) {
    const amountSantim = parseBirr(amount);
    if (!orderId || !type || amountSantim === null || !reference || Number.isNaN(atMs)) {
      return unreadable(`row ${read.length + 1} of the list is not as agreed`);
    }
    read.push({ orderId, type, amountSantim, currency, providerReference: reference, at: new Date(atMs) });
  }
  return { kind: 'page', rows: read, next: next || null };
}
