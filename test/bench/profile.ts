import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import pg from 'pg';

const LINES_MAX = 40;
const STATEMENT_CHARACTERS_MAX = 300;

/** Resets PostgreSQL's statement statistics. */
export async function forgetStatements(superuserUrl: string): Promise<void> {
  await query(superuserUrl, 'SELECT pg_stat_statements_reset()');
}

/** Writes the times of a step's statements, longest first, to <step>-statements.txt. */
export async function writeStatements(
  superuserUrl: string,
  { folder, step }: { folder: string; step: string },
): Promise<void> {
  const found = await query(
    superuserUrl,
    `SELECT calls, round(total_exec_time) AS total_ms, round(mean_exec_time::numeric, 3) AS mean_ms,
            round(max_exec_time::numeric, 1) AS max_ms, rows, regexp_replace(query, '\\s+', ' ', 'g') AS query
     FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT ${LINES_MAX}`,
  );
  const lines = found.map(({ calls, total_ms, mean_ms, max_ms, rows, query }) =>
    [calls, total_ms, mean_ms, max_ms, rows, String(query).slice(0, STATEMENT_CHARACTERS_MAX)].join('\t'),
  );
  await writeFile(
    join(folder, `${step}-statements.txt`),
    `calls\tms\tmean\tmax\trows\tstatement\n${lines.join('\n')}\n`,
  );
}

async function query(superuserUrl: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
};

/** Writes <name>.txt beside each CPU profile: the process's own time by function. */
export async function summariseProfiles(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.cpuprofile'));
  for (const name of names) {
    const profile = JSON.parse(await readFile(join(folder, name), 'utf8')) as Profile;
    await writeFile(join(folder, name.replace('.cpuprofile', '.txt')), functionsOf(profile));
  }
}

/**
 * A process's own time by package or source file, then by function. Includes time in which other processes had the
 * core.
 */
function functionsOf({ nodes, samples, timeDeltas }: Profile): string {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const [files, functions] = [new Map<string, number>(), new Map<string, number>()];
  let all = 0;
  samples.forEach((id, index) => {
    const frame = frames.get(id);
    if (!frame || frame.functionName === '(idle)') return;
    const us = timeDeltas[index] ?? 0;
    all += us;
    const [file, place] = placeOf(frame);
    files.set(file, (files.get(file) ?? 0) + us);
    functions.set(place, (functions.get(place) ?? 0) + us);
  });
  return `${Math.round(all / 1_000)} ms\n\n${topOf(files, all)}\n\n${topOf(functions, all)}\n`;
}

function topOf(micros: ReadonlyMap<string, number>, all: number): string {
  const top = [...micros].toSorted(([, a], [, b]) => b - a).slice(0, LINES_MAX);
  return top.map(([place, us]) => `${((100 * us) / all).toFixed(1).padStart(5)} %  ${place}`).join('\n');
}

function placeOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): [string, string] {
  // V8 and system functions have no file: (garbage collector), writev.
  if (url === '') return [functionName, functionName];
  const path = url.replace(/^.*\/(node_modules|dist)\//, '');
  const [, ofPackage] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  return [ofPackage ?? path, `${functionName || 'anonymous'} ${path}:${lineNumber + 1}`];
}
