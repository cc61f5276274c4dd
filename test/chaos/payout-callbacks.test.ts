import type { RunningApi } from '../../src/app/api.ts';
import { readBalance } from '../../src/ledger/balance.ts';
import { rows } from '../../src/lib/db.ts';
import { readWithdrawal } from '../../src/payouts/withdrawals/queries.ts';
import { approveWithdrawal } from '../../src/payouts/withdrawals/review.ts';
import { expectInvariants } from '../invariants/check.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { until } from '../support/until.ts';
import { expectPaidOutOnce } from '../support/withdrawals.ts';
import { buy, startChaosService, PHONES, untilQuiet, type ChaosService, type ChaosMerchant } from './service.ts';

const CHANNELS = ['TELEBIRR', 'CBE_BIRR', 'AWASH'] as const;
type Channel = (typeof CHANNELS)[number];

let service: ChaosService;
let api: RunningApi;
let merchant: ChaosMerchant;
let requests = 0;

beforeAll(async () => {
  service = await startChaosService({ TASK_QUEUES: 'payments,money,webhooks' });
  await service.fixture.startWorker().ready;
  api = await service.startApi();
  merchant = await service.newMerchant();
  for (let nth = 0; nth < 5; nth += 1) await buy(merchant.client, { orderNo: `FUND-${nth}`, phone: PHONES.approved });
  await untilQuiet(service);
}, 60_000);
afterEach(async () => {
  await untilQuiet(service);
  await expectPaidOutOnce(service.fixture.db, service.simulator);
  await expectLedgerHolds(service.fixture.db);
  await expectInvariants(service.gather);
});
afterAll(async () => {
  await api.stop();
  await service.close();
});

/** Requests a withdrawal over HTTP and approves it: its workflow submits it at once. */
async function withdraw(channel: Channel, phone: string): Promise<string> {
  requests += 1;
  const destination = { phone, accountName: 'Abebe Bikila' };
  const wanted = { requestId: `OUT-${requests}`, amount: 2, channel, destination };
  const id = String((await merchant.client.post('withdrawal', wanted))['withdrawalRequestId']);
  await service.fixture.runInTransaction((tx) => approveWithdrawal(tx, id, { operatorId: 'opr_1', at: new Date() }));
  return id;
}

const untilStatus = (id: string, status: string) =>
  until(
    `withdrawal ${id} to be ${status}`,
    async () => (await readWithdrawal(service.fixture.db, id)).status === status,
  );
/** The response statuses of the API to the provider's callbacks, once each has had a 2xx. */
const callbackStatuses = (id: string) =>
  until('a 2xx for all callbacks', async () => {
    const callbacks = (await service.simulator.payoutOf(id))?.callbacks ?? [];
    return (
      callbacks.length > 0 && callbacks.every(({ done }) => done) && callbacks.map(({ sends }) => sends.at(-1)?.status)
    );
  });
const balance = () => readBalance(service.fixture.db, merchant.scope);
const journalsOf = async (id: string) =>
  (
    await rows<{ kind: string }>(
      service.fixture.db,
      'SELECT kind FROM ledger_journal WHERE resource_id = :id ORDER BY kind',
      {
        id,
      },
    )
  ).map(({ kind }) => kind);
/** The events that the merchant received about a withdrawal. */
const eventsOf = (id: string) =>
  merchant.receiver.requests
    .map(({ body }) => JSON.parse(String(body)))
    .filter(({ data }) => data.withdrawalRequestId === id)
    .map(({ event }) => String(event))
    .toSorted();

test.each(CHANNELS)(
  'a payout over %s with a doubled callback is posted once and has one event of each kind',
  async (channel) => {
    const before = await balance();
    await service.simulator.fault({ kind: 'callbackDoubled', of: 'payout', channel, next: 1 });
    const id = await withdraw(channel, '0911000001');
    await untilStatus(id, 'SUCCESS');
    expect(await callbackStatuses(id)).toEqual([200, 200]);
    await untilQuiet(service);
    expect(await journalsOf(id)).toEqual(['WITHDRAWAL_PAID', 'WITHDRAWAL_RESERVED']);
    expect(eventsOf(id)).toEqual(['withdrawal.created', 'withdrawal.succeeded', 'withdrawal.under_review']);
    const { availableSantim, reservedSantim } = await balance();
    expect(before.availableSantim - availableSantim).toBe(7_75n);
    expect(reservedSantim).toBe(0n);
  },
);

test.each(CHANNELS)(
  'a payout over %s that its provider reverses is credited to the merchant by the callback',
  async (channel) => {
    const before = await balance();
    const id = await withdraw(channel, '0911000006');
    await untilStatus(id, 'SUCCESS');
    await callbackStatuses(id);
    await service.simulator.advance(60_000);
    await untilStatus(id, 'REVERSED');
    expect(await callbackStatuses(id)).toEqual([200, 200]);
    await untilQuiet(service);
    expect(await service.simulator.payoutOf(id)).toMatchObject({ paid: true, reversed: true });
    expect((await service.simulator.totalsOf(channel)).reversed).toBe('2.00');
    expect(await journalsOf(id)).toEqual(['WITHDRAWAL_PAID', 'WITHDRAWAL_RESERVED', 'WITHDRAWAL_REVERSED']);
    expect(eventsOf(id)).toEqual([
      'withdrawal.created',
      'withdrawal.reversed',
      'withdrawal.succeeded',
      'withdrawal.under_review',
    ]);
    expect(await balance()).toEqual(before);
  },
);
