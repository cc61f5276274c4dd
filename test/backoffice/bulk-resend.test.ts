import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { cancelResendJob, findResendJob } from '../../src/webhooks/delivery/resend-jobs.ts';
import { buildPendingPayment, PAID } from '../support/build.ts';
import { failDelivery } from '../support/failed-delivery.ts';
import { runResendBatches } from '../support/resend-jobs.ts';
import { buildFreeMerchant } from '../support/withdrawals.ts';
import { runCli, startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;
let host: string;
let shops: MerchantScope[];

beforeAll(async () => {
  backOffice = await startBackOffice();
});
beforeEach(async () => {
  shops = [await buildFreeMerchant(backOffice.fixture), await buildFreeMerchant(backOffice.fixture)];
  host = `shop-${shops[0]?.merchantId.slice(-8).toLowerCase()}.example.et`;
  for (const scope of shops) {
    await sql(
      `INSERT INTO webhook_subscription (id, merchant_id, environment, url, event_types, secret, secret_hint)
       VALUES (:id, :merchantId, :environment, :url, '{payment.succeeded}', '\\x00', 'hint')`,
      { ...scope, id: newId('whs'), url: `https://${host}/hooks` },
    );
  }
});
afterAll(() => backOffice.close());

const PATH = '/api/ops/webhooks/deliveries/resend';
const reason = 'Their server is back';
const sql = (text: string, values: Record<string, unknown> = {}) =>
  rows<Record<string, unknown>>(backOffice.database.db, text, values);
const send = async (method: string, path: string, body?: object) =>
  backOffice.send(method, path, { key: backOffice.people.support.key, ...(body && { body }) });
const ofHost = () => ({ environment: 'sandbox', status: 'DEAD_LETTER', receiverHost: host });

/** One delivery of each shop that has failed. */
async function failBoth(): Promise<string[]> {
  const ids: string[] = [];
  for (const scope of shops) {
    const { attemptId, transactionId } = await buildPendingPayment(backOffice.fixture, scope);
    backOffice.fixture.provider.returns(PAID);
    await backOffice.fixture.checkAttempt(attemptId, { notifyWorkflow: false });
    const [found] = await sql(
      `SELECT d.id FROM webhook_delivery d JOIN webhook_event e ON e.id = d.event_id WHERE e.resource_id = :transactionId`,
      { transactionId },
    );
    const id = String(found?.['id']);
    await failDelivery(backOffice.database.db, id);
    ids.push(id);
  }
  return ids;
}

const tick = async (): Promise<number> => {
  const { db, runInTransaction } = backOffice.fixture;
  const clock = (): Date => new Date(Date.now() + 60_000);
  return runResendBatches({ db, runInTransaction, clock }, 20);
};

test('a dry run counts what matches, and changes nothing', async () => {
  await failBoth();
  const counted = await send('POST', PATH, { ...ofHost(), dryRun: true });
  expect([counted.status, counted.body.data]).toEqual([200, { matched: 2, ratePerSecond: 20 }]);
  const one = await send('POST', PATH, { ...ofHost(), merchantId: shops[0]?.merchantId, dryRun: true });
  expect(one.body.data.matched).toBe(1);
  for (const other of [{ environment: 'live' }, { status: 'SKIPPED' }, { event: 'checkout.failed' }]) {
    const none = await send('POST', PATH, { ...ofHost(), ...other, dryRun: true });
    expect(none.body.data.matched).toBe(0);
  }
  expect(await sql('SELECT 1 FROM webhook_resend_job')).toEqual([]);
});

test('the deliveries of all merchants that match are resent with the reason, and the job is audited', async () => {
  const ids = await failBoth();
  const { status, body } = await send('POST', PATH, { ...ofHost(), reason });
  expect([status, body.data]).toEqual([202, { jobId: expect.any(String), matched: 2, ratePerSecond: 20 }]);
  const { jobId } = body.data;
  await tick();
  const resent = await sql('SELECT id, status, resend_reason FROM webhook_delivery WHERE id = ANY (:ids) ORDER BY id', {
    ids,
  });
  expect(resent).toEqual(ids.toSorted().map((id) => ({ id, status: 'PENDING', resendReason: reason })));
  const job = await send('GET', `/api/ops/webhooks/resend-jobs/${jobId}`);
  const { operatorId } = backOffice.people.support;
  expect(job.body.data).toMatchObject({ jobId, environment: 'sandbox', operatorId, reason, matched: 2, sent: 2 });
  const audit = await send('GET', `/api/ops/audit?resourceId=${jobId}`);
  expect(audit.body.data).toMatchObject([
    { action: 'delivery.resend-many', reason, environment: 'sandbox', after: { receiverHost: host, matched: 2 } },
  ]);
});

test('a stopped job requests no more resends, and stopping it again changes nothing', async () => {
  const ids = await failBoth();
  const { jobId } = (await send('POST', PATH, { ...ofHost(), reason })).body.data;
  for (let times = 0; times < 2; times += 1) {
    const { body } = await send('POST', `/api/ops/webhooks/resend-jobs/${jobId}/cancel`, {});
    expect(body.data).toMatchObject({ status: 'CANCELLED', sent: 0 });
  }
  await tick();
  expect(await sql(`SELECT 1 FROM webhook_delivery WHERE id = ANY (:ids) AND status <> 'FAILED'`, { ids })).toEqual([]);
  const audit = await send('GET', `/api/ops/audit?resourceId=${jobId}`);
  expect(audit.body.data.map(({ action }: { action: string }) => action)).toEqual([
    'delivery.cancel-resend-job',
    'delivery.resend-many',
  ]);
});

test('it needs a reason and the role, and is no job of a merchant', async () => {
  await failBoth();
  const unsaid = await send('POST', PATH, ofHost());
  expect([unsaid.status, unsaid.body.error.details]).toEqual([
    400,
    [{ field: 'reason', issue: 'is required, except with dryRun', code: 'required' }],
  ]);
  const viewer = await backOffice.send('POST', PATH, {
    key: backOffice.people.viewer.key,
    body: { ...ofHost(), reason },
  });
  expect(viewer.status).toBe(403);
  const { jobId } = (await send('POST', PATH, { ...ofHost(), reason })).body.data;
  const { db, runInTransaction } = backOffice.fixture;
  const target = { ...(shops[0] as MerchantScope), jobId };
  await expect(findResendJob(db, target)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(runInTransaction((tx) => cancelResendJob(tx, target))).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('an operator runs at most five jobs at once', async () => {
  for (let times = 0; times < 5; times += 1) {
    expect((await send('POST', PATH, { ...ofHost(), environment: 'live', reason })).status).toBe(202);
  }
  const { body } = await send('POST', PATH, { ...ofHost(), environment: 'live', reason });
  expect(body.error).toMatchObject({ code: 'INVALID_STATE' });
});

test('it is a command', async () => {
  await failBoth();
  const args = ['--status', 'DEAD_LETTER', '--receiver-host', host];
  const counted = await runCli(backOffice, ['deliveries', 'count-matching', ...args]);
  expect({ exitCode: counted.exitCode, text: counted.text }).toEqual({
    exitCode: 0,
    text: expect.stringMatching(/matched +2/),
  });
  const started = await runCli(backOffice, ['deliveries', 'resend-matching', ...args, '--reason', reason, '--yes']);
  expect({ exitCode: started.exitCode, notes: started.notes }).toEqual({
    exitCode: 0,
    notes: expect.stringContaining('Resend job started'),
  });
});
