import { createOperator } from '../../src/access/operators.ts';
import { callRoute } from '../../src/app/commands/call-route.ts';
import { runReconcile } from '../../src/app/commands/reconcile.ts';
import { runReconcileCommand } from '../../src/app/commands/reconciliation.ts';
import { addisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { reconciliationOperatorRoutes } from '../../src/reconciliation/operator-routes.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { createReconciliationWorld, TODAY, type ReconciliationWorld } from './world.ts';

let world: ReconciliationWorld;
let finance: string;
let viewer: string;
beforeAll(async () => {
  world = await createReconciliationWorld();
  const hire = (role: 'finance' | 'viewer') =>
    world.db.transaction((trx) => createOperator(trx, { name: role, email: `${role}@meskot.example`, role }));
  [finance, viewer] = [(await hire('finance')).id, (await hire('viewer')).id];
});
afterAll(async () => {
  await expectLedgerHolds(world.db);
  await world.close();
});

/** As src/app/commands/reconcile.ts puts it together, with a provider in both environments and finance as the demo data's operator. */
async function run(...args: string[]): Promise<{ code: number; said: string }> {
  let said = '';
  const findProvider: typeof world.findProvider = (channel) => world.findProvider(channel, 'sandbox');
  const routes = reconciliationOperatorRoutes({ ...world, findProvider });
  const code = await runReconcileCommand(args, {
    ...world,
    requestReconciliation: (body, by) =>
      callRoute({ ...world, routes, demoOperatorId: finance }, by, {
        method: 'POST',
        path: '/api/ops/reconciliation/run',
        body,
      }),
    write: (text) => void (said += text.toString()),
  });
  return { code, said };
}
const asked = () => rows(world.db, 'SELECT environment, channel FROM reconciliation ORDER BY id');
const audited = () =>
  rows(
    world.db,
    'SELECT operator_id, action, resource_id, environment, reason FROM operator_audit ORDER BY occurred_at, id',
  );

test('meskot reconcile --day requests a comparison and lists the latest result', async () => {
  const first = await run('--day', TODAY, '--channel', 'AWASH');
  expect(first.code).toBe(0);
  expect(first.said).toMatch(/2026-03-02 +sandbox +AWASH +being compared +0/);
  await world.pay('AWASH');
  await world.live(2_000);
  await world.compare('AWASH');
  const shown = await run('--json');
  expect(JSON.parse(shown.said)).toEqual([
    {
      day: TODAY,
      environment: 'sandbox',
      channel: 'AWASH',
      status: 'CLEAN',
      differences: 0,
      listed: 1,
      booked: 1,
      owed: '100.50',
      comparedAt: expect.any(String),
      problem: null,
    },
  ]);
});

test('meskot reconcile audits the request with its reason, as the named operator or the one of the demo data', async () => {
  const before = (await audited()).length;
  await run('--day', TODAY, '--channel', 'AWASH', '--reason', 'Their list was completed');
  const about = { action: 'reconciliation.run', resourceId: TODAY, environment: 'sandbox' };
  expect((await audited()).slice(before)).toEqual([
    { ...about, operatorId: finance, reason: 'Their list was completed' },
  ]);
  const refused = await run('--day', TODAY, '--channel', 'TELEBIRR', '--operator', viewer);
  expect([refused.code, refused.said]).toEqual([3, expect.stringContaining('finance')]);
  expect((await run('--day', TODAY, '--channel', 'TELEBIRR', '--operator', 'opr_nobody')).code).toBe(4);
  expect(await audited()).toHaveLength(before + 1);
  expect(await asked()).toEqual([{ environment: 'sandbox', channel: 'AWASH' }]);
});

test('meskot reconcile compares and lists live days only with --live', async () => {
  expect((await run('--day', TODAY, '--channel', 'AWASH', '--live')).said).toMatch(/2026-03-02 +live +AWASH/);
  expect((await audited()).at(-1)).toMatchObject({ environment: 'live' });
  expect((await run('--day', TODAY)).code).toBe(0);
  const environments = async (...args: string[]): Promise<string[]> => [
    ...new Set(
      (JSON.parse((await run(...args, '--json')).said) as { environment: string }[]).map((one) => one.environment),
    ),
  ];
  expect([await environments(), await environments('--live')]).toEqual([['sandbox'], ['live']]);
  expect(await asked()).toContainEqual({ environment: 'sandbox', channel: 'TELEBIRR' });
  expect(await asked()).not.toContainEqual({ environment: 'live', channel: 'TELEBIRR' });
});

test('meskot reconcile without an operator or demo data fails', async () => {
  const simulator = { simulatorUrl: world.simulator.url, simulatorPublicUrl: null };
  let said = '';
  const parts = { db: world.db, config: { simulator }, write: (text: unknown) => void (said += String(text)) };
  const today = addisDay(new Date());
  expect(await runReconcile(['--day', today, '--channel', 'CBE_BIRR'], parts)).toBe(2);
  expect(said).toContain('Say who acts: --operator opr_');
  expect(await runReconcile(['--day', today, '--channel', 'CBE_BIRR', '--operator', finance], parts)).toBe(0);
  expect((await audited()).at(-1)).toMatchObject({ operatorId: finance, resourceId: today });
});

test.each([
  [['--day', 'yesterday'], 'day must be a date as YYYY-MM-DD, got "yesterday"'],
  [['--channel', 'VISA'], '--channel must be one of TELEBIRR, CBE_BIRR, AWASH, MPESA, got "VISA"'],
  [['--day', TODAY, '--channel', 'MPESA'], 'channel must be one that has a provider in this environment'],
  [['now'], 'There is no "reconcile now"'],
])('meskot reconcile %j fails and names the wrong option', async (args, description) => {
  const { code, said } = await run(...args);
  expect(code).toBe(2);
  expect(said).toContain(description);
});
