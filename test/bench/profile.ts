import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import pg from 'pg';

const LINES_MAX = 40;
const STATEMENT_CHARACTERS_MAX = 300;

/** Forgets what PostgreSQL has counted until now. */
export async function forgetStatements(serverUrl: string): Promise<void> {
  await ask(serverUrl, 'SELECT pg_stat_statements_reset()');
}

/** Writes what a step's statements took, those that took longest first, to <step>-statements.txt. */
export async function writeStatements(
  serverUrl: string,
  { folder, step }: { folder: string; step: string },
): Promise<void> {
  const found = await ask(
    serverUrl,
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

async function ask(serverUrl: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: serverUrl });
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

/** Beside each CPU profile, where its process's own time went by function: <name>.txt. */
export async function summariseProfiles(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.cpuprofile'));
  for (const name of names) {
    const profile = JSON.parse(await readFile(join(folder, name), 'utf8')) as Profile;
    await writeFile(join(folder, name.replace('.cpuprofile', '.txt')), functionsOf(profile));
  }
}

function functionsOf({ nodes, samples, timeDeltas }: Profile): string {
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const micros = new Map<string, number>();
  samples.forEach((id, index) => {
    const place = places.get(id) ?? '';
    if (place !== '(idle)') micros.set(place, (micros.get(place) ?? 0) + (timeDeltas[index] ?? 0));
  });
  const all = [...micros.values()].reduce((sum, one) => sum + one, 0);
  const top = [...micros].toSorted(([, a], [, b]) => b - a).slice(0, LINES_MAX);
  const lines = top.map(([place, us]) => `${((100 * us) / all).toFixed(1).padStart(5)} %  ${place}`);
  return `${Math.round(all / 1_000)} ms\n${lines.join('\n')}\n`;
}

function placeOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  if (functionName.startsWith('(')) return functionName;
  const file = url.replace(/^.*\/(node_modules|dist)\//, '');
  return `${functionName || 'anonymous'} ${file}:${lineNumber + 1}`;
}
