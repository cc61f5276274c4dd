import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { createLogger } from '../lib/log.ts';

/** Below the data folder. */
export const LOG_FILE = join('logs', 'meskot.log');

/** pino's levels that are printed. */
const LEVELS: Readonly<Record<number, string>> = { 40: 'warning', 50: 'error', 60: 'error' };
const SAME_LINE_EVERY_MS = 10_000;

type Line = { level: number; msg?: string; err?: { message?: string; name?: string } };

/**
 * The log of a local start: JSON lines in a file; each warning and error also as one line on the terminal, the same line
 * at most every 10 s. The previous start's file is renamed to `.1`.
 */
export function openLocalLog(file: string, options: { level: string; write: (line: string) => void }) {
  mkdirSync(dirname(file), { recursive: true });
  chmodSync(dirname(file), 0o700);
  if (existsSync(file)) renameSync(file, `${file}.1`);
  const descriptor = openSync(file, 'a', 0o600);
  const printedAt = new Map<string, number>();
  let isOpen = true;
  const write = (line: string): void => {
    if (isOpen) writeSync(descriptor, line);
    const { level, msg = '', err } = JSON.parse(line) as Line;
    const name = LEVELS[level];
    if (name === undefined || performance.now() - (printedAt.get(msg) ?? -Infinity) < SAME_LINE_EVERY_MS) return;
    printedAt.set(msg, performance.now());
    const reason = err?.message ?? err?.name;
    options.write(`${name}: ${msg}${reason === undefined ? '' : ` (${reason})`}`);
  };
  const close = (): void => {
    isOpen = false;
    closeSync(descriptor);
  };
  return { log: createLogger(options.level, 'local', { destination: { write } }), close };
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Runs a step of a start, then prints one line with its duration and the result that it has described. */
export async function step<T>(name: string, work: (describe: (result: string) => void) => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  let result = '';
  try {
    return await work((text) => (result = text));
  } catch (error) {
    result = 'failed';
    throw error;
  } finally {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(5);
    print(`${name.padEnd(14)} ${seconds} s  ${result}`.trimEnd());
  }
}
