import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { newId } from '../../src/lib/ids.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import { liveSettings } from '../providers/live.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startProgram, type Program } from '../support/program.ts';
import { testStack } from '../support/stack-facts.ts';
import { connectTestTemporal } from '../support/temporal.ts';

const PAGE = new URL('../../docs/operations/what-to-watch.md', import.meta.url);

type Exposed = { labels: Set<string>; roles: Set<string> };
/** Labels of every metric, or of the samples of a histogram. */
const OF_ALL: ReadonlySet<string> = new Set(['role', 'le', 'quantile']);

type Row = { roles: string[]; labels: string[] };

const wordsIn = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

/** The rows of the page's tables of metrics: name, processes, labels, meaning. */
function documented(): Map<string, Row> {
  const lines = readFileSync(PAGE, 'utf8').split('\n');
  const rows = lines.filter((line) => /^\| `[a-z0-9_]+`(?:, `[a-z0-9_]+`)* +\| (?:API|worker|both)/.test(line));
  return new Map(
    rows.flatMap((line) => {
      const [, names, of = '', labels] = line.split('|');
      const roles = { API: ['api'], worker: ['worker'], both: ['api', 'worker'] }[of.trim()] ?? [];
      return wordsIn(names).map((name): [string, Row] => [name, { roles, labels: wordsIn(labels).toSorted() }]);
    }),
  );
}

/** The metrics of processes, without the suffixes of histograms. */
async function readExposed(programs: Record<string, Program>): Promise<Map<string, Exposed>> {
  const exposed = new Map<string, Exposed>();
  for (const [role, { metricsUrl }] of Object.entries(programs)) {
    let metric: Exposed | undefined;
    for (const line of (await (await fetch(metricsUrl)).text()).split('\n')) {
      const [, name] = /^# TYPE (\S+) /.exec(line) ?? [];
      if (name !== undefined) {
        metric = exposed.get(name) ?? { labels: new Set(), roles: new Set() };
        metric.roles.add(role);
        exposed.set(name, metric);
      }
      if (line.startsWith('#')) continue;
      for (const [, label = ''] of line.matchAll(/(\w+)="/g)) if (!OF_ALL.has(label)) metric?.labels.add(label);
    }
  }
  return exposed;
}

/** Work that fails in all ways that Temporal's core counts: a workflow of an unknown type, and an activity. */
async function failAtTemporal(prefix: string): Promise<void> {
  const temporal = await connectTestTemporal();
  const ids = [newId('evt'), newId('evt')];
  const [workflowId = '', unknownId = ''] = ids;
  await temporal.client.workflow.start('unknown', { workflowId: unknownId, taskQueue: `${prefix}webhooks` });
  const input = {
    deliveryId: 'whd_0',
    subscriptionId: 'whs_0',
    retryDelaysSeconds: [1],
    lastOutcome: null,
    nextAttemptAtMs: null,
  };
  const handle = await temporal.client.workflow.start('webhookDelivery', {
    workflowId,
    taskQueue: `${prefix}webhooks`,
    args: [input],
  });
  await handle.result();
  await temporal.client.workflow.getHandle(unknownId).terminate();
  await temporal.close();
}

describe('the page of metrics', () => {
  const prefix = `metrics-${randomBytes(4).toString('hex')}-`;
  const programs: Record<string, Program> = {};
  let database: TestDatabase;
  let exposed: Map<string, Exposed>;

  beforeAll(async () => {
    database = await createTestDatabase();
    const settings = {
      ...(liveSettings('http://127.0.0.1:9') as Record<string, string>),
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: testStack().temporalAddress,
      TASK_QUEUE_PREFIX: prefix,
      AWASH_CREDENTIALS_EXPIRE_ON: '2040-01-01',
      SMTP_URL: 'smtp://127.0.0.1:9',
      API_PORT: String(await anyFreePort()),
    };
    programs['api'] = await startProgram('api', settings);
    programs['worker'] = await startProgram('worker', settings);
    await failAtTemporal(prefix);
    exposed = await readExposed(programs);
  });
  afterAll(async () => {
    for (const program of Object.values(programs)) await program.kill();
    await database.drop();
  });

  test('names each metric that API and worker export, and no other', () => {
    const own = [...exposed.keys()].filter((name) => !name.startsWith('temporal_'));
    const named = [...documented().keys()].filter((name) => !name.startsWith('temporal_'));
    expect(named.toSorted()).toEqual(own.toSorted());
  });

  test('names metrics of Temporal that workers export', () => {
    const named = [...documented().keys()].filter((name) => name.startsWith('temporal_'));
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !exposed.has(name))).toEqual([]);
  });

  test('gives the processes that export each metric, and all its labels', () => {
    for (const [name, { roles, labels }] of documented()) {
      const found = exposed.get(name);
      expect({ name, roles }).toEqual({ name, roles: [...(found?.roles ?? [])].toSorted() });
      const unnamed = [...(found?.labels ?? [])].filter((label) => !labels.includes(label));
      expect({ name, unnamed }).toEqual({ name, unnamed: [] });
    }
  });
});
