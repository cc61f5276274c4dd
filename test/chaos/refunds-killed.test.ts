import type { RunningApi } from '../../src/app/api.ts';
import { readBalance } from '../../src/ledger/balance.ts';
import { readRefund } from '../../src/payouts/refunds/queries.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { startProgram, type Program } from '../support/program.ts';
import { until } from '../support/until.ts';
import { buy, PHONES, startChaosService, untilQuiet, type ChaosMerchant, type ChaosService } from './service.ts';

const FAULTS = ['hang', 'hangAfter', 'serverErrorAfter'] as const;

let service: ChaosService;
let api: RunningApi;
let merchant: ChaosMerchant;
let worker: Program;

beforeAll(async () => {
  service = await startChaosService({ TASK_QUEUES: 'money' });
  [api, worker] = await Promise.all([service.startApi(), startProgram('worker', service.settings)]);
  merchant = await service.newMerchant();
}, 60_000);
afterAll(async () => {
  await Promise.all([worker.kill(), api.stop()]);
  await service.close();
});

/** Pays 20 birr and requests 5 of them back; the worker sends the refund at once. */
async function refund(orderNo: string): Promise<string> {
  const { transactionId } = await buy(merchant.client, { orderNo, phone: PHONES.approved });
  await untilQuiet(service);
  const made = await merchant.client.post(`txns/${transactionId}/refunds`, { reference: orderNo, amount: 5 });
  return String(made['refundId']);
}

const rowOf = (id: string) => readRefund(service.fixture.db, id);

test('a worker killed before the provider gets a refund, or before the provider responds, refunds once', async () => {
  const { simulator } = service;
  const ids: string[] = [];
  for (const kind of FAULTS) {
    await simulator.fault({ kind, on: 'refund', channel: 'TELEBIRR', next: 1 });
    const id = await refund(`BACK-${kind}`);
    ids.push(id);
    await until('it to be sent', async () => (await rowOf(id)).submittedAt);
  }
  await until('the refund without a response', async () => simulator.refundOf(ids[1] ?? ''));
  await worker.kill();
  for (const id of ids) expect((await rowOf(id)).status).toBe('PENDING');
  worker = await startProgram('worker', service.settings);
  for (const id of ids) {
    await until(`refund ${id} to end`, async () => (await rowOf(id)).status === 'SUCCESS', 60_000);
    expect(await simulator.refundOf(id)).toMatchObject({ paid: true });
  }
  expect((await simulator.journal()).refunds).toHaveLength(FAULTS.length);
  const { reservedSantim } = await readBalance(service.fixture.db, merchant.scope);
  expect(reservedSantim).toBe(0n);
  await expectLedgerHolds(service.fixture.db);
}, 180_000);
