import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import type { Order } from './order.ts';
import type { Payout } from './payout.ts';
import type { BankTransfer } from './totals.ts';

/** What a provider must not forget: what it did, and how far its clock was moved. */
type SavedState = { orders: Order[]; payouts: Payout[]; transfers: BankTransfer[]; offsetMs: number };

export type StateFile = {
  load: () => SavedState;
  saveOrder: (order: Order) => void;
  savePayout: (payout: Payout) => void;
  saveTransfer: (transfer: BankTransfer) => void;
  saveOffset: (offsetMs: number) => void;
  clear: () => void;
};

/** Phones and accounts are in it. */
const OURS_ONLY = { mode: 0o600 };

type Line = { order: Order } | { payout: Payout } | { transfer: BankTransfer } | { offsetMs: number };

const nothing = (): SavedState => ({ orders: [], payouts: [], transfers: [], offsetMs: 0 });

/**
 * A file that only grows: a line per change, the last one of an order or a payout counts. Written before anybody is told, so a
 * killed process forgets nothing it said. Without a path nothing is kept.
 */
export function openStateFile(path: string | null): StateFile {
  if (path === null) {
    const forget = (): void => {};
    return {
      load: nothing,
      saveOrder: forget,
      savePayout: forget,
      saveTransfer: forget,
      saveOffset: forget,
      clear: forget,
    };
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const append = (line: Line): void => appendFileSync(path, `${JSON.stringify(line)}\n`, OURS_ONLY);
  return {
    load() {
      const state = existsSync(path) ? readLines(readFileSync(path, 'utf8')) : nothing();
      const lines: Line[] = [
        { offsetMs: state.offsetMs },
        ...state.orders.map((order) => ({ order })),
        ...state.payouts.map((payout) => ({ payout })),
        ...state.transfers.map((transfer) => ({ transfer })),
      ];
      writeFileSync(`${path}.new`, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), OURS_ONLY);
      renameSync(`${path}.new`, path);
      return state;
    },
    saveOrder: (order) => append({ order }),
    savePayout: (payout) => append({ payout }),
    saveTransfer: (transfer) => append({ transfer }),
    saveOffset: (offsetMs) => append({ offsetMs }),
    clear: () => writeFileSync(path, '', OURS_ONLY),
  };
}

function readLines(text: string): SavedState {
  const orders = new Map<string, Order>();
  const payouts = new Map<string, Payout>();
  const transfers: BankTransfer[] = [];
  let offsetMs = 0;
  for (const written of text.split('\n')) {
    const line = parseLine(written);
    if (line === null) continue;
    if ('offsetMs' in line) offsetMs = line.offsetMs;
    else if ('transfer' in line) transfers.push(line.transfer);
    else if ('payout' in line) payouts.set(`${line.payout.channel} ${line.payout.orderId}`, line.payout);
    else orders.set(`${line.order.channel} ${line.order.orderId}`, line.order);
  }
  return { orders: [...orders.values()], payouts: [...payouts.values()], transfers, offsetMs };
}

/** Null for the half line of a process killed while writing it, and for the empty one at the end. */
function parseLine(text: string): Line | null {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}
