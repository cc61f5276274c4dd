import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

import pino from 'pino';

import { prepare } from '../../src/app/commands/database.ts';
import { checkTemporal } from '../../src/app/doctor/temporal.ts';
import { environment, readConfig } from '../../src/config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import { readLocalSettings } from '../../src/local/settings.ts';
import { findTemporalBinary } from '../../src/local/temporal.ts';
import type { Missing } from '../../src/temporal/requirements.ts';
import { deliveryWorkflowId } from '../../src/webhooks/delivery/workflow.ts';
import { startReceiver } from '../support/receiver.ts';
import { testStack } from '../support/stack-facts.ts';
import {
  ADMINISTRATION,
  PERMISSION_DENIED,
  startTemporalProxy,
  type TemporalProxy,
  UNAUTHENTICATED,
} from '../support/temporal-proxy.ts';
import { until } from '../support/until.ts';
import { createWorkerFixture, type WorkerFixture } from '../support/worker.ts';

const PROJECT = resolve(import.meta.dirname, '../..');

let proxy: TemporalProxy;
let fixture: WorkerFixture;
/** Of a namespace of its own, of which nothing exists. */
let settings: Record<string, string>;

beforeEach(async () => {
  proxy = await startTemporalProxy();
  settings = {
    TEMPORAL_ADDRESS: proxy.address,
    TEMPORAL_NAMESPACE: `restricted-${randomBytes(4).toString('hex')}`,
    TASK_QUEUES: 'webhooks',
  };
  fixture = await createWorkerFixture(settings);
}, 30_000);
afterEach(async () => {
  await fixture.close();
  await proxy.close();
}, 60_000);

type Line = { level: number; msg: string; missing?: Missing[] };

/** A log whose lines a test reads. */
function readableLog() {
  const lines: Line[] = [];
  const log = pino({ level: 'info' }, { write: (text: string) => void lines.push(JSON.parse(text) as Line) });
  const about = (words: string): Line[] => lines.filter(({ msg }) => msg.includes(words));
  return { log, about };
}

/** What `meskot migrate` prints and warns of. */
async function migrate(): Promise<{ said: string[]; warned: string[] }> {
  const [said, warned]: [string[], string[]] = [[], []];
  await prepare(readConfig({ ...settings, DATABASE_URL: fixture.database.ownerUrl }), {
    project: PROJECT,
    print: (line) => void said.push(line),
    warn: (line) => void warned.push(line),
  });
  return { said, warned };
}

/** The lines of `meskot doctor` about Temporal. */
async function examine() {
  const config = readConfig({ ...settings, DATABASE_URL: fixture.database.url });
  const http = createHttpClient();
  const findings = await checkTemporal({
    config,
    env: settings,
    clock: systemClock,
    project: PROJECT,
    http,
    wrongNames: new Set(),
  });
  await http.close();
  return Object.fromEntries(
    findings.map(({ name, status, found, next }) => [name, { status, text: `${found} ${next}` }]),
  );
}

/** As an administrator of the server, who reaches it past the proxy. */
async function administer(command: string): Promise<void> {
  const { TEMPORAL_CLI_PATH: givenPath, XDG_CACHE_HOME: cacheFolder } = readLocalSettings(environment, PROJECT);
  const binary = await findTemporalBinary({ givenPath, cacheFolder });
  const direct = command.replace(/^temporal/, binary).replace(proxy.address, testStack().temporalAddress);
  await until('the server to know its new namespace', async () =>
    promisify(execFile)('sh', ['-c', direct]).then(
      () => true,
      (error: Error) => {
        if (!/Namespace .* is not found/.test(error.message)) throw error;
        return false;
      },
    ),
  );
}

const commandsIn = (text: string): string[] =>
  [...text.matchAll(/: (temporal .*)$/gm)].map(([, command = '']) => command);

