import { readFileSync } from 'node:fs';

import { defineSearchAttributeKey } from '@temporalio/common';

import { PERMISSIONS } from '../../src/access/permissions.ts';
import { readConfig } from '../../src/config.ts';
import type { OperatorRole } from '../../src/http/route.ts';
import { newId } from '../../src/lib/ids.ts';
import { createTemporalGateway } from '../../src/temporal/client.ts';
import { SCHEDULES } from '../../src/temporal/requirements.ts';
import { DELIVERY_STATUSES } from '../../src/webhooks/delivery/states.ts';
import { testStack } from '../support/stack-facts.ts';
import { connectTestTemporal, type TestTemporal } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { productDocument, productRoutes } from './document.ts';

const read = (page: string): string => readFileSync(new URL(`../../docs/operations/${page}`, import.meta.url), 'utf8');

/** The rows of a page's tables that begin with this, cell by cell. */
const rowsOf = (page: string, begin: RegExp): string[][] =>
  read(page)
    .split('\n')
    .filter((line) => begin.test(line))
    .map((line) => line.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, '').trim()));

const wordsIn = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

describe("the operators' page", () => {
  test('documents for each change the roles that the code allows', () => {
    const rows = rowsOf('operators.md', /^\| `[a-z-]+\.[a-z-]+`/);
    const documented = rows.flatMap(([actions, roles]) => wordsIn(actions).map((action) => [action, wordsIn(roles)]));
    const permitted = Object.entries<{ roles: readonly OperatorRole[] }>(PERMISSIONS).map(([action, { roles }]) => [
      action,
      roles.filter((role) => role !== 'admin'),
    ]);
    expect(documented.length).toBe(permitted.length);
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(permitted));
  });
});

test("the API description documents for each operators' route the roles that the code allows", () => {
  const { paths } = productDocument() as {
    paths: Record<string, Record<string, { operationId: string; description: string }>>;
  };
  const enqueued = new Map(
    Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .map(({ operationId, description }) => [operationId, description]),
  );
  for (const { operationId, auth } of productRoutes()) {
    if (auth.by !== 'operator') continue;
    const description = enqueued.get(operationId) ?? '';
    const roles = wordsIn(/Role of operators: (.+)\.$/m.exec(description)?.[1]);
    const expected = auth.roles.includes('viewer') ? [] : [...new Set([...auth.roles, 'admin'])];
    expect({ operationId, roles, any: description.includes('Any operator.') }).toEqual({
      operationId,
      roles: expected,
      any: expected.length === 0,
    });
  }
});

test('the metrics that the runbooks and the page of outages name are on the page of metrics', () => {
  const metrics = rowsOf('what-to-watch.md', /^\| `meskot_/).flatMap(([names]) => wordsIn(names));
  // Of deploy/backup.sh.
  const backup = ['meskot_backup_last_success_timestamp_seconds', 'meskot_backup_archive_failing'];
  const known = new Set([...metrics, ...backup]);
  const pages = read('runbooks.md') + read('provider-outages.md');
  const named = [...new Set(pages.match(/meskot_[a-z_]+/g))];
  expect(named).toContain('meskot_provider_circuit_open');
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

describe('the queries of the page of failed deliveries', () => {
  const rows = rowsOf('finding-a-failed-delivery.md', /workflows\?query=/);
  const queries = rows.map(([what = '', query = '', link = '']) => ({
    what,
    query: wordsIn(query)[0] ?? '',
    linked: new URL(/\((http[^)]+)\)/.exec(link)?.[1] ?? '').searchParams.get('query'),
  }));
  const merchantId = newId('mrc');
  const delivery = `delivery-${newId('evt')}-${newId('whs')}`;
  const started: string[] = [];
  let temporal: TestTemporal;

  beforeAll(async () => {
    temporal = await connectTestTemporal();
    const taskQueuePrefix = `${merchantId}-`;
    const config = readConfig({
      DATABASE_URL: 'postgresql://none',
      TEMPORAL_ADDRESS: testStack().temporalAddress,
      TASK_QUEUE_PREFIX: taskQueuePrefix,
    });
    const { connection } = temporal;
    await createTemporalGateway({ config, connection }).ensureTemporal();
    for (const { workflowType } of SCHEDULES)
      await temporal.client.schedule.getHandle(`${taskQueuePrefix}${workflowType}`).delete();
    await start('webhookDelivery', delivery);
    await start('withdrawal', `withdrawal-${newId('wd')}`);
  });
  afterAll(async () => {
    for (const id of started) await temporal.client.workflow.getHandle(id).terminate();
    await temporal.close();
  });

  /** One that FAILED, by its attributes; no worker runs it. */
  async function start(type: string, workflowId: string): Promise<void> {
    const keyword = (name: string) => defineSearchAttributeKey(name, 'KEYWORD');
    await temporal.client.workflow.start(type, {
      workflowId,
      taskQueue: `${merchantId}-none`,
      typedSearchAttributes: [
        { key: keyword('BusinessStatus'), value: 'FAILED' },
        { key: keyword('MerchantId'), value: merchantId },
      ],
    });
    started.push(workflowId);
  }

  async function list(query: string): Promise<string[]> {
    const found: string[] = [];
    for await (const { workflowId } of temporal.client.workflow.list({ query })) found.push(workflowId);
    return found;
  }

  test('are those of its links', () => {
    expect(queries.length).toBeGreaterThan(5);
    expect(queries.map(({ query }) => query)).toEqual(queries.map(({ linked }) => linked));
  });

  test('list deliveries only, by existing states', () => {
    for (const { query } of queries) {
      expect(query).toMatch(/^(?:WorkflowType="webhookDelivery" AND |WorkflowId STARTS_WITH "delivery-)/);
      const states = [...query.matchAll(/BusinessStatus="(\w+)"/g)].map(([, state]) => state);
      expect(DELIVERY_STATUSES).toEqual(expect.arrayContaining(states));
    }
  });

  test('are valid in Temporal, and find a failed delivery and no failed withdrawal', async () => {
    await until('both to be listed', async () => (await list(`MerchantId="${merchantId}"`)).length === 2);
    for (const { what, query } of queries) {
      const found = await list(query.replace('mrc_…', merchantId));
      expect({ what, found: found.includes(delivery) }).toEqual({
        what,
        found: /^failed(?:, of one merchant)?$/.test(what),
      });
      if (query.includes('MerchantId')) expect(found).toEqual([delivery]);
    }
  });
});
