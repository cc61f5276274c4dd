import { addisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
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
  await linkAccount(backOffice.fixture, scope);
});
afterEach(() => expectLedgerHolds(backOffice.database.db));
afterAll(() => backOffice.close());

const say = (settlementId: string, decision: string, body: object = {}) =>
  backOffice.send('POST', `/api/ops/settlements/${settlementId}/${decision}`, {
    key: backOffice.people.finance.key,
    body,
  });

/** As if an operator had to look at it: in the sandbox none has. */
async function pendingAccount(): Promise<string> {
  const [account] = await rows<{ id: string }>(
    backOffice.database.db,
    `UPDATE bank_account SET status = 'PENDING', decided_by = NULL, decided_at = NULL, verified_at = NULL WHERE merchant_id = :merchantId
     RETURNING id`,
    { merchantId: scope.merchantId },
  );
  return account?.id ?? '';
}

describe('a settlement', () => {
  async function settlement(): Promise<string> {
    await fund(backOffice.fixture, scope, 100_000n);
    return (await requestSettlement(backOffice.fixture, scope)).id;
  }

  test('is approved, sent and credited, with one audit row each for repeated commands', async () => {
    const id = await settlement();
    expect((await say(id, 'approve')).body.data.status).toBe('APPROVED');
    expect((await say(id, 'approve')).status).toBe(200);
    expect((await say(id, 'sent', { bankReference: 'FT-1' })).body.data.status).toBe('PROCESSING');
    const credit = { bankReference: 'FT-1', creditedOn: addisDay(new Date()) };
    expect((await say(id, 'credited', credit)).body.data).toMatchObject({ status: 'COMPLETED', bankReference: 'FT-1' });
    expect((await say(id, 'credited', credit)).status).toBe(200);
    expect((await say(id, 'failed', { reason: 'Too late' })).body.error.code).toBe('INVALID_STATE');
    expect(await backOffice.audited(id)).toEqual(['settlement.approve', 'settlement.sent', 'settlement.credited']);
  });

  test('is claimed for sending by one operator: another gets an error with that operator and the time', async () => {
    const id = await settlement();
    await say(id, 'approve');
    const other = await backOffice.hire('finance');
    const send = (key: string, body: object) =>
      backOffice.send('POST', `/api/ops/settlements/${id}/sent`, { key, body });
    const answers = await Promise.all(
      [backOffice.people.finance, other].map(({ key }) => send(key, { bankReference: 'FT-2' })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    const [winner, loser] =
      answers[0]?.status === 200 ? [backOffice.people.finance, other] : [other, backOffice.people.finance];
    const { sentAt, sentBy } = (await backOffice.send('GET', `/api/ops/settlements/${id}`)).body.data;
    expect(sentBy).toBe(winner.operatorId);
    expect((await send(winner.key, { bankReference: 'FT-2' })).status).toBe(200);
    expect((await send(winner.key, { bankReference: 'FT-3' })).status).toBe(409);
    const refused = await send(loser.key, { bankReference: 'FT-2' });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'INVALID_STATE']);
    const said = `${winner.operatorId} sent this settlement to the bank at ${sentAt}, under the reference FT-2; it is PROCESSING.`;
    expect(refused.body.message).toContain(said);
    expect(await backOffice.audited(id)).toEqual(['settlement.approve', 'settlement.sent']);
  });

  test('is rejected, or fails at the bank, with a reason', async () => {
    const rejected = await settlement();
    expect((await say(rejected, 'reject')).body.message).toBe('reason is required');
    expect((await say(rejected, 'reject', { reason: 'Wrong name' })).body.data.status).toBe('REJECTED');
    const failed = await settlement();
    await say(failed, 'approve');
    await say(failed, 'sent');
    const answer = await say(failed, 'failed', { reason: 'Account closed' });
    expect(answer.body.data).toMatchObject({ status: 'FAILED', failure: { message: 'Account closed' } });
    expect(await backOffice.audited(failed)).toEqual(['settlement.approve', 'settlement.sent', 'settlement.failed']);
  });

  test('is neither approved nor sent while its merchant is suspended, and can be afterwards', async () => {
    const id = await settlement();
    const merchant = (verb: 'suspend' | 'resume') =>
      backOffice.send('POST', `/api/ops/merchants/${scope.merchantId}/${verb}`, { body: { reason: 'Looked at' } });
    for (const [decision, instead] of [
      ['approve', 'reject the settlement'],
      ['sent', 'mark it as failed'],
    ] as const) {
      await merchant('suspend');
      const refused = await say(id, decision);
      expect([refused.status, refused.body.error.code]).toEqual([409, 'INVALID_STATE']);
      expect(refused.body.message).toContain(`The merchant ${scope.merchantId} is suspended`);
      expect(refused.body.message).toContain(`/resume), or ${instead}`);
      await merchant('resume');
      expect((await say(id, decision)).status).toBe(200);
    }
    await merchant('suspend');
    // What the bank has done is noted all the same.
    expect((await say(id, 'failed', { reason: 'Account closed' })).body.data.status).toBe('FAILED');
  });

  test('that the bank sends back after crediting it is FAILED, noted with what it was before', async () => {
    const id = await settlement();
    for (const [decision, body] of [
      ['approve', {}],
      ['sent', {}],
      ['credited', { bankReference: 'FT-5', creditedOn: addisDay(new Date()) }],
    ] as const)
      expect((await say(id, decision, body)).status).toBe(200);
    const back = { bankReference: 'RT-5', reason: 'Account dormant' };
    const { body } = await say(id, 'returned', back);
    expect(body.data).toMatchObject({ status: 'FAILED', returnReference: 'RT-5', failure: { code: 'BANK_RETURNED' } });
    expect((await say(id, 'returned', back)).status).toBe(200);
    const log = await backOffice.send('GET', `/api/ops/audit?resourceId=${id}`);
    expect(log.body.data).toMatchObject([
      {
        action: 'settlement.returned',
        before: { status: 'COMPLETED', bankReference: 'FT-5' },
        after: { status: 'FAILED', returnReference: 'RT-5' },
        reason: 'Account dormant',
      },
      { action: 'settlement.credited', before: { status: 'PROCESSING', bankReference: null } },
      { action: 'settlement.sent', before: { status: 'APPROVED' }, after: { status: 'PROCESSING' } },
      { action: 'settlement.approve', before: { status: 'REQUESTED' }, after: { status: 'APPROVED' } },
    ]);
  });

  test('that is credited after a failure is in the work queue, and is accepted or dismissed there', async () => {
    const waiting = async () => {
      const { body } = await backOffice.send(
        'GET',
        `/api/ops/queue?kind=SETTLEMENT_CREDITED_LATE&merchantId=${scope.merchantId}`,
      );
      return body.data.items;
    };
    const ids = [await settlement(), await settlement()];
    for (const id of ids) {
      await say(id, 'approve');
      await say(id, 'failed', { reason: 'The bank was closed' });
      const credit = { bankReference: `FT-${id}`, creditedOn: addisDay(new Date()) };
      const { status, body } = await say(id, 'credited', credit);
      expect([status, body.data.status]).toEqual([202, 'FAILED']);
      expect(body.message).toContain(`FT-${id} is not booked. Book or dismiss it`);
      expect((await say(id, 'credited', credit)).status).toBe(202);
    }
    const [booked = '', dismissed = ''] = ids;
    const items = await waiting();
    expect(items.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(items[0].links).toEqual({
      read: `/api/ops/settlements/${booked}`,
      'book-credit': `/api/ops/settlements/${booked}/book-credit`,
      'dismiss-credit': `/api/ops/settlements/${booked}/dismiss-credit`,
    });
    expect(items[0].temporalUrl).toContain(booked);
    const because = { reason: 'The bank was asked' };
    expect((await say(booked, 'book-credit', because)).body.data.status).toBe('COMPLETED');
    expect((await say(dismissed, 'dismiss-credit', because)).body.data).toMatchObject({
      status: 'FAILED',
      lateCredit: { bankReference: `FT-${dismissed}`, ended: 'DISMISSED' },
    });
    expect(await waiting()).toEqual([]);
    const first = ['settlement.approve', 'settlement.failed', 'settlement.credited'];
    expect(await backOffice.audited(booked)).toEqual([...first, 'settlement.book-credit']);
    expect(await backOffice.audited(dismissed)).toEqual([...first, 'settlement.dismiss-credit']);
  });

  test('cannot be credited with a date in the future or before it was sent', async () => {
    const id = await settlement();
    await say(id, 'approve');
    await say(id, 'sent');
    for (const creditedOn of ['2099-01-01', '2020-01-01']) {
      const answer = await say(id, 'credited', { bankReference: 'FT-1', creditedOn });
      expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    }
  });

  test('shows its whole account number to finance and not to viewers', async () => {
    const path = `/api/ops/settlements/${await settlement()}`;
    const seen = await backOffice.send('GET', path, { key: backOffice.people.finance.key });
    expect(seen.body.data.bankAccount.accountNumber).toBe('1000123456789');
    expect((await backOffice.send('GET', path, { key: backOffice.people.viewer.key })).status).toBe(403);
  });
});

describe("the bank's result file", () => {
  const upload = (text: string, more = '') =>
    backOffice.server.send('POST', `/api/ops/settlements/bank-file${more}`, {
      key: backOffice.people.finance.key,
      headers: { 'content-type': 'text/csv' },
      body: new TextEncoder().encode(text),
    });

  test('is applied line by line with one audit row each, and is idempotent', async () => {
    await fund(backOffice.fixture, scope, 100_000n);
    const [paid, refused] = [
      (await requestSettlement(backOffice.fixture, scope)).id,
      (await requestSettlement(backOffice.fixture, scope)).id,
    ];
    for (const id of [paid, refused]) {
      await say(id, 'approve');
      await say(id, 'sent');
    }
    const text = [
      'settlementId,result,bankReference,date,reason',
      `${paid},credited,FT-9,${addisDay(new Date())},`,
      `${refused},failed,,,Account closed`,
      `${newId('stl')},failed,,,Nobody's`,
    ].join('\n');
    const previewed = await upload(text, '/preview');
    expect(previewed.body.message).toBe('2 would be booked, 0 were so before, 1 are wrong');
    const twice = await upload(`${text}\n${paid},credited,FT-9,${addisDay(new Date())},`, '/preview');
    expect(twice.body.data.wrong).toContainEqual({
      line: 5,
      settlementId: paid,
      issue: `${paid} is in line 2 already`,
    });
    expect(await backOffice.audited(paid)).toEqual(['settlement.approve', 'settlement.sent']);
    const { status, body } = await upload(text);
    expect(body.data).toEqual(previewed.body.data);
    expect([status, body.message]).toEqual([200, '2 booked, 0 were so before, 1 are wrong']);
    expect((await upload(text)).body.message).toBe('0 booked, 2 were so before, 1 are wrong');
    expect(await backOffice.audited(paid)).toEqual(['settlement.approve', 'settlement.sent', 'settlement.credited']);
    expect(await backOffice.audited(refused)).toEqual(['settlement.approve', 'settlement.sent', 'settlement.failed']);
    expect((await upload('nonsense')).status).toBe(400);
  });
});

describe('a linked bank account', () => {
  const decide = (verdict: string, body: object) =>
    backOffice.send('POST', `/api/ops/merchants/${scope.merchantId}/bank-account/${verdict}`, { body });

  test('is verified with one audit row', async () => {
    const bankAccountId = await pendingAccount();
    const path = `/api/ops/merchants/${scope.merchantId}/bank-account?environment=sandbox`;
    expect((await backOffice.send('GET', path)).body.data).toMatchObject({
      bankAccountId,
      accountNumber: '1000123456789',
    });
    const decision = { environment: 'sandbox', bankAccountId };
    expect((await decide('verify', decision)).body.data.status).toBe('VERIFIED');
    expect((await decide('verify', decision)).status).toBe(200);
    const log = await backOffice.send('GET', `/api/ops/audit?resourceId=${bankAccountId}`);
    expect(log.body.data).toMatchObject([
      { action: 'bank-account.verify', before: { status: 'PENDING' }, reason: null, ...scope },
    ]);
  });

  test('that was verified can be rejected, and no settlement is sent to it afterwards', async () => {
    const bankAccountId = await pendingAccount();
    const decision = { environment: 'sandbox', bankAccountId };
    await decide('verify', decision);
    await fund(backOffice.fixture, scope, 100_000n);
    const [asked, approved] = [
      (await requestSettlement(backOffice.fixture, scope)).id,
      (await requestSettlement(backOffice.fixture, scope)).id,
    ];
    await say(approved, 'approve');
    const reason = 'The owner has changed';
    expect((await decide('reject', { ...decision, reason })).body.data).toMatchObject({
      status: 'REJECTED',
      rejectionReason: reason,
    });
    for (const [id, verb] of [
      [asked, 'approve'],
      [approved, 'sent'],
    ] as const) {
      const refused = await say(id, verb);
      expect([refused.status, refused.body.error.code]).toEqual([409, 'INVALID_STATE']);
      expect(refused.body.message).toContain(`${bankAccountId} was rejected since the request (${reason})`);
    }
    await expect(requestSettlement(backOffice.fixture, scope)).rejects.toMatchObject({
      code: 'BANK_ACCOUNT_NOT_VERIFIED',
    });
    const log = await backOffice.send('GET', `/api/ops/audit?resourceId=${bankAccountId}`);
    expect(log.body.data).toMatchObject([
      { action: 'bank-account.reject', before: { status: 'VERIFIED' }, after: { status: 'REJECTED' }, reason },
      { action: 'bank-account.verify' },
    ]);
  });

  test('is verified only for the environment and the version of the decision', async () => {
    const bankAccountId = await pendingAccount();
    expect((await decide('verify', { environment: 'sandbox' })).body.message).toBe('bankAccountId is required');
    expect((await decide('verify', { environment: 'live', bankAccountId })).status).toBe(404);
    const other = await decide('verify', { environment: 'sandbox', bankAccountId: newId('bac') });
    expect(other.body.error.code).toBe('INVALID_STATE');
  });
});