test('migrate and doctor list what is missing, with commands after which everything is there', async () => {
  proxy.refuse(ADMINISTRATION);
  const { said, warned } = await migrate();
  expect(said).toEqual(['The schema is up to date.']);
  expect(warned).toHaveLength(1);
  const [first = ''] = warned;
  expect(first).toContain(`Temporal at ${proxy.address} lacks what it does not let us make; workers wait for it:`);
  const commands = commandsIn(first);
  expect(commands.map((one) => one.split(' ').slice(1, 4).join(' '))).toEqual([
    'operator namespace create',
    ...Array.from({ length: 9 }, () => 'operator search-attribute create'),
    'schedule create --schedule-id',
    'schedule create --schedule-id',
  ]);
  expect((await examine())['Temporal namespace']?.text).toContain(`its administrator runs: ${commands[0]}`);
  await administer(commands[0] ?? '');
  const unsearchable = await until('the server to know its new namespace', async () => {
    const findings = await examine();
    return findings['Temporal schedule dueReports']?.text.includes('does not exist') && findings;
  });
  expect(unsearchable['Temporal search attributes']).toMatchObject({ status: 'wrong' });
  expect(unsearchable['Temporal search attributes']?.text).toContain(commands.slice(1, -2).join(' && '));
  expect(unsearchable['Temporal schedule dueReports']?.text).toContain(`its administrator runs: ${commands.at(-1)}`);
  for (const command of commands.slice(1)) await administer(command);
  await until('the server to know the new attributes', async () => (await migrate()).warned.length === 0);
  expect((await migrate()).said.at(-1)).toBe(`Temporal at ${proxy.address} is prepared.`);
  expect(Object.values(await examine()).map((one) => one.status)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
}, 60_000);

test('a worker waits for what is missing, says so once, and works when an administrator has made it', async () => {
  proxy.refuse(ADMINISTRATION);
  const { log, about } = readableLog();
  const worker = fixture.startWorker({}, log);
  await until('the worker to try twice', async () => proxy.calls('RegisterNamespace') >= 2, 30_000);
  expect(about('unavailable')).toEqual([]);
  expect(about('does not let us create')).toHaveLength(1);
  const [{ missing = [], level } = { level: 0 }] = about('does not let us create');
  expect(level).toBe(50);
  for (const { next, stopsWorkers } of missing) if (stopsWorkers) await administer(next);
  await worker.ready;
  expect(about('does not let us create').at(-1)).toMatchObject({
    level: 40,
    missing: [
      { what: expect.stringContaining('the schedule '), stopsWorkers: false },
      { what: expect.stringContaining('the schedule '), stopsWorkers: false },
    ],
  });
  const receiver = await startReceiver();
  const scope = await fixture.newMerchant();
  const { id } = await fixture.subscribe(scope, { url: receiver.url });
  const eventId = await fixture.record(scope);
  await until('the delivery to have its workflow', async () => {
    const execution = { workflowId: deliveryWorkflowId(eventId, id) };
    const namespace = String(settings['TEMPORAL_NAMESPACE']);
    const { workflowService } = fixture.temporal.client;
    return workflowService.describeWorkflowExecution({ namespace, execution }).then(
      () => true,
      () => false,
    );
  });
  await receiver.close();
}, 90_000);

test('an identity that Temporal does not let in is told to check its key, and retried slowly', async () => {
  proxy.refuse({ GetSystemInfo: UNAUTHENTICATED, DescribeNamespace: UNAUTHENTICATED });
  const { log, about } = readableLog();
  fixture.startWorker({}, log);
  await until('the worker to have logged it', async () => about('refuses our calls').length > 0);
  expect(about('unavailable')).toEqual([]);
  expect((await migrate()).warned).toEqual([
    expect.stringMatching(/refuses our calls.*check TEMPORAL_API_KEY or the client certificate/),
  ]);
  expect((await examine())['Temporal']).toMatchObject({
    status: 'wrong',
    text: expect.stringContaining('refuses our calls. Check TEMPORAL_API_KEY'),
  });
  proxy.refuse({ DescribeNamespace: PERMISSION_DENIED });
  expect((await migrate()).warned).toEqual([expect.stringContaining('the use of the namespace')]);
}, 60_000);

test('a Temporal that is away is unavailable, which is logged at each try', async () => {
  await proxy.close();
  const { log, about } = readableLog();
  fixture.startWorker({}, log);
  await until('the worker to try twice', async () => about('Temporal is unavailable; retrying').length >= 2);
  expect(about('does not let us create')).toEqual([]);
  proxy = await startTemporalProxy();
}, 30_000);
