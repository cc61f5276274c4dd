import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const PROJECT = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meskot-bundle-'));
});
afterAll(async () => rm(folder, { recursive: true }));

test('"meskot bundle" writes all workflows into one file, and asks for its name', async () => {
  const file = join(folder, 'workflows.js');
  const meskot = ['--import', 'tsx/esm', 'src/cli.ts', 'bundle'];
  await run(process.execPath, [...meskot, file], { cwd: PROJECT });
  const code = await readFile(file, 'utf8');
  expect(['payment', 'webhookDelivery'].filter((name) => !code.includes(`function ${name}(`))).toEqual([]);
  await expect(run(process.execPath, meskot, { cwd: PROJECT })).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('meskot bundle FILE'),
  });
});

test('a kept bundle is made anew when a workflow changes, wherever in their folder', async () => {
  await Promise.all([
    ...['workflows', 'src', 'activities'].map((name) =>
      cp(join(PROJECT, name), join(folder, name), { recursive: true }),
    ),
    ...['node_modules', 'tsconfig.json', 'package.json'].map((name) =>
      symlink(join(PROJECT, name), join(folder, name)),
    ),
  ]);
  const script = `
    import { appendFileSync, statSync } from 'node:fs';
    import { bundleWorkflowsOnce } from './src/workflow-bundle.ts';
    const made = async () => statSync((await bundleWorkflowsOnce('.', console)).codePath).ino;
    const first = await made();
    const second = await made();
    appendFileSync('workflows/delivery/showing.ts', '\\nexport const more = 1;\\n');
    console.log(JSON.stringify([first === second, first === (await made())]));`;
  const args = ['--import', 'tsx/esm', '--input-type=module', '--eval', script];
  const { stdout } = await run(process.execPath, args, { cwd: folder });
  expect(stdout.trim()).toBe('[true,false]');
});
