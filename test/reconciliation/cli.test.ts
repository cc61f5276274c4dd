import { runReconcileCommand } from '../../src/reconciliation/cli.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { createReconciliationWorld, TODAY, type ReconciliationWorld } from './world.ts';

let world: ReconciliationWorld;
beforeAll(async () => {
  world = await createReconciliationWorld();
});
afterAll(async () => {
  await expectLedgerHolds(world.db);
  await world.close();
});

async function run(...args: string[]): Promise<{ code: number; said: string }> {
  let said = '';
  const code = await runReconcileCommand(args, { ...world, write: (text) => void (said += text) });
  return { code, said };
}

test('a day is asked for, and shown as it stands', async () => {
  const asked = await run('--day', TODAY, '--channel', 'AWASH');
  expect(asked.code).toBe(0);
  expect(asked.said).toMatch(/2026-03-02 +sandbox +AWASH +being compared +0/);
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

test.each([
  [['--day', 'yesterday'], 'day must be a day until today (2026-03-02) as YYYY-MM-DD, got "yesterday"'],
  [['--channel', 'VISA'], '--channel must be one of TELEBIRR, CBE_BIRR, AWASH, MPESA, got "VISA"'],
  [['--day', TODAY, '--channel', 'MPESA'], 'channel must be one that has a provider in this environment'],
  [['now'], 'There is no "reconcile now"'],
])('what is asked wrongly (%j) is refused, and says why', async (args, says) => {
  const { code, said } = await run(...args);
  expect(code).toBe(2);
  expect(said).toContain(says);
});
