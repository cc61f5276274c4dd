import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { anyFreePort } from '../../src/lib/ports.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Executable, startProgram } from '../support/program.ts';
import { testStack } from '../support/stack-facts.ts';
import { buildImage, type Stage } from './build-image.ts';

/** Installing packages twice, from an empty cache on a busy machine. */
const BUILD_WITHIN_MS = 900_000;

let folder = '';
let image: Stage;
let database: TestDatabase | undefined;
let settings: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meskot-image-'));
  image = await buildImage(folder);
  database = await createTestDatabase();
  settings = {
    ...image.env,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: testStack().temporalAddress,
    TASK_QUEUE_PREFIX: `${randomBytes(4).toString('hex')}-`,
    API_KEY_PEPPER: randomBytes(24).toString('hex'),
    ENCRYPTION_KEYS: `key1:${randomBytes(32).toString('base64')}`,
    PUBLIC_BASE_URL: 'https://pay.example.et',
    PORTAL_URL: 'https://portal.example.et',
    CONSOLE_URL: 'https://console.example.et',
    SMTP_URL: 'smtp://127.0.0.1:1',
    KYC_DOCUMENTS_DIR: below('/var/lib/meskot/documents'),
    REPORTS_DIR: below('/var/lib/meskot/reports'),
    TRUSTED_PROXY_COUNT: '1',
  };
}, BUILD_WITHIN_MS);
afterAll(async () => {
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

const below = (path: string): string => join(image.root, path);
/** As a container starts it: the entrypoint in the working directory. */
const executable = (): Executable => {
  const [program, script = ''] = image.entrypoint;
  if (program !== 'node') throw new Error(`the entrypoint is not Node: ${program}`);
  return { node: image.node, args: (command) => [below(join(image.workdir, script)), command] };
};

/** The output of a command that ends, whatever its exit code. */
async function meskot(args: string[], more: Record<string, string> = {}): Promise<string> {
  const [command = '', ...rest] = args;
  const options = { env: { ...process.env, NODE_OPTIONS: '', ...settings, ...more } };
  const { node, args: before } = executable();
  return promisify(execFile)(node, [...before(command), ...rest], options).then(
    ({ stdout }) => stdout,
    (error: { stdout: string; stderr: string }) => `${error.stdout}${error.stderr}`,
  );
}

test('the image has only what its processes read', async () => {
  const names = async (path: string) => (await readdir(below(path))).toSorted();
  await expect(names('/app')).resolves.toEqual(['bin', 'dist', 'docs', 'migrations', 'node_modules', 'package.json']);
  await expect(names('/app/docs')).resolves.toEqual([
    'answers.json',
    'events.json',
    'examples.json',
    'guides',
    'openapi.json',
  ]);
  await expect(names('/app/node_modules/@temporalio/core-bridge/releases')).resolves.toHaveLength(1);
  const packages = await names('/app/node_modules');
  expect(packages).toContain('koa');
  expect(packages.filter((name) => ['jest', 'typescript', 'vite', 'playwright-core'].includes(name))).toEqual([]);
});

test('the engine is sent no test, no data and no secret', async () => {
  const sent = await readdir(join(folder, 'context'), { recursive: true });
  expect(sent.filter((name) => /(^|\/)(test|\.env|providers\.env|secrets|\.data|\.git)(\/|$)/.test(name))).toEqual([]);
});

test('meskot on the PATH of a container prints its commands', async () => {
  const { stdout } = await promisify(execFile)(image.node, [below('/app/bin/meskot'), '--help'], { env: settings });
  expect(stdout).toContain('migrate');
});

test('migrate finds the schema and prepares Temporal', async () => {
  const printed = await meskot(['migrate'], { DATABASE_URL: database?.ownerUrl ?? '' });
  expect(printed).toContain('The schema is up to date.');
  expect(printed).toMatch(/Temporal at \S+ is prepared\.|Made in Temporal at /);
});

test('doctor reads all settings', async () => {
  const findings: { name: string; status: string }[] = JSON.parse(await meskot(['doctor', '--json']));
  expect(findings.filter(({ name, status }) => name === 'settings' && status !== 'ok')).toEqual([]);
});

test('the first admin is made, and the ledger is verified', async () => {
  const admin = ['operators', 'create', '--admin', '--name', 'Sara Bekele', '--email', 'sara@example.et', '--json'];
  expect(JSON.parse(await meskot(admin))).toMatchObject({ secret: expect.stringMatching(/^ok_/) });
  await expect(meskot(['ledger', 'verify'])).resolves.toContain('yes');
});

test('API, worker and simulator start, and the API serves docs, checkout, portal and console', async () => {
  const [api, portal, console, simulator] = [
    await anyFreePort(),
    await anyFreePort(),
    await anyFreePort(),
    await anyFreePort(),
  ];
  const ports = { API_PORT: String(api), PORTAL_PORT: String(portal), CONSOLE_PORT: String(console) };
  const started = await Promise.all([
    startProgram('simulator', { ...settings, SIMULATOR_PORT: String(simulator) }, executable()),
    startProgram('api', { ...settings, ...ports }, executable()),
    startProgram('worker', settings, executable()),
  ]);
  const status = async (port: number, path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
  try {
    await expect(status(api, '/readyz')).resolves.toBe(200);
    await expect(status(api, '/docs')).resolves.toBe(200);
    await expect(status(api, '/openapi.json')).resolves.toBe(200);
    await expect(status(portal, '/sign-in')).resolves.toBe(200);
    await expect(status(console, '/sign-in')).resolves.toBe(200);
  } finally {
    await Promise.all(started.map(async (one) => one.terminate()));
  }
});
