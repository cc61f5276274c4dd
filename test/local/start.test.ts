import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client, Connection } from '@temporalio/client';

import { addisDay } from '../../src/lib/dates.ts';
import { openDatabase, rows } from '../../src/lib/db.ts';
import { processStartTime } from '../../src/local/child-process.ts';
import type { Status } from '../../src/local/commands.ts';
import { tokenOf } from '../portal/console.ts';
import { openBrowser } from '../portal/portal.ts';
import {
  removeInstallation,
  createInstallation,
  READY_WITHIN_MS,
  startIn,
  type Installation,
  type Run,
} from './installation.ts';

describe('npm start', () => {
  let installation: Installation;
  let started: Run;
  let info: Status;
  let stranger: Server;

  beforeAll(async () => {
    installation = await createInstallation();
    stranger = createServer().listen(Number(installation.env['POSTGRES_PORT']), '127.0.0.1');
    started = await startIn(installation);
    info = await installation.status();
  }, READY_WITHIN_MS);
  afterAll(async () => {
    stranger.close();
    await removeInstallation(installation, started);
  }, 20_000);

  test('prints a taken port and uses the next free one', () => {
    const taken = installation.env['POSTGRES_PORT'];
    expect(started.output()).toContain(`port ${taken} is taken; PostgreSQL uses `);
    const { databaseUrl } = info;
    expect(databaseUrl).toMatch(/^postgresql:\/\/meskot_app:/);
    expect(databaseUrl).not.toContain(`:${taken}/`);
  });

  test('writes files that only its own user can read', async () => {
    const open: string[] = [];
    for (const entry of await readdir(installation.dataFolder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      // PostgreSQL sees to its own, and removes files at any moment.
      if (path.includes('/cluster/')) continue;
      const found = await stat(path).catch(() => null);
      const isFolderAboveDatabase = entry.isDirectory() && entry.name === 'postgres';
      if (found && (found.mode & (isFolderAboveDatabase ? 0o066 : 0o077)) !== 0) open.push(path);
    }
    expect(open).toEqual([]);
    expect((await stat(installation.dataFolder)).mode & 0o066).toBe(0);
  });

  test('starts the worker after the services that it calls', () => {
    const steps = started
      .output()
      .match(/^(Demo data|Worker|Provider simulator|API|Demo shop|Workflows)(?= +[\d.]+ s)/gm);
    expect(steps).toEqual(['Demo data', 'Provider simulator', 'API', 'Demo shop', 'Worker', 'Workflows']);
  });

  test('prints no warning before it is ready', () => {
    const [starting = ''] = started.output().split('Meskot runs');
    expect(starting.match(/^(warning|error):.*|^.*Warning:.*/gm) ?? []).toEqual([]);
  });

  test('gets payments of demo customers, which it does not print', async () => {
    const { apiUrl, sandboxKey } = info;
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

  test('lets commands on the API work without any setting', async () => {
    const command = installation.run('merchants', 'list');
    await expect(command.ended).resolves.toBe(0);
    expect(command.output()).toMatch(/^createdAt \(EAT\) +merchantId .*\n.* New Shop\n/);
  });

  test('prints codes of a demo operator, each of which is accepted by the console once', async () => {
    const code = async (...email: string[]): Promise<string> => {
      const command = installation.run('demo', 'code', ...email);
      await command.ended;
      return command.output().trim();
    };
    const browser = openBrowser(info.consoleUrl ?? '');
    const enter = async (one: string): Promise<number> => {
      const page = await browser.signIn('operator@demo.invalid', info.portalPassword ?? '');
      return (await browser.post('/two-factor', { token: tokenOf(page), code: one, next: '/' })).status;
    };
    const first = await code();
    await expect(enter(first)).resolves.toBe(303);
    await expect(enter(first)).resolves.toBe(401);
    await expect(enter(await code('operator@demo.invalid'))).resolves.toBe(303);
  }, 60_000);

  test('exposes the metrics of the API, the worker and Temporal', async () => {
    const { metricsUrl } = info;
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

  test('has a parked delivery workflow that a resend completes, as in the runbook', async () => {
    const { temporalAddress, apiUrl, sandboxKey } = info;
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
    const resent = await fetch(`${eventUrl}/resend`, { method: 'POST', headers, body: '{}' });
    expect(resent.ok).toBe(true);
    await expect(workflows.getHandle(workflowId).result()).resolves.toBe('DELIVERED');
    await connection.close();
  }, 60_000);

  test('prints the command that creates a key for the demo merchant without one', () => {
    expect(started.output()).toMatch(/"New Shop" has no key yet.*\n.*keys invite mrc_01NEWSH0P/);
  });

  test('reports its addresses and pid by status --json', () => {
    expect(info).toMatchObject({
      running: true,
      pid: started.process.pid,
      temporalAddress: `127.0.0.1:${installation.env['TEMPORAL_PORT']}`,
      temporalUiUrl: `http://localhost:${installation.env['TEMPORAL_UI_PORT']}`,
      dataDir: installation.dataFolder,
    });
  });

  test('writes state.json readable by its own user only', async () => {
    const { mode } = await stat(join(installation.dataFolder, 'state.json'));
    expect(mode & 0o777).toBe(0o600);
  });

  test('keeps running when a second one starts, which prints the first process and exits with 0', async () => {
    const second = installation.run('start');
    await expect(second.ended).resolves.toBe(0);
    expect(second.output()).toContain(`Meskot runs here already, as process ${started.process.pid}`);
  });

  test('keeps running on reset, which fails with 1', async () => {
    const reset = installation.run('reset');
    await expect(reset.ended).resolves.toBe(1);
    expect(reset.output()).toContain('stop it first');
    expect(existsSync(installation.dataFolder)).toBe(true);
  });

  // Last: nothing runs after it.
  test(
    'after a kill -9 continues with the same data on the same ports, also with the demo merchant suspended, stops on SIGINT within 6 s, and can be reset',
    async () => {
      expect(started.output()).toContain('waits to be paid');
      const db = openDatabase({ url: info.databaseUrl ?? '', poolMax: 1, applicationName: 'start.test' });
      await rows(db, `UPDATE merchant SET status = 'SUSPENDED' WHERE id = :merchantId`, {
        merchantId: info.merchantId,
      });
      await db.destroy();
      started.process.kill('SIGKILL');
      await started.ended;
      await expect(installation.status()).resolves.toMatchObject({ running: false, pid: null, temporalAddress: null });

      started = await startIn(installation);
      const { temporalAddress, databaseUrl, sandboxKey } = info;
      const continued = { running: true, temporalAddress, databaseUrl, sandboxKey };
      await expect(installation.status()).resolves.toMatchObject(continued);
      expect(started.output()).not.toContain('waits to be paid');
      const postgresPid = Number(
        (await readFile(join(installation.dataFolder, 'postgres/cluster/postmaster.pid'), 'utf8')).split('\n')[0],
      );

      const signalledAt = Date.now();
      started.process.kill('SIGINT');
      await expect(started.ended).resolves.toBe(0);
      expect(Date.now() - signalledAt).toBeLessThan(6_000);
      expect(started.output()).toMatch(/\nStopped\.\n$/);
      await expect(processStartTime(postgresPid)).resolves.toBeUndefined();

      await expect(installation.run('reset').ended).resolves.toBe(0);
      expect(existsSync(installation.dataFolder)).toBe(false);
    },
    READY_WITHIN_MS,
  );
});

describe('the command line', () => {
  test.each([
    ['strat', 'Did you mean start?'],
    ['frobnicate', '--help'],
  ])('an unknown command "%s" prints a hint and exits with 2', async (name, hint) => {
    const { run, folder } = await createInstallation();
    const command = run(name);
    await expect(command.ended).resolves.toBe(2);
    expect(command.output()).toContain(hint);
    await rm(folder, { recursive: true });
  });

  test.each([[['keys', 'reencrypt']], [['ledger', 'verify']], [['demo', 'seed']]])(
    'meskot %j without a reachable database exits 5 with the next step',
    async (words) => {
      const { run, folder, env } = await createInstallation();
      env['DATABASE_URL'] = 'postgresql://meskot@127.0.0.1:1/meskot';
      env['TEMPORAL_ADDRESS'] = '127.0.0.1:1';
      const command = run(...words);
      await expect(command.ended).resolves.toBe(5);
      expect(command.output()).toBe(
        'The database does not answer (connect ECONNREFUSED 127.0.0.1:1). ' +
          'Run "npm start", which brings its own, or set DATABASE_URL to one that runs.\n',
      );
      await rm(folder, { recursive: true });
    },
  );

  test.each([
    [{}, 5, 'No API is known.\nNext: run "npm start" here, or set MESKOT_URL and MESKOT_OPERATOR_KEY.\n'],
    [{ MESKOT_URL: 'http://127.0.0.1:9999' }, 2, 'MESKOT_OPERATOR_KEY must be set: the key of an operator (ok_…).\n'],
    [
      { MESKOT_URL: 'pay', MESKOT_OPERATOR_KEY: 'ok_1' },
      2,
      /^MESKOT_URL must be a full address such as https:\/\/pay.example.et: /,
    ],
    [
      { MESKOT_URL: 'http://127.0.0.1:9999/', MESKOT_OPERATOR_KEY: 'ok_1' },
      5,
      /^The API at http:\/\/127.0.0.1:9999 does/,
    ],
  ])('a command on the API with the settings %j and no local start exits %i', async (settings, exitCode, output) => {
    const { run, folder, env } = await createInstallation();
    Object.assign(env, settings);
    const command = run('work', 'list');
    await expect(command.ended).resolves.toBe(exitCode);
    expect(command.output()).toEqual(typeof output === 'string' ? output : expect.stringMatching(output));
    await rm(folder, { recursive: true });
  });

  test('start rejects a LISTEN_HOST that other machines can reach before it creates anything', async () => {
    const { run, folder, dataFolder, env } = await createInstallation();
    env['LISTEN_HOST'] = '0.0.0.0';
    const command = run('start');
    await expect(command.ended).resolves.toBe(1);
    expect(command.output()).toMatch(/^LISTEN_HOST is "0\.0\.0\.0", but local mode listens on this machine only .*\n$/);
    expect(existsSync(dataFolder)).toBe(false);
    await rm(folder, { recursive: true });
  });

  test('start rejects a TEMPORAL_CLI_PATH that is no program before it creates anything', async () => {
    const { run, folder, dataFolder, env } = await createInstallation();
    env['TEMPORAL_CLI_PATH'] = '/nope';
    const command = run('start');
    await expect(command.ended).resolves.toBe(1);
    expect(command.output()).toBe('TEMPORAL_CLI_PATH is "/nope", which is not a Temporal CLI that runs here\n');
    expect(existsSync(dataFolder)).toBe(false);
    await rm(folder, { recursive: true });
  });
});
