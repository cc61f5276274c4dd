import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client, Connection } from '@temporalio/client';

import { addisDay } from '../../src/lib/dates.ts';
import { processStartTime } from '../../src/local/child-process.ts';
import type { Status } from '../../src/local/status.ts';
import { clearHouse, createHouse, READY_WITHIN_MS, startIn, type House, type Run } from './house.ts';

describe('a running start', () => {
  let house: House;
  let started: Run;
  /** What it says of itself while it runs. */
  let facts: Status;
  let stranger: Server;

  beforeAll(async () => {
    house = await createHouse();
    stranger = createServer().listen(Number(house.env['POSTGRES_PORT']), '127.0.0.1');
    started = await startIn(house);
    facts = await house.status();
  }, READY_WITHIN_MS);
  afterAll(async () => {
    stranger.close();
    await clearHouse(house, started);
  }, 20_000);

  test('names a port that was taken and uses the next free one', () => {
    const taken = house.env['POSTGRES_PORT'];
    expect(started.output()).toContain(`port ${taken} is taken; PostgreSQL uses `);
    const { databaseUrl } = facts;
    expect(databaseUrl).toMatch(/^postgresql:\/\/meskot_app:/);
    expect(databaseUrl).not.toContain(`:${taken}/`);
  });

  test('keeps what it writes for its own user', async () => {
    const open: string[] = [];
    for (const entry of await readdir(house.dataFolder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      // PostgreSQL sees to its own, and removes files at any moment.
      if (path.includes('/cluster/')) continue;
      const found = await stat(path).catch(() => null);
      const isFolderAboveDatabase = entry.isDirectory() && entry.name === 'postgres';
      if (found && (found.mode & (isFolderAboveDatabase ? 0o066 : 0o077)) !== 0) open.push(path);
    }
    expect(open).toEqual([]);
    expect((await stat(house.dataFolder)).mode & 0o066).toBe(0);
  });

  test('starts the worker after everybody it sends to and asks', () => {
    const steps = started
      .output()
      .match(/^(Demo data|Worker|Provider simulator|API|Demo shop|Workflows)(?= +[\d.]+ s)/gm);
    expect(steps).toEqual(['Demo data', 'Provider simulator', 'API', 'Demo shop', 'Worker', 'Workflows']);
  });

  test('warns of nothing until it runs', () => {
    const [starting] = started.output().split('Meskot runs');
    expect(starting).not.toMatch(/^(warning|error):|Warning:/m);
  });

  test('is paid by itself, and says nothing of it on the terminal', async () => {
    const { apiUrl, sandboxKey } = facts;
    const today = addisDay(new Date());
    const query = `startDate=${today}&endDate=${today}&status=SUCCESS&currency=ETB`;
    const found = async () => {
      const headers = { authorization: `Bearer ${sandboxKey}` };
      return (await fetch(`${apiUrl}/api/checkout/txns/get_all_txns?${query}`, { headers })).text();
    };
    const deadline = Date.now() + 20_000;
    while (!(await found()).includes('WALKIN-') && Date.now() < deadline) await sleep(200);
    expect(await found()).toContain('WALKIN-');
    expect(started.output()).not.toContain('WALKIN-');
  }, 30_000);

  test('shows what an operator watches, of the API, the worker and Temporal', async () => {
    const { metricsUrl } = facts;
    const watched = [
      'meskot_http_requests_total{route=',
      'meskot_webhook_deliveries_total{outcome="delivered"',
      'meskot_webhook_oldest_overdue_seconds{',
      'meskot_webhook_dead_letters_pending{',
      'meskot_outbox_pending{',
      'meskot_outbox_oldest_age_seconds{',
      'meskot_payments_pending{age="under 1 min"',
      'meskot_database_pool_wait_seconds_count{',
      'meskot_database_pool_connections{pool="api"',
      'meskot_database_pool_connections{pool="worker"',
      'nodejs_eventloop_lag_p99_seconds',
      'temporal_workflow_task_execution_latency',
    ];
    const missing = async (): Promise<string[]> => {
      const text = await (await fetch(metricsUrl ?? '')).text();
      return watched.filter((name) => !text.includes(`\n${name}`));
    };
    // Some begin with the first workflow.
    const deadline = Date.now() + 20_000;
    while ((await missing()).length > 0 && Date.now() < deadline) await sleep(200);
    expect(await missing()).toEqual([]);
  });

  test('has failed deliveries to try the runbook on: a parked workflow, which a resend delivers', async () => {
    const { temporalAddress, apiUrl, sandboxKey } = facts;
    const connection = await Connection.connect({ address: temporalAddress ?? '' });
    const workflows = new Client({ connection }).workflow;
    const failed = async (): Promise<string | undefined> => {
      for await (const one of workflows.list({ query: 'BusinessStatus="FAILED" AND LastHttpStatus=503' })) {
        return one.workflowId;
      }
      return undefined;
    };
    const deadline = Date.now() + 40_000;
    while ((await failed()) === undefined && Date.now() < deadline) await sleep(200);
    const workflowId = (await failed()) ?? '';
    expect(workflowId).toMatch(/^delivery-evt_/);
    const eventId = workflowId.split('-')[1] ?? '';
    const headers = { 'x-api-key': sandboxKey ?? '', 'content-type': 'application/json' };
    const eventUrl = `${apiUrl}/api/checkout/webhooks/events/${eventId}`;
    const asked = await fetch(`${eventUrl}/resend`, { method: 'POST', headers, body: '{}' });
    expect(asked.ok).toBe(true);
    await expect(workflows.getHandle(workflowId).result()).resolves.toBe('DELIVERED');
    await connection.close();
  }, 60_000);

  test('tells how the demo merchant without a key gets one', () => {
    expect(started.output()).toMatch(/"New Shop" has no key yet.*\n.*keys create --merchant mrc_01NEWSH0P/);
  });

  test('tells a script everything about itself', () => {
    expect(facts).toMatchObject({
      running: true,
      pid: started.process.pid,
      temporalAddress: `127.0.0.1:${house.env['TEMPORAL_PORT']}`,
      temporalUiUrl: `http://localhost:${house.env['TEMPORAL_UI_PORT']}`,
      dataDir: house.dataFolder,
    });
  });

  test('keeps what it knows where only its owner can read it', async () => {
    const { mode } = await stat(join(house.dataFolder, 'state.json'));
    expect(mode & 0o777).toBe(0o600);
  });

  test('is not disturbed by a second one, which says where the first one runs', async () => {
    const second = house.run('start');
    await expect(second.ended).resolves.toBe(0);
    expect(second.output()).toContain(`Meskot runs here already, as process ${started.process.pid}`);
  });

  test('is not wiped under its feet', async () => {
    const reset = house.run('reset');
    await expect(reset.ended).resolves.toBe(1);
    expect(reset.output()).toContain('stop it first');
    expect(existsSync(house.dataFolder)).toBe(true);
  });

  // Last: nothing runs after it.
  test(
    'that was killed is taken up by the next one, which is quick, ends cleanly and can be wiped',
    async () => {
      started.process.kill('SIGKILL');
      await started.ended;
      await expect(house.status()).resolves.toMatchObject({ running: false, pid: null, temporalAddress: null });

      started = await startIn(house);
      expect(started.output()).toMatch(/PostgreSQL .* was still running/);
      expect(started.output()).toMatch(/Temporal .* was still running/);
      await expect(house.status()).resolves.toMatchObject({ running: true, sandboxKey: facts.sandboxKey });
      const postgresPid = Number(
        (await readFile(join(house.dataFolder, 'postgres/cluster/postmaster.pid'), 'utf8')).split('\n')[0],
      );

      const askedAt = Date.now();
      started.process.kill('SIGINT');
      await expect(started.ended).resolves.toBe(0);
      expect(Date.now() - askedAt).toBeLessThan(6_000);
      expect(started.output()).toMatch(/\nStopped\.\n$/);
      await expect(processStartTime(postgresPid)).resolves.toBeUndefined();

      await expect(house.run('reset').ended).resolves.toBe(0);
      expect(existsSync(house.dataFolder)).toBe(false);
    },
    READY_WITHIN_MS,
  );
});

describe('the command line', () => {
  test.each([
    ['strat', 'did you mean "start"?'],
    ['frobnicate', '--help'],
  ])('an unknown command "%s" is answered with a hint and exit code 2', async (name, hint) => {
    const { run, folder } = await createHouse();
    const asked = run(name);
    await expect(asked.ended).resolves.toBe(2);
    expect(asked.output()).toContain(hint);
    await rm(folder, { recursive: true });
  });

  test.each([['keys', 'list'], ['merchants', 'list'], ['seed']])(
    '%s without a database that answers says so, and what to do',
    async (...words) => {
      const { run, folder, env } = await createHouse();
      env['DATABASE_URL'] = 'postgresql://meskot@127.0.0.1:1/meskot';
      env['TEMPORAL_ADDRESS'] = '127.0.0.1:1';
      const asked = run(...words);
      await expect(asked.ended).resolves.toBe(5);
      expect(asked.output()).toBe(
        'The database does not answer (connect ECONNREFUSED 127.0.0.1:1). ' +
          'Run "npm start", which brings its own, or set DATABASE_URL to one that runs.\n',
      );
      await rm(folder, { recursive: true });
    },
  );

  test('an LISTEN_HOST that others could reach is refused before anything is done', async () => {
    const { run, folder, dataFolder, env } = await createHouse();
    env['LISTEN_HOST'] = '0.0.0.0';
    const asked = run('start');
    await expect(asked.ended).resolves.toBe(1);
    expect(asked.output()).toMatch(/^LISTEN_HOST is "0\.0\.0\.0", but local mode listens on this machine only .*\n$/);
    expect(existsSync(dataFolder)).toBe(false);
    await rm(folder, { recursive: true });
  });

  test('a TEMPORAL_CLI_PATH that is no program is refused before anything is done', async () => {
    const { run, folder, dataFolder, env } = await createHouse();
    env['TEMPORAL_CLI_PATH'] = '/nope';
    const asked = run('start');
    await expect(asked.ended).resolves.toBe(1);
    expect(asked.output()).toBe('TEMPORAL_CLI_PATH is "/nope", which is not a Temporal CLI that runs here\n');
    expect(existsSync(dataFolder)).toBe(false);
    await rm(folder, { recursive: true });
  });
});
