import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const PROJECT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meskot-bundle-'));
});
afterAll(async () => rm(folder, { recursive: true }));

test('"meskot workflows bundle" writes all workflows into one file, and exits with 2 without a file name', async () => {
  const file = join(folder, 'workflows.js');
  const meskot = ['--import', 'tsx/esm', 'src/cli.ts', 'workflows', 'bundle'];
  await run(process.execPath, [...meskot, file], { cwd: PROJECT });
  const code = await readFile(file, 'utf8');
  expect(['payment', 'webhookDelivery'].filter((name) => !code.includes(`function ${name}(`))).toEqual([]);
  await expect(run(process.execPath, meskot, { cwd: PROJECT })).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("missing required argument 'file'"),
  });
});

describe('a copy of the project', () => {
  beforeAll(async () => {
    await Promise.all([
      ...['workflows', 'src', 'activities'].map((name) =>
        cp(join(PROJECT, name), join(folder, name), { recursive: true }),
      ),
      ...['node_modules', 'tsconfig.json', 'package.json'].map((name) =>
        symlink(join(PROJECT, name), join(folder, name)),
      ),
    ]);
  });

  /** The JSON in the last line that a script in the copy writes. */
  async function resultOf(script: string): Promise<unknown> {
    const args = ['--import', 'tsx/esm', '--input-type=module', '--eval', script];
    const { stdout } = await run(process.execPath, args, { cwd: folder, timeout: 50_000 });
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  }

  test('a worker whose workflows cannot be bundled logs an error and retries until they can', async () => {
    const script = `
      import { renameSync } from 'node:fs';
      import { startTemporalWorkers } from './src/temporal/workers.ts';
      const lines = [];
      const until = async (line) => {
        while (!lines.includes(line)) await new Promise((resolve) => setTimeout(resolve, 20));
      };
      const note = (details, message) => void (message && lines.at(-1) !== message && lines.push(message));
      renameSync('workflows', 'elsewhere');
      const workers = startTemporalWorkers({ config: { TEMPORAL_ADDRESS: '127.0.0.1:1' }, log: { error: note, warn: note } });
      await until('The workflows could not be bundled; retrying');
      renameSync('elsewhere', 'workflows');
      await until('Temporal is unavailable; retrying');
      await workers.stop();
      console.log(JSON.stringify(lines));`;
    expect(await resultOf(script)).toEqual([
      'The workflows could not be bundled; retrying',
      'Temporal is unavailable; retrying',
    ]);
  });
});
