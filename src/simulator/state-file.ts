import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import type { Order } from './order.ts';

/** What a provider must not forget: its orders and how far its clock was moved. */
type SavedState = { orders: Order[]; offsetMs: number };

export type StateFile = {
  load: () => SavedState;
  saveOrder: (order: Order) => void;
  saveOffset: (offsetMs: number) => void;
  clear: () => void;
};

type Line = { order: Order } | { offsetMs: number };

/**
 * A file that only grows: a line per change, the last one of an order counts. Written before anybody is told, so a
 * killed process forgets nothing it said. Without a path nothing is kept.
 */
export function openStateFile(path: string | null): StateFile {
  if (path === null) {
    return { load: () => ({ orders: [], offsetMs: 0 }), saveOrder() {}, saveOffset() {}, clear() {} };
  }
  mkdirSync(dirname(path), { recursive: true });
  const append = (line: Line): void => appendFileSync(path, `${JSON.stringify(line)}\n`);
  return {
    load() {
      const state = existsSync(path) ? readLines(readFileSync(path, 'utf8')) : { orders: [], offsetMs: 0 };
      const lines: Line[] = [{ offsetMs: state.offsetMs }, ...state.orders.map((order) => ({ order }))];
      writeFileSync(`${path}.new`, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      renameSync(`${path}.new`, path);
      return state;
    },
    saveOrder: (order) => append({ order }),
    saveOffset: (offsetMs) => append({ offsetMs }),
    clear: () => writeFileSync(path, ''),
  };
}

function readLines(text: string): SavedState {
  const orders = new Map<string, Order>();
  let offsetMs = 0;
  for (const written of text.split('\n')) {
    const line = parseLine(written);
    if (line === null) continue;
    if ('offsetMs' in line) offsetMs = line.offsetMs;
    else orders.set(`${line.order.channel} ${line.order.orderId}`, line.order);
  }
  return { orders: [...orders.values()], offsetMs };
}

/** Null for the half line of a process killed while writing it, and for the empty one at the end. */
function parseLine(text: string): Line | null {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}
