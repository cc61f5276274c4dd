import { createOperator } from '../../src/access/operators.ts';
import type { OperatorRole } from '../../src/http/route.ts';
import { rows } from '../../src/lib/db.ts';
import { reconciliationOperatorRoutes } from '../../src/reconciliation/operator-routes.ts';
import { runCommandLine } from '../support/command-line.ts';
import { startTestServer, testServerDeps, type TestServer } from '../support/http.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { createReconciliationFixture, TODAY, type ReconciliationFixture } from './fixture.ts';

let fixture: ReconciliationFixture;
let server: TestServer;
let finance: string;
beforeAll(async () => {
  fixture = await createReconciliationFixture();
  const about = { name: 'finance', email: 'finance@meskot.example', role: 'finance' } as const;
  finance = (await fixture.db.transaction((trx) => createOperator(trx, about))).id;
  // A provider in both environments.
  const findProvider: typeof fixture.findProvider = (channel) => fixture.findProvider(channel, 'sandbox');
  const routes = reconciliationOperatorRoutes({ ...fixture, findProvider, workflowUrl: () => null });
  const authenticateKey = async (role: string) =>
    ({ kind: 'operator', operatorId: finance, keyId: 'opk_1', role: role as OperatorRole }) as const;
  server = await startTestServer(testServerDeps(fixture.db, { routes, authenticateKey, clock: fixture.clock }));
});
afterAll(async () => {
  await expectLedgerHolds(fixture.db);
  await server.close();
  await fixture.close();
});

const run = (...args: string[]) => runCommandLine({ url: server.url, key: 'finance' }, ['reconciliation', ...args]);
const days = async (...args: string[]) =>
  JSON.parse((await run('list', '--start-date', TODAY, '--end-date', TODAY, '--json', ...args)).text);
const requested = () => rows(fixture.db, 'SELECT environment, channel FROM reconciliation ORDER BY id');
const audited = () =>
  rows(
    fixture.db,
    'SELECT operator_id, action, resource_id, environment, reason FROM operator_audit ORDER BY occurred_at, id',
  );

test('a requested day is listed as running, and then with both sides and what the provider owes', async () => {
  expect((await run('run', '--day', TODAY, '--channel', 'AWASH')).exitCode).toBe(0);
  const list = ['list', '--start-date', TODAY, '--end-date', TODAY];
  expect((await run(...list)).text).toMatch(/2026-03-02 +AWASH +\S+ +yes +0/);
  await fixture.pay('AWASH');
  await fixture.live(2_000);
  await fixture.compare('AWASH');
  expect((await run(...list)).text).toMatch(/2026-03-02 +AWASH +CLEAN +no +0 +100\.50 +2026-03-02 12:0\d +-/);
  const sides = { payments: { count: 1, amount: 100.5 }, payouts: { count: 0 }, reversals: { count: 0 } };
  expect(await days()).toMatchObject([
    { day: TODAY, environment: 'sandbox', channel: 'AWASH', status: 'CLEAN', isRunning: false, discrepancies: 0 },
  ]);
  expect(await days()).toMatchObject([{ theirs: sides, ours: sides, owed: 100.5, error: null }]);
});

test('the request is audited with its operator and reason, one without the role is not', async () => {
  const before = (await audited()).length;
  await run('run', '--day', TODAY, '--channel', 'AWASH', '--reason', 'Their list was completed');
  const about = { action: 'reconciliation.run', resourceId: TODAY, environment: 'sandbox' };
  expect((await audited()).slice(before)).toEqual([
    { ...about, operatorId: finance, reason: 'Their list was completed' },
  ]);
  const words = ['reconciliation', 'run', '--day', TODAY, '--channel', 'TELEBIRR'];
  const refused = await runCommandLine({ url: server.url, key: 'viewer' }, words);
  expect([refused.exitCode, refused.notes]).toEqual([3, expect.stringContaining('finance')]);
  expect(await audited()).toHaveLength(before + 1);
  expect(await requested()).toEqual([{ environment: 'sandbox', channel: 'AWASH' }]);
});

test('what is live is compared and listed only with --environment live', async () => {
  expect((await run('run', '--day', TODAY, '--channel', 'AWASH', '--environment', 'live')).text).toMatch(
    /2026-03-02 +live +AWASH/,
  );
  expect((await audited()).at(-1)).toMatchObject({ environment: 'live' });
  expect((await run('run', '--day', TODAY)).exitCode).toBe(0);
  const environments = async (...args: string[]) => [
    ...new Set((await days(...args)).map(({ environment }: { environment: string }) => environment)),
  ];
  expect([await environments(), await environments('--environment', 'live')]).toEqual([['sandbox'], ['live']]);
  expect(await requested()).toContainEqual({ environment: 'sandbox', channel: 'TELEBIRR' });
  expect(await requested()).not.toContainEqual({ environment: 'live', channel: 'TELEBIRR' });
});

test.each([
  [['run', '--day', 'yesterday'], 'day must be a date as YYYY-MM-DD, got "yesterday"'],
  [['list', '--channel', 'VISA'], 'Allowed choices are TELEBIRR, CBE_BIRR, AWASH, MPESA'],
  [['run', '--day', TODAY, '--channel', 'MPESA'], 'channel must be one that has a provider in this environment'],
  [['now'], "unknown command 'now'"],
])('meskot reconciliation %j exits 2 with the reason', async (args, reason) => {
  const { exitCode, notes } = await run(...args);
  expect([exitCode, notes]).toEqual([2, expect.stringContaining(reason)]);
});
