import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import type { BankTransfer } from './movements.ts';
import { keyOf, type Order } from './order.ts';

/** What must survive a restart: orders, transfers, and the offset of the clock. */
type Line = { order: Order } | { transfer: BankTransfer } | { offsetMs: number };

export type StateFile = {
  load: () => Line[];
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
  if (path === null) return { load: () => [], append: () => {}, clear: () => {} };
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return {
    append: (...lines) => appendFileSync(path, format(lines), PRIVATE),
    load() {
      const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').flatMap(parseLine) : [];
      const latest = [...new Map(lines.map((line) => [lineKey(line), line])).values()];
      writeFileSync(`${path}.new`, format(latest), PRIVATE);
      renameSync(`${path}.new`, path);
      return latest;
    },
    clear: () => writeFileSync(path, '', PRIVATE),
  };
}

/** A later line with the same key replaces an earlier one. */
function lineKey(line: Line): unknown {
  if ('order' in line) return keyOf(line.order);
  return 'offsetMs' in line ? 'offsetMs' : line;
}

function format(lines: readonly Line[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Skips the half line of a process killed while writing it, and the empty one at the end. */
function parseLine(text: string): Line[] {
  try {
    return [JSON.parse(text) as Line];
  } catch {
    return [];
  }
}
