import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import type { BankTransfer } from './movements.ts';
import { keyOf, type Order } from './order.ts';

/** What survives a restart: orders by their keys, transfers, and the offset of the clock. */
type SavedState = { orders: Map<string, Order>; transfers: BankTransfer[]; offsetMs: number };

type Line = { order: Order } | { transfer: BankTransfer } | { offsetMs: number };

/** It contains phones and accounts. */
const PRIVATE = { mode: 0o600 };

export type StateFile = ReturnType<typeof openStateFile>;

/**
 * An append-only file: a line per change, the last line of an order counts. Each line is written before the change is
 * reported, so a killed process loses nothing it has reported. Without a path nothing is saved.
 */
export function openStateFile(path: string | null) {
  const saved = path !== null && existsSync(path) ? parse(readFileSync(path, 'utf8')) : parse('');
  if (path !== null) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const orders = [...saved.orders.values()].map((order) => ({ order }));
    const transfers = saved.transfers.map((transfer) => ({ transfer }));
    writeFileSync(`${path}.new`, format([{ offsetMs: saved.offsetMs }, ...orders, ...transfers]), PRIVATE);
    renameSync(`${path}.new`, path);
  }
  return {
    saved,
    append(...lines: Line[]): void {
      if (path !== null) appendFileSync(path, format(lines), PRIVATE);
    },
    clear(): void {
      if (path !== null) writeFileSync(path, '', PRIVATE);
    },
  };
}

function format(lines: readonly Line[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function parse(text: string): SavedState {
  const state: SavedState = { orders: new Map(), transfers: [], offsetMs: 0 };
  for (const line of text.split('\n').flatMap(parseLine)) {
    if ('order' in line) state.orders.set(keyOf(line.order), line.order);
    else if ('transfer' in line) state.transfers.push(line.transfer);
    else state.offsetMs = line.offsetMs;
  }
  return state;
}

/** Skips the half line of a process killed while writing it, and the empty one at the end. */
function parseLine(text: string): Line[] {
  try {
    return [JSON.parse(text) as Line];
  } catch {
    return [];
  }
}
