import { chmodSync, closeSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

import { createLogger, type Logger } from '../lib/log.ts';

/** pino's levels, as people call them. */
const LEVELS: Readonly<Record<number, string>> = { 40: 'warning', 50: 'error', 60: 'error' };
const SAME_LINE_EVERY_MS = 10_000;

type Line = { level: number; msg?: string; err?: { message?: string; name?: string } };

export type LocalLog = { log: Logger; close: () => void };

/**
 * The log of a local start: JSON lines in a file, and of warnings and errors one readable line on the terminal, the same
 * one at most every 10 s. The file of the start before is kept beside it as `.1`.
 */
export function openLocalLog(file: string, options: { level: string; write: (line: string) => void }): LocalLog {
  mkdirSync(dirname(file), { recursive: true });
  chmodSync(dirname(file), 0o700);
  try {
    renameSync(file, `${file}.1`);
  } catch {
    // The first start has none.
  }
  const descriptor = openSync(file, 'a', 0o600);
  const print = createPrinter(options.write);
  let isOpen = true;
  const write = (line: string): void => {
    if (isOpen) writeSync(descriptor, line);
    print(line);
  };
  return {
    log: createLogger(options.level, 'local', { destination: { write } }),
    close: () => {
      isOpen = false;
      closeSync(descriptor);
    },
  };
}

function createPrinter(write: (line: string) => void): (line: string) => void {
  const printedAt = new Map<string, number>();
  return (line) => {
    const { level, msg = '', err } = JSON.parse(line) as Line;
    const name = LEVELS[level];
    if (name === undefined || performance.now() - (printedAt.get(msg) ?? -Infinity) < SAME_LINE_EVERY_MS) return;
    printedAt.set(msg, performance.now());
    const why = err?.message ?? err?.name;
    write(`${name}: ${msg}${why === undefined ? '' : ` (${why})`}`);
  };
}
