import { createHttpClient } from '../../src/lib/http-client.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { resolvePayout } from '../../src/payouts/resolve.ts';
import { createWithdrawal } from '../../src/payouts/withdrawals/create.ts';
import { readWithdrawal } from '../../src/payouts/withdrawals/queries.ts';
import { approveWithdrawal } from '../../src/payouts/withdrawals/review.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import { withdrawalWorkflowId } from '../../src/payouts/withdrawals/workflow.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import { buildFixture } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { EVENTS_OF_A_RUN } from '../support/stack-facts.ts';
import { skipTime, resultOf } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';
import { createWorkerFixture, type WorkerFixture } from '../support/worker.ts';

const HOUR_MS = 3_600_000;
let simulator: TestSimulator;
let fixture: WorkerFixture;

beforeAll(async () => {
  simulator = await startTestSimulator();
  fixture = await createWorkerFixture({
    TASK_QUEUES: 'money',
    SIMULATOR_URL: simulator.url,
    PUBLIC_BASE_URL: 'http://127.0.0.1:9',
  });
  await fixture.startWorker().ready;
});
afterAll(async () => {
  await fixture.close();
  await simulator.close();
});

/** A withdrawal submitted to a provider that never reports an outcome. */
async function sent(): Promise<{ id: string; workflowId: string }> {
  const clock = () => new Date();
  const http = createHttpClient();
  const findProvider = createFindProvider({ http, clock, simulatorUrl: simulator.url });
  const money = buildFixture(fixture.db, { clock });
  const scope: MerchantScope = await buildFreeMerchant(money);
  await fund(money, scope, 1_000_00n);
  const wanted = {
    requestId: 'OUT-1',
    amountSantim: 100_14n,
    channel: 'TELEBIRR',
    destination: { kind: 'phone', phone: '251911000004', accountName: 'Abebe Bikila' },
    requestedBy: 'key_test',
  } as const;
  const { row } = await fixture.runInTransaction((tx) => createWithdrawal({ tx, clock, findProvider }, scope, wanted));
  await fixture.runInTransaction((tx) => approveWithdrawal(tx, row.id, { operatorId: 'opr_1', at: clock() }));
  await until('it to be taken', async () => (await readWithdrawal(fixture.db, row.id)).lastOutcome);
  await http.close();
  return { id: row.id, workflowId: withdrawalWorkflowId(row.id) };
}

test('a withdrawal pending for days continues as new runs, and the last one completes it', async () => {
  const { client } = fixture.temporal;
  const { id, workflowId } = await sent();
  const handle = client.workflow.getHandle(workflowId);
  const first = await handle.describe();
  const runs = new Set([first.runId]);
  for (let hours = 0; hours < 96 && runs.size < 3; hours += 6) {
    await skipTime(client, workflowId, 6 * HOUR_MS);
    runs.add((await handle.describe()).runId);
  }
  expect(runs.size).toBe(3);
  const { status } = await client.workflow.getHandle(workflowId, first.runId).describe();
  expect(status.name).toBe('CONTINUED_AS_NEW');
  const { historyLength } = await client.workflow.getHandle(workflowId, first.runId).describe();
  expect(historyLength).toBeLessThan(EVENTS_OF_A_RUN + 30);
  expect(await readWithdrawal(fixture.db, id)).toMatchObject({ status: 'PENDING', stage: 'SUBMITTED' });
  // All runs queried the same order.
  expect((await simulator.journal()).payouts).toMatchObject([{ withdrawalId: id, submissions: 1 }]);

  const resolution = {
    outcome: 'FAILED',
    providerReference: 'CASE-7',
    reason: 'Never paid',
    operatorId: 'opr_1',
  } as const;
  await fixture.runInTransaction(async (tx) => {
    // Between two polls, after an unknown outcome.
    await tx.trx.knex()('payout').where({ id }).update({ stage: 'UNKNOWN', leaseUntil: null });
    return resolvePayout(tx, WITHDRAWAL, { id: id, ...resolution, at: new Date(Date.now() + 2 * HOUR_MS) });
  });
  expect(await resultOf(handle)).toBe('FAILED');
  await expectLedgerHolds(fixture.db);
});
