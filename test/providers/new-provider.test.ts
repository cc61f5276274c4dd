import { execFile } from 'node:child_process';
import { appendFile, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { createKey, createOperatorKey } from '../../src/access/api-keys.ts';
import { createOperator } from '../../src/access/operators.ts';
import { addisDay } from '../../src/lib/dates.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { buildProgram } from '../support/build-program.ts';
import { createTestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { startProgram, type Executable, type Program } from '../support/program.ts';
import { controlSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { createWorkerFixture, type WorkerFixture } from '../support/worker.ts';

const PROJECT = resolve(import.meta.dirname, '../..');

/** All that a provider needs that shares the messages of another one: a folder, */
const MANIFEST = `import { cbeBirr } from '../cbe-birr/manifest.ts';
import type { Manifest } from '../manifest.ts';

export const selam = {
  ...cbeBirr,
  id: 'SELAM',
  name: 'Selam Pay',
  transactionThrough: 'selampay',
  position: 5,
  issuer: 'Selam Pay',
  sandbox: {
    path: '/selam',
    credentials: { companyName: 'Meskot', tillCode: '400001', token: 'selam-token', hashKey: 'selam-hash-key' },
  },
} as const satisfies Manifest;
`;
/** and a line. */
const LINE = `export { selam } from './selam/manifest.ts';\n`;

let folder: string;
let fixture: WorkerFixture;
let program: Executable;
let settings: Record<string, string>;
let url: string;
const programs: Program[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meskot-new-provider-'));
  const copy = join(folder, 'copy');
  await mkdir(copy);
  for (const name of ['src', 'workflows', 'activities', 'package.json']) {
    await cp(join(PROJECT, name), join(copy, name), { recursive: true });
  }
  await symlink(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
  await mkdir(join(copy, 'src/providers/selam'));
  await writeFile(join(copy, 'src/providers/selam/manifest.ts'), MANIFEST);
  await appendFile(join(copy, 'src/providers/manifests.ts'), LINE);
  const built = join(folder, 'program');
  await buildProgram(built, { copy });
  program = { node: process.execPath, args: (command) => [join(built, 'dist/src/cli.js'), command] };

  const [apiPort, consolePort, simulatorPort] = [await anyFreePort(), await anyFreePort(), await anyFreePort()];
  url = `http://127.0.0.1:${apiPort}`;
  const own = {
    API_PORT: String(apiPort),
    CONSOLE_PORT: String(consolePort),
    SIMULATOR_PORT: String(simulatorPort),
    SIMULATOR_URL: `http://127.0.0.1:${simulatorPort}`,
    PUBLIC_BASE_URL: url,
    OPERATORS_ON_PUBLIC_API: 'true',
    // Tests poll.
    RATE_LIMIT_SANDBOX_PER_SECOND: '0',
    TASK_QUEUES: 'money',
  };
  fixture = await createWorkerFixture(own, await createTestDatabase());
  const { TEMPORAL_ADDRESS, TASK_QUEUE_PREFIX } = fixture.config;
  settings = { ...own, DATABASE_URL: fixture.database.url, TEMPORAL_ADDRESS, TASK_QUEUE_PREFIX };
}, 180_000);
afterAll(async () => {
  await Promise.all(programs.map((one) => one.kill()));
  await fixture?.close();
  await rm(folder, { recursive: true });
});

/** Runs a command that ends. */
async function run(command: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)(program.node, program.args(command), {
    env: { ...process.env, ...env },
  });
  return stdout;
}

type Answer = { data: Record<string, unknown> };

async function ask<Body = Answer>(key: string, route: string, body?: object): Promise<Body> {
  const [method = '', path = ''] = route.split(' ');
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const answer = (await response.json()) as Body;
  if (!response.ok) throw new Error(`${route}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

test('a new provider is a folder and a line: a payment, a payout, a refund and a reconciled day go through it', async () => {
  const owner = { ...settings, DATABASE_URL: fixture.database.ownerUrl };
  expect(await run('migrate', owner)).toContain('Applied channel SELAM.');
  expect(await run('migrate', owner)).toContain('The schema is up to date.');
  for (const name of ['simulator', 'api', 'worker'] as const) {
    programs.push(await startProgram(name, settings, program));
  }
  const scope = await fixture.newMerchant();
  const deps = { pepper: fixture.config.API_KEY_PEPPER, clock: () => new Date() };
  const [key, operatorKey] = await fixture.db.transaction(async (trx) => {
    const { id } = await createOperator(trx, { name: 'Admin', email: 'admin@meskot.example', role: 'admin' });
    const made = await createKey({ trx, ...deps }, { ...scope, kind: 'secret' });
    return [made.secret, (await createOperatorKey({ trx, ...deps }, { operatorId: id })).secret] as const;
  });
  const channels = await ask<{ data: object[] }>(key, 'GET /api/checkout/channels');
  expect(channels.data.at(-1)).toMatchObject({
    channel: 'SELAM',
    transactionThrough: 'selampay',
    displayName: 'Selam Pay',
    usable: true,
    limits: { payIn: { min: 1, max: 150_000 }, payOut: { min: 1, max: 300_000, daily: 3_000_000 } },
  });

  const order = { checkoutOrderNo: 'SELAM-1', amount: 1_000, currency: 'ETB' };
  const session = await ask(key, 'POST /api/checkout/sessions', order);
  const { sessionId, transactionId } = session.data;
  await ask(key, `POST /api/checkout/sessions/${sessionId}/pay`, { channel: 'SELAM', phone: '0911000001' });
  const statusOf = async (path: string) => (await ask(key, `GET /api/checkout/${path}`)).data['status'];
  await until('the payment', async () => (await statusOf(`txns/${transactionId}`)) === 'SUCCESS');

  const destination = { phone: '0911000001', accountName: 'Abebe Bikila' };
  const payout = { requestId: 'OUT-1', amount: 50, channel: 'SELAM', destination };
  await ask(key, 'POST /api/checkout/withdrawal', payout);
  await until('the payout', async () => (await statusOf('withdrawal/verify/OUT-1')) === 'SUCCESS');

  const refund = await ask(key, `POST /api/checkout/txns/${transactionId}/refunds`, {
    reference: 'BACK-1',
    amount: 20,
  });
  await until('the refund', async () => (await statusOf(`refunds/${String(refund.data['refundId'])}`)) === 'SUCCESS');

  const day = { channel: 'SELAM', environment: 'sandbox', day: addisDay(new Date()) };
  await ask(operatorKey, 'POST /api/ops/reconciliation/run', day);
  const compared = async () => {
    const { data } = await ask<{ data: Record<string, unknown>[] }>(
      operatorKey,
      'GET /api/ops/reconciliation?channel=SELAM',
    );
    return data.find(({ isRunning }) => isRunning === false);
  };
  expect(await until('the day', compared)).toMatchObject({ ...day, status: 'CLEAN' });
  const { totals } = await controlSimulator(settings['SIMULATOR_URL'] ?? '').journal();
  expect(totals).toMatchObject({ SELAM: { received: '1000.00', paidOut: '50.00', refunded: '20.00' } });
  await expectLedgerHolds(fixture.db);
}, 180_000);
