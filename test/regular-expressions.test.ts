import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import fc from 'fast-check';

const PROJECT = resolve(import.meta.dirname, '..');
const FOLDERS = ['src', 'activities', 'workflows'];

/**
 * Increasing lengths, so that exponential time is found early. At the last length quadratic time takes 100 ms, and
 * linear time at most one.
 */
const LENGTHS = [24, 300, 1_500, 10_000];
const SLOW_MS = 30;
const TIMES = 5;
const SAMPLES = 3;
/** Each part is repeated to this length. */
const HEAD = 10;
/** A character that only negated classes contain, so that a match fails there. */
const END = '\u0001';
const COMMON = [' ', '\t', '\n', 'a', 'A', '0', '-', '_', '.', ',', ';', ':', '/', '=', '"', "'", '\\', '{', '<', 'é'];

type Found = { place: string; regex: RegExp };

function filesOf(folder: string): string[] {
  const names = readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name));
}

/** A literal as formatted: after an operator, a bracket or a blank, on one line. */
const LITERAL = /(?<=[(=,:[!&|?\s])\/(?![*/ ])((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/g;

/** All regular expressions of a file, and a few texts that look like one. */
function regexesIn(file: string): Found[] {
  const lines = readFileSync(join(PROJECT, file), 'utf8').split('\n');
  return lines.flatMap((line, index) =>
    [...line.matchAll(LITERAL)].flatMap(([text, source = '', flags = '']) => {
      try {
        return [{ place: `${file}:${index + 1} ${text}`, regex: new RegExp(source, flags) }];
      } catch {
        return [];
      }
    }),
  );
}

/** Texts with a repeated part: a part of a match, or common characters after its beginning. */
function attacksOn(samples: readonly string[], length: number): Set<string> {
  const attacks = samples.flatMap((sample) => {
    const head = Array.from(sample.slice(0, HEAD));
    const inside = head.flatMap((one, index) => [one, one + (head[index + 1] ?? '')].map((part) => ({ index, part })));
    const behind = COMMON.map((part) => ({ index: sample.length, part }));
    return [...inside, ...behind].map(
      ({ index, part }) => sample.slice(0, index) + part.repeat(Math.ceil(length / part.length)) + END,
    );
  });
  return new Set(attacks);
}

/** Replacements for classes that fast-check would expand to a million characters. */
const WIDE = /\[\^(?:[^\]\\]|\\.)*\]|\\[pP]\{[^}]*\}/g;

/**
 * Texts that match the expression, or would with narrower classes; none for syntax that fast-check does not support,
 * such as look-behind.
 */
function matching(regex: RegExp): string[] {
  try {
    const narrow = new RegExp(regex.source.replaceAll(WIDE, '[a ]'), regex.flags.replaceAll(/[gimy]/g, ''));
    return fc.sample(fc.stringMatching(narrow), { numRuns: SAMPLES, seed: 1 });
  } catch {
    return [];
  }
}

/** Whether any text takes longer than linear time; measured several times, in case the machine was busy. */
function isSlow(regex: RegExp): boolean {
  const samples = ['', ...matching(regex)];
  const isAttack = (text: string) => Array.from({ length: TIMES }).every(() => timed(regex, text) > SLOW_MS);
  return LENGTHS.some((length) => [...attacksOn(samples, length)].some(isAttack));
}

function timed(regex: RegExp, text: string): number {
  const from = performance.now();
  text.replace(regex, '');
  return performance.now() - from;
}

/** Its input is always an amount formatted by us, of at most 20 characters. */
const OF_OUR_OWN_AMOUNTS = ['src/payments/checkout-page/parts.ts'];

test('no regular expression takes more than linear time for any input', () => {
  const files = FOLDERS.flatMap(filesOf).filter((file) => !OF_OUR_OWN_AMOUNTS.includes(file));
  const all = files.flatMap(regexesIn);
  expect(all.length).toBeGreaterThan(100);
  expect(all.filter(({ regex }) => isSlow(regex)).map(({ place }) => place)).toEqual([]);
}, 120_000);

test.each([/^(a+)+$/, /\s+$/, /x*y*x*$/, /^[a-z]+\/json\s*;?\s*$/])(
  '%s would be found',
  (regex) => {
    expect(isSlow(regex)).toBe(true);
  },
  60_000,
);
