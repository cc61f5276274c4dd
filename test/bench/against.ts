import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import type { Goal } from './goals.ts';
import { median } from './numbers.ts';
import { tableOf, type Row } from './sheet.ts';

const run = promisify(execFile);
const PROJECT = resolve(import.meta.dirname, '../..');
const OUTPUT_BYTES_MAX = 50_000_000;

type Comparison = {
  commit: string;
  steps: readonly string[];
  rounds: number;
  isShort: boolean;
  say: (line: string) => void;
};

/** The figures of a run by goal. */
type Figures = Map<string, { measured: number; unit: string }>;

/**
 * Runs the steps of this folder's program and of another commit's in turns, so that the machine's other load affects both
 * alike. Each commit has a folder of its own, each run servers and a build of its own; the other commit is measured by its
 * own bench. Returns a table: the medians, and their ratio with the smallest and the largest of a round.
 */
export async function compareWith({ commit, steps, rounds, isShort, say }: Comparison): Promise<string> {
  const { stdout } = await git('rev-parse', '--short', '--verify', `${commit}^{commit}`);
  const name = stdout.trim();
  const folder = await mkdtemp(join(tmpdir(), `meskot-${name}-`));
  try {
    await git('archive', '--output', join(folder, 'files.tar'), name);
    await run('tar', ['--extract', '--file', 'files.tar'], { cwd: folder });
    await installPackages(folder, say);
    const before: Figures[] = [];
    const now: Figures[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const both = [
        [folder, before],
        [PROJECT, now],
      ] as const;
      // Whoever is first in a round is second in the next.
      for (const [where, all] of round % 2 === 0 ? both : both.toReversed()) {
        say(`round ${round + 1} of ${rounds}: ${where === PROJECT ? 'this folder' : name}`);
        all.push(await measure(where, steps, isShort));
      }
    }
    return `This folder against ${name}, ${rounds} rounds\n${tableOf(compare(before, now)).join('\n')}\n`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const git = (...args: string[]) => run('git', args, { cwd: PROJECT });

/** Those of this folder, unless the commit has others. */
async function installPackages(folder: string, say: Comparison['say']): Promise<void> {
  const lockOf = (of: string): Promise<string> => readFile(join(of, 'package-lock.json'), 'utf8');
  if ((await lockOf(folder)) === (await lockOf(PROJECT))) {
    await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
    return;
  }
  say('installing the packages of the other commit');
  await run(process.execPath, ['scripts/install-if-needed.mjs'], { cwd: folder, maxBuffer: OUTPUT_BYTES_MAX });
}

async function measure(folder: string, steps: readonly string[], isShort: boolean): Promise<Figures> {
  const only = steps.flatMap((step) => ['--only', step]);
  const args = ['run', '--silent', 'bench', '--', '--json', ...only, ...(isShort ? ['--short'] : [])];
  const { stdout } = await run('npm', args, { cwd: folder, maxBuffer: OUTPUT_BYTES_MAX });
  const { goals } = JSON.parse(stdout) as { goals: Goal[] };
  return new Map(goals.map(({ of, what, measured, unit }) => [`${of} ${what}`, { measured, unit }]));
}

/** The figures that both have, in the same unit, and that have a ratio: none before was 0. */
export function compare(before: readonly Figures[], now: readonly Figures[]): Row[] {
  return [...(now[0] ?? [])].flatMap(([name, { unit }]) => {
    const valueOf = (one: Figures): number => {
      const figure = one.get(name);
      return figure?.unit === unit ? figure.measured : Number.NaN;
    };
    const [old, recent] = [before.map(valueOf), now.map(valueOf)];
    if ([...old, ...recent].some(Number.isNaN) || old.includes(0)) return [];
    const ratios = recent.map((value, round) => value / (old[round] ?? Number.NaN));
    return {
      Figure: name,
      unit,
      before: median(old),
      now: median(recent),
      'now / before': median(ratios),
      lowest: Math.min(...ratios),
      highest: Math.max(...ratios),
    };
  });
}
