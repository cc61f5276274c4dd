import { HOUR_MS } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createWithdrawal } from '../../src/payouts/withdrawals/create.ts';
import { buildPendingPayment, PAID, paidReference } from '../support/build.ts';
import { requestSettlement, linkAccount } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';
import { startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;
let scope: MerchantScope;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
beforeEach(async () => {
  scope = await buildFreeMerchant(backOffice.fixture);
});
afterAll(() => backOffice.close());

type Item = { kind: string; id: string };
const get = async (path: string) => (await backOffice.send('GET', path)).body;
const queue = (query = '') => get(`/api/ops/queue?merchantId=${scope.merchantId}${query}`);
const tx = (sql: string, values: Record<string, unknown>) => rows(backOffice.database.db, sql, values);
const ago = (ms: number) => new Date(Date.now() - ms);

/** 20.14: the one amount that waits for an operator in the sandbox too. */
async function withdrawal(): Promise<string> {
  await fund(backOffice.fixture, scope, 10_000n);
  const destination = { kind: 'phone', phone: '251911000001', accountName: 'Abebe Bikila' } as const;
  const wanted = { requestId: newId('req'), amountSantim: 2_014n, channel: 'TELEBIRR', requestedBy: 'key_1' } as const;
  const { row } = await backOffice.fixture.runInTransaction((made) =>
    createWithdrawal({ ...backOffice.fixture, tx: made }, scope, { ...wanted, destination }),
  );
  return row.id;
}

async function held() {
  const payment = await buildPendingPayment(backOffice.fixture, scope);
  backOffice.fixture.provider.returns({ ...PAID, amountSantim: 8_000n });
  await backOffice.fixture.checkAttempt(payment.attemptId, { notifyWorkflow: false });
  return payment;
}

describe('the work queue', () => {
  test('has no amount in birr for money of another currency', async () => {
    const payment = await buildPendingPayment(backOffice.fixture, scope);
    backOffice.fixture.provider.returns({ ...PAID, currency: 'USD' });
    await backOffice.fixture.checkAttempt(payment.attemptId, { notifyWorkflow: false });
    const [item] = (await queue()).data.items;
    expect(item).toMatchObject({ kind: 'PAYMENT_HELD', detail: { currency: 'USD', received: expect.any(Number) } });
    expect(item).not.toHaveProperty('amount');
  });

  test('contains everything that needs a decision, oldest first, with the possible decisions', async () => {
    const payment = await held();
    const withdrawalId = await withdrawal();
    await linkAccount(backOffice.fixture, scope);
    const settlement = await requestSettlement(backOffice.fixture, scope, { amount: 5_000n });
    await tx(
      `UPDATE bank_account SET status = 'PENDING', decided_by = NULL, decided_at = NULL, created_at = :at
       WHERE merchant_id = :merchantId`,
      { ...scope, at: ago(HOUR_MS) },
    );
    const { data, pagination } = await queue();
    const kinds = data.items.map(({ kind }: Item) => kind);
    expect(kinds).toEqual(['BANK_ACCOUNT', 'PAYMENT_HELD', 'WITHDRAWAL_REVIEW', 'SETTLEMENT_APPROVAL']);
    expect(pagination.total).toBe(4);
    expect(data.counts).toMatchObject({ BANK_ACCOUNT: 1, PAYMENT_HELD: 1, WITHDRAWAL_UNKNOWN: 0, KYC: 0 });
    expect(data.items[1]).toMatchObject({
      ...scope,
      id: payment.attemptId,
      amount: 80,
      what: `${payment.transactionId}: received 80.00 instead of 100.50`,
      detail: {
        transactionId: payment.transactionId,
        checkoutOrderNo: expect.any(String),
        expected: 100.5,
        received: 80,
        providerReference: paidReference(payment.attemptId),
      },
      links: {
        read: `/api/ops/transactions/${payment.transactionId}`,
        accept: `/api/ops/transactions/${payment.transactionId}/accept`,
      },
      temporalUrl: `https://temporal.example/namespaces/default/workflows/payment-${payment.attemptId}`,
    });
    expect(data.items[2]).toMatchObject({
      id: withdrawalId,
      amount: 20.14,
      what: expect.stringMatching(
        /^Withdrawal to Abebe Bikila, \*{8}0001 under review \(FIRST_TO_BENEFICIARY, .*\): 0 of 1 approvals$/,
      ),
      detail: {
        approvalsGiven: 0,
        approvalsNeeded: 1,
        reasons: expect.arrayContaining(['SANDBOX_TEST']),
        destination: { phone: '********0001', accountName: 'Abebe Bikila' },
        requestId: expect.stringMatching(/^req_/),
        requestedBy: 'key_1',
      },
    });
    expect(data.items[3]).toMatchObject({ id: settlement.id, amount: 50 });
    for (const { links } of data.items) expect((await backOffice.send('GET', links.read)).status).toBe(200);
    for (const { links, detail } of data.items.slice(1, 3)) {
      const { accept, approve } = links;
      const body = accept ? { attemptId: detail.attemptId } : {};
      expect((await backOffice.send('POST', accept ?? approve, { body })).status).toBe(200);
    }
    expect((await queue()).data.counts).toMatchObject({ PAYMENT_HELD: 0, WITHDRAWAL_REVIEW: 0 });
  });

  test('can be filtered by kind and environment, and its pages have no gaps', async () => {
    const ids = [(await held()).attemptId, (await held()).attemptId, await withdrawal()];
    expect((await queue('&kind=WITHDRAWAL_REVIEW')).data.items.map(({ id }: Item) => id)).toEqual([ids[2]]);
    expect((await queue('&kind=WITHDRAWAL_REVIEW')).data.counts.PAYMENT_HELD).toBe(2);
    expect((await queue('&environment=live')).data.items).toEqual([]);
    expect((await queue('&kind=NONSENSE')).error.code).toBe('VALIDATION_ERROR');
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const { data, pagination } = await queue(`&limit=1${next && `&cursor=${next}`}`);
      seen.push(...data.items.map(({ id }: Item) => id));
      next = pagination.nextCursor;
    }
    expect(seen).toEqual(ids);
  });

  test('contains a payout with an unknown outcome after an hour, and a payment that expired with one', async () => {
    const id = await withdrawal();
    const uncertain = `UPDATE payout SET stage = 'UNKNOWN', submitted_at = :at WHERE id = :id`;
    await tx(uncertain, { id, at: ago(HOUR_MS / 2) });
    expect((await queue()).data.items).toEqual([]);
    await tx(uncertain, { id, at: ago(2 * HOUR_MS) });
    const payment = await buildPendingPayment(backOffice.fixture, scope);
    await tx('UPDATE transaction SET needs_reconciliation = true WHERE id = :transactionId', payment);
    const { data } = await queue();
    const found = data.items.map((one: Item) => [one.kind, one.id]);
    expect(found).toEqual([
      ['WITHDRAWAL_UNKNOWN', id],
      ['PAYMENT_UNKNOWN', payment.transactionId],
    ]);
  });

  test('contains a channel requested by a merchant', async () => {
    await tx(
      `INSERT INTO merchant_channel (merchant_id, environment, channel, approval)
       VALUES (:merchantId, 'live', 'AWASH', 'REQUESTED'), (:merchantId, 'live', 'TELEBIRR', 'NONE')`,
      { ...scope },
    );
    const { items } = (await queue()).data;
    expect(items).toEqual([
      expect.objectContaining({
        kind: 'CHANNEL_REQUEST',
        id: `${scope.merchantId}/AWASH`,
        environment: 'live',
        what: expect.stringMatching(/^The merchant requests Awash/),
      }),
    ]);
    const { read, approve } = items[0].links;
    expect((await backOffice.send('GET', read)).body.data.live.channels[2]).toMatchObject({ approval: 'REQUESTED' });
    const approved = await backOffice.send('POST', approve, { body: { environment: 'live' } });
    expect(approved.body.data).toMatchObject({ approval: 'APPROVED', enabled: false });
    expect((await queue()).data.items).toEqual([]);
    const { body } = await backOffice.send('GET', `/api/ops/audit?merchantId=${scope.merchantId}`);
    expect(body.data[0]).toMatchObject({ before: { approval: 'REQUESTED' }, after: { approval: 'APPROVED' } });
  });

  test('names the day whose comparison failed and how to repeat it', async () => {
    await tx(
      `INSERT INTO reconciliation (id, environment, channel, day, is_running, requested_at)
       VALUES ('sandbox-TELEBIRR-2026-03-01', 'sandbox', 'TELEBIRR', '2026-03-01', false, :at)`,
      { at: ago(HOUR_MS) },
    );
    const { data } = await get('/api/ops/queue?kind=RECONCILIATION_FAILED');
    const [{ environment, detail, links }] = data.items;
    const body = { environment, channel: detail.channel, day: detail.day };
    expect((await backOffice.send('POST', links.run, { body })).status).toBe(202);
    expect((await get('/api/ops/queue?kind=RECONCILIATION_FAILED')).data.items).toEqual([]);
  });

  test('contains live applications for verification', async () => {
    await tx(
      `INSERT INTO kyc_application (merchant_id, environment, status, submissions, submitted_at)
       VALUES (:merchantId, 'live', 'SUBMITTED', 1, :at)`,
      { ...scope, at: ago(HOUR_MS) },
    );
    const { data } = await queue();
    expect(data.items).toEqual([expect.objectContaining({ kind: 'KYC', id: scope.merchantId, environment: 'live' })]);
    const { approve, reject, 'request-info': requestInfo } = data.items[0].links;
    const asked = await backOffice.send('POST', requestInfo, {
      key: backOffice.people.support.key,
      body: { environment: 'live', submission: 1, reason: 'The licence is not readable' },
    });
    expect(asked.body.data).toMatchObject({ status: 'MORE_INFO_NEEDED', message: 'The licence is not readable' });
    expect(
      (await backOffice.send('POST', approve, { body: { environment: 'live', submission: 1 } })).body.error.code,
    ).toBe('INVALID_STATE');
    await tx(`UPDATE kyc_application SET status = 'SUBMITTED', submissions = 2 WHERE merchant_id = :merchantId`, {
      ...scope,
    });
    expect((await queue()).data.items).toMatchObject([
      { what: expect.stringContaining('(submission 2)'), detail: { submission: 2 } },
    ]);
    expect((await backOffice.send('POST', approve, { body: { environment: 'live' } })).body.message).toBe(
      'submission is required',
    );
    const unread = await backOffice.send('POST', approve, { body: { environment: 'live', submission: 1 } });
    expect([unread.status, unread.body.error.code]).toEqual([409, 'INVALID_STATE']);
    expect(unread.body.message).toContain('was submitted again meanwhile');
    expect(
      (await backOffice.send('POST', approve, { body: { environment: 'live', submission: 2, tier: 77 } })).status,
    ).toBe(400);
    const approved = await backOffice.send('POST', approve, { body: { environment: 'live', submission: 2, tier: 1 } });
    expect(approved.body.data).toMatchObject({ tier: 1, submission: 2 });
    expect(
      (await backOffice.send('POST', reject, { body: { environment: 'live', submission: 2, reason: 'Late' } })).status,
    ).toBe(409);
    expect(await backOffice.audited(scope.merchantId)).toEqual(['kyc.request-info', 'kyc.approve']);
    const seen = await get(`/api/ops/merchants/${scope.merchantId}/kyc?environment=live`);
    expect(seen.data).toMatchObject({ status: 'APPROVED', tier: 1, liveKeysWork: false, documents: [] });
  });
});
