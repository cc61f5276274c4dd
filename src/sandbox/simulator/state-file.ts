import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { isPayout, type Order, type Payout } from './order.ts';
import type { BankTransfer } from './totals.ts';

/** What must survive a restart: orders, payouts, transfers, and the offset of the clock. */
type SavedState = { orders: Order[]; payouts: Payout[]; transfers: BankTransfer[]; offsetMs: number };

type Line = { order: Order } | { payout: Payout } | { transfer: BankTransfer } | { offsetMs: number };

export type StateFile = {
  load: () => SavedState;
  saveOrder: (order: Order | Payout) => void;
  append: (line: Line) => void;
  clear: () => void;
};

/** It contains phones and accounts. */
const PRIVATE = { mode: 0o600 };

/**
 * An append-only file: a line per change, the last line of an order counts. Each line is written before the change is
 * reported, so a killed process loses nothing it has reported. Without a path nothing is saved.
 */
export function openStateFile(path: string | null): StateFile {
  const append = (line: Line): void => {
    if (path !== null) appendFileSync(path, toText(line), PRIVATE);
  };
  if (path !== null) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return {
    append,
    saveOrder: (order) => append(isPayout(order) ? { payout: order } : { order }),
    load() {
      if (path === null) return readLines('');
      const state = readLines(existsSync(path) ? readFileSync(path, 'utf8') : '');
      const lines: Line[] = [
        { offsetMs: state.offsetMs },
        ...state.orders.map((order) => ({ order })),
        ...state.payouts.map((payout) => ({ payout })),
        ...state.transfers.map((transfer) => ({ transfer })),
      ];
      writeFileSync(`${path}.new`, lines.map(toText).join(''), PRIVATE);
      renameSync(`${path}.new`, path);
      return state;
    },
    clear: () => {
      if (path !== null) writeFileSync(path, '', PRIVATE);
    },
  };
}

function toText(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}

function readLines(text: string): SavedState {
  const orders = new Map<string, Order>();
  const payouts = new Map<string, Payout>();
  const transfers: BankTransfer[] = [];
  let offsetMs = 0;
  for (const line of text.split('\n').flatMap(parseLine)) {
    if ('offsetMs' in line) offsetMs = line.offsetMs;
    else if ('transfer' in line) transfers.push(line.transfer);
    else if ('payout' in line) payouts.set(`${line.payout.channel} ${line.payout.orderId}`, line.payout);
    else orders.set(`${line.order.channel} ${line.order.orderId}`, line.order);
  }
  return { orders: [...orders.values()], payouts: [...payouts.values()], transfers, offsetMs };
}

/** Skips the half line of a process killed while writing it, and the empty one at the end. */
function parseLine(text: string): Line[] {
  try {
    return [JSON.parse(text) as Line];
  } catch {
    return [];
  }
}
