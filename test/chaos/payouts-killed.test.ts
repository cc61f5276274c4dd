import pg from 'pg';

import type { RunningApi } from '../../src/app/api.ts';
import { readBalance } from '../../src/ledger/balance.ts';
import { parseBirr } from '../../src/lib/money.ts';
import { readWithdrawal } from '../../src/payouts/withdrawals/queries.ts';
import { approveWithdrawal } from '../../src/payouts/withdrawals/review.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { startProgram, type Program } from '../support/program.ts';
import { until } from '../support/until.ts';
import { expectPaidOutOnce } from '../support/withdrawals.ts';
import { buy, startChaosService, PHONES, untilQuiet, type ChaosService, type ChaosMerchant } from './service.ts';

const CHANNELS = ['TELEBIRR', 'CBE_BIRR', 'AWASH'] as const;
type Channel = (typeof CHANNELS)[number];

let service: ChaosService;
let api: RunningApi;
let merchant: ChaosMerchant;
let worker: Program;
let requests = 0;

beforeAll(async () => {
  service = await startChaosService({ TASK_QUEUES: 'money' });
  [api, worker] = await Promise.all([service.startApi(), startProgram('worker', service.settings)]);
  merchant = await service.newMerchant();
  for (let nth = 0; nth < 5; nth += 1) await buy(merchant.client, { orderNo: `FUND-${nth}`, phone: PHONES.approved });
  await untilQuiet(service);
}, 60_000);
afterEach(() => expectLedgerHolds(service.fixture.db));
afterAll(async () => {
  await Promise.all([worker.kill(), api.stop()]);
  await service.close();
});

/** Requests a withdrawal and approves it: its worker submits it at once. */
async function withdraw(channel: Channel): Promise<string> {
  requests += 1;
  const created = await merchant.client.post('withdrawal', {
    requestId: `OUT-${requests}`,
    amount: 2,
    channel,
    destination: { phone: '0911000001', accountName: 'Abebe Bikila' },
  });
  const id = String(created['withdrawalRequestId']);
  await service.fixture.runInTransaction((tx) => approveWithdrawal(tx, id, { operatorId: 'opr_1', at: new Date() }));
  return id;
}

/** The number of requests of this kind per channel. */
const requestsOf = (kind: 'payout' | 'queryPayout') =>
  Promise.all(CHANNELS.map((channel) => service.simulator.requests(`${channel} ${kind}`)));
const rowOf = (id: string) => readWithdrawal(service.fixture.db, id);
/** An activity of the killed worker is repeated after 16 s, and its provider may then be queried more than once. */
const RECOVERY_MS = 40_000;
const ended = async (id: string) =>
  until(
    `withdrawal ${id} to end`,
    async () => {
      const row = await rowOf(id);
      return row.status !== 'PENDING' && row;
    },
    RECOVERY_MS,
  );

/** Asserts one payment at the provider, one posting, and no reserved remainder. */
async function expectPaidOnce(ids: string[]): Promise<void> {
  for (const id of ids) {
    expect((await ended(id)).status).toBe('SUCCESS');
    expect(await service.simulator.payoutOf(id)).toMatchObject({ paid: true, reversed: false });
  }
  expect((await service.simulator.journal()).payouts).toHaveLength(requests);
  await expectPaidOutOnce(service.fixture.db, service.simulator);
  expect((await readBalance(service.fixture.db, merchant.scope)).reservedSantim).toBe(0n);
}

test('a worker killed before the provider gets a payout, or before the provider responds, pays once', async () => {
  await service.simulator.fault({ kind: 'hang', on: 'payout', channel: 'TELEBIRR', next: 1 });
  await service.simulator.fault({ kind: 'hangAfter', on: 'payout', channel: 'CBE_BIRR', next: 1 });
  await service.simulator.fault({ kind: 'serverErrorAfter', on: 'payout', channel: 'AWASH', next: 1 });
  await service.simulator.fault({ kind: 'callbackLost', of: 'payout', next: 2 });
  const ids = await Promise.all(CHANNELS.map(withdraw));
  await until('all withdrawals to be submitted', async () => {
    const rows = await Promise.all(ids.map(rowOf));
    return rows.every(({ stage }) => stage === 'SUBMITTED' || stage === 'UNKNOWN');
  });
  // Before that, the fault of a channel would meet the first request after the restart.
  await until('a payout request to each provider', async () => (await requestsOf('payout')).every(Boolean));
  await worker.kill();
  const [withoutRequest = '', withoutResponse = ''] = ids;
  for (const id of [withoutRequest, withoutResponse]) expect((await rowOf(id)).status).toBe('PENDING');
  worker = await startProgram('worker', service.settings);
  await expectPaidOnce(ids);
}, 120_000);

test('a worker killed after the provider has paid and before the posting posts it once after its restart', async () => {
  await service.simulator.fault({ kind: 'callbackLost', of: 'payout', next: CHANNELS.length });
  const client = new pg.Client({ connectionString: service.fixture.database.ownerUrl });
  await client.connect();
  try {
    const before = await requestsOf('queryPayout');
    const ids = await Promise.all(CHANNELS.map(withdraw));
    await client.query('BEGIN');
    await client.query('LOCK TABLE ledger_journal IN SHARE ROW EXCLUSIVE MODE');
    await until('the provider to have paid all', async () => {
      const payouts = await Promise.all(ids.map((id) => service.simulator.payoutOf(id)));
      return payouts.every((payout) => payout?.paid);
    });
    await until('a query of each payout', async () => {
      const now = await requestsOf('queryPayout');
      return CHANNELS.every((_, nth) => (now[nth] ?? 0) > (before[nth] ?? 0));
    });
    await until('a posting to wait for the lock', async () => {
      const waiting = `SELECT FROM pg_locks WHERE relation = 'ledger_journal'::regclass AND NOT granted`;
      return (await client.query(waiting)).rowCount;
    });
    await worker.kill();
    for (const id of ids) expect((await rowOf(id)).status).toBe('PENDING');
    await client.query('ROLLBACK');
    worker = await startProgram('worker', service.settings);
    await expectPaidOnce(ids);
  } finally {
    await client.end();
  }
}, 120_000);

test('the clearing accounts of the ledger equal what each provider owes', async () => {
  const { rows } = await service.fixture.db.knex().raw<{ rows: { channel: string; owes: bigint }[] }>(
    `SELECT a.channel, CAST(-sum(e.amount_santim) AS bigint) AS owes FROM ledger_entry e
     JOIN ledger_account a ON a.id = e.account_id WHERE a.kind = 'CHANNEL_CLEARING' GROUP BY a.channel`,
  );
  const booked = new Map(rows.map(({ channel, owes }) => [channel, owes]));
  for (const channel of CHANNELS) {
    const { unpaid } = await service.simulator.totalsOf(channel);
    const sign = unpaid.startsWith('-') ? -1n : 1n;
    expect({ channel, owes: booked.get(channel) ?? 0n }).toEqual({
      channel,
      owes: sign * (parseBirr(unpaid.replace('-', '')) ?? 0n),
    });
  }
});
