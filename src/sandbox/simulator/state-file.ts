import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { keyOf } from './order-store.ts';
import type { Order } from './order.ts';
import type { BankTransfer } from './totals.ts';

/** What must survive a restart: orders, transfers, and the offset of the clock. */
type SavedState = { orders: Order[]; transfers: BankTransfer[]; offsetMs: number };

type Line = { order: Order } | { transfer: BankTransfer } | { offsetMs: number };

export type StateFile = {
  load: () => SavedState;
  append: (...lines: Line[]) => void;
  clear: () => void;
};

/** It contains phones and accounts. */
const PRIVATE = { mode: 0o600 };

/**
 * An append-only file: a line per change, the last line of an order counts. Each line is written before the change is
 * reported, so a killed process loses nothing it has reported. Without a path nothing is saved.
 */
export function openStateFile(path: string | null): StateFile {
  if (path === null) return { load: () => parse(''), append: () => {}, clear: () => {} };
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return {
    append: (...lines) => appendFileSync(path, format(lines), PRIVATE),
    load() {
      const state = parse(existsSync(path) ? readFileSync(path, 'utf8') : '');
      const { orders, transfers, offsetMs } = state;
      const lines = [
        { offsetMs },
        ...orders.map((order) => ({ order })),
        ...transfers.map((transfer) => ({ transfer })),
      ];
      writeFileSync(`${path}.new`, format(lines), PRIVATE);
      renameSync(`${path}.new`, path);
      return state;
    },
    clear: () => writeFileSync(path, '', PRIVATE),
  };
}

function format(lines: readonly Line[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function parse(text: string): SavedState {
  const orders = new Map<string, Order>();
  const transfers: BankTransfer[] = [];
  let offsetMs = 0;
  for (const line of text.split('\n').flatMap(parseLine)) {
    if ('order' in line) orders.set(keyOf(line.order), line.order);
    else if ('transfer' in line) transfers.push(line.transfer);
    else ({ offsetMs } = line);
  }
  return { orders: [...orders.values()], transfers, offsetMs };
}

/** Skips the half line of a process killed while writing it, and the empty one at the end. */
function parseLine(text: string): Line[] {
  try {
    return [JSON.parse(text) as Line];
  } catch {
    return [];
  }
}
