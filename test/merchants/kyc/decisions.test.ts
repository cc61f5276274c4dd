import { rows } from '../../../src/lib/db.ts';
import { decideKyc, type Decision } from '../../../src/merchants/kyc/application.ts';
import type { ApplicationRow } from '../../../src/merchants/kyc/queries.ts';
import { findMerchant, type KycStatus } from '../../../src/merchants/operations.ts';
import type { UnitOfWork } from '../../../src/outbox/record.ts';
import { startKycFixture, type Applicant, type KycFixture } from './fixture.ts';

let fixture: KycFixture;
let applicant: Applicant;
beforeAll(async () => {
  fixture = await startKycFixture();
});
beforeEach(async () => {
  applicant = await fixture.newApplicant();
});
afterAll(() => fixture.close());

type Decide = (tx: UnitOfWork, decision: Decision, submission: number) => Promise<ApplicationRow>;
const DECISIONS: Record<string, Decide> = {
  startReview: (tx, decision) => decideKyc(tx, decision, { type: 'review' }),
  approve: (tx, decision, submission) => decideKyc(tx, decision, { type: 'approve', submission }),
  reject: (tx, decision, submission) =>
    decideKyc(tx, decision, { type: 'reject', submission, reason: 'The licence has expired' }),
  requestMoreInfo: (tx, decision, submission) =>
    decideKyc(tx, decision, { type: 'request-info', submission, reason: 'Both sides of the ID' }),
  changeTier: (tx, decision) =>
    decideKyc(tx, decision, { type: 'change-tier', tier: 1, reason: 'Smaller than it said' }),
};
const decide = (name: keyof typeof DECISIONS, operatorId = 'opr_1', submission = 1) =>
  fixture.runInTransaction(async (tx) => {
    return DECISIONS[name]?.(tx, { ...applicant.scope('live'), operatorId, at: fixture.now() }, submission);
  });
const kyc = async (environment: 'live' | 'sandbox' = 'live') => (await applicant.read(environment)).body.data;
const copiedStatus = async () => (await findMerchant(fixture.db, applicant.merchantId))?.kycStatus;
const kinds = async () => (await kyc()).timeline.map(({ kind }: { kind: string }) => kind);

/** From where each decision leads, if it may be made there. */
const NEXT: Record<string, Partial<Record<KycStatus, KycStatus>>> = {
  startReview: { SUBMITTED: 'UNDER_REVIEW' },
  approve: { SUBMITTED: 'APPROVED', UNDER_REVIEW: 'APPROVED' },
  reject: { SUBMITTED: 'REJECTED', UNDER_REVIEW: 'REJECTED' },
  requestMoreInfo: { SUBMITTED: 'MORE_INFO_NEEDED', UNDER_REVIEW: 'MORE_INFO_NEEDED' },
  changeTier: { APPROVED: 'APPROVED' },
};
const STATUSES: KycStatus[] = ['NOT_STARTED', 'SUBMITTED', 'UNDER_REVIEW', 'APPROVED', 'REJECTED', 'MORE_INFO_NEEDED'];

/** A live application of a new merchant that stands so, without the way there. */
async function plant(status: KycStatus): Promise<void> {
  applicant = await fixture.newApplicant();
  await rows(
    fixture.db,
    `INSERT INTO kyc_application (merchant_id, environment, status, tier, submissions)
     VALUES (:id, 'live', :status, CASE WHEN :status = 'APPROVED' THEN 2 ELSE 0 END, 1)`,
    { id: applicant.merchantId, status },
  );
}

test.each(STATUSES)('an application that is %s accepts only the decisions of that status', async (status) => {
  for (const name of Object.keys(DECISIONS)) {
    await plant(status);
    const before = await kyc();
    expect(before.status).toBe(status);
    const next = NEXT[name]?.[status];
    if (next) {
      expect(await decide(name)).toMatchObject({ status: next });
      expect([(await kyc()).status, await copiedStatus()]).toEqual([next, next]);
    } else {
      await expect(decide(name)).rejects.toMatchObject({
        code: 'INVALID_STATE',
        message: expect.stringContaining(`is ${status}`),
      });
      expect(await kyc()).toEqual(before);
    }
  }
});

test('the operator who submitted an application cannot raise its tier, and can lower it', async () => {
  await plant('APPROVED');
  const submitted = `UPDATE kyc_application SET tier = 1, submitted_by = 'opr_1' WHERE merchant_id = :merchantId`;
  await rows(fixture.db, submitted, { merchantId: applicant.merchantId });
  const raise = (operatorId: string) =>
    fixture.runInTransaction((tx) =>
      decideKyc(
        tx,
        { ...applicant.scope('live'), operatorId, at: fixture.now() },
        { type: 'change-tier', tier: 2, reason: 'Growth' },
      ),
    );
  await expect(raise('opr_1')).rejects.toMatchObject({ code: 'INVALID_STATE' });
  expect(await raise('opr_2')).toMatchObject({ tier: 2 });
  expect(await decide('changeTier', 'opr_1')).toMatchObject({ tier: 1 });
});

test('a merchant reads the reason and the kind of actor, not the name, and may apply again after REJECTED and MORE_INFO_NEEDED', async () => {
  await applicant.apply('live');
  await decide('startReview', 'opr_planted');
  await decide('reject', 'opr_planted');
  expect(await kyc()).toMatchObject({ status: 'REJECTED', message: 'The licence has expired', missing: [] });
  await applicant.put({ tradeName: 'New Name' });
  expect((await applicant.submit()).body.data).toMatchObject({ status: 'SUBMITTED', message: null, decidedAt: null });
  await decide('requestMoreInfo', 'opr_planted', 2);
  expect(await kyc()).toMatchObject({ status: 'MORE_INFO_NEEDED', message: 'Both sides of the ID' });
  await applicant.submit();
  await decide('approve', 'opr_planted', 3);
  const { text, body } = await applicant.read();
  expect(text).not.toContain('planted');
  expect(body.data).toMatchObject({ status: 'APPROVED', message: null, application: { tradeName: 'New Name' } });
  expect(body.data.timeline.map(({ kind, by, message }: Record<string, string>) => [kind, by, message])).toEqual([
    ['application.saved', 'merchant', undefined],
    ...['1', '2', '3'].map(() => ['document.uploaded', 'merchant', undefined]),
    ['application.submitted', 'merchant', undefined],
    ['review.started', 'operator', undefined],
    ['review.rejected', 'operator', 'The licence has expired'],
    ['application.saved', 'merchant', undefined],
    ['application.submitted', 'merchant', undefined],
    ['review.more_info_needed', 'operator', 'Both sides of the ID'],
    ['application.submitted', 'merchant', undefined],
    ['review.approved', 'operator', undefined],
  ]);
});

test('the timeline retains a submission unchanged by later saves', async () => {
  await applicant.apply('live', { tradeName: 'First' });
  await decide('reject');
  await applicant.put({ tradeName: 'Second' });
  const [handedIn] = await rows<{ detail: { details: { tradeName: string }; documents: string[] } }>(
    fixture.db,
    `SELECT detail FROM timeline WHERE resource_id = :id AND kind = 'application.submitted'`,
    { id: `${applicant.merchantId}/live` },
  );
  expect(handedIn?.detail).toMatchObject({ submission: 1, details: { tradeName: 'First' } });
  expect(handedIn?.detail.documents).toHaveLength(3);
});

test('of two concurrent decisions exactly one succeeds', async () => {
  for (let round = 0; round < 20; round += 1) {
    await plant('SUBMITTED');
    const results = await Promise.allSettled([decide('approve', 'opr_1'), decide('reject', 'opr_2')]);
    const done = results.filter((result) => result.status === 'fulfilled');
    const refused = results.filter((result) => result.status === 'rejected');
    expect([done.length, refused.length]).toEqual([1, 1]);
    expect(refused[0]?.reason).toMatchObject({ code: 'INVALID_STATE' });
    const decided = (await kinds()).filter((kind: string) => /approved|rejected/.test(kind));
    expect(decided).toHaveLength(1);
    expect(await copiedStatus()).toBe((await kyc()).status);
  }
});

test('a decision about a submission that was replaced meanwhile is rejected', async () => {
  await applicant.apply('live', { tradeName: 'Read' });
  await decide('reject', 'opr_2');
  await applicant.put({ tradeName: 'Unread' });
  await applicant.submit();
  const before = await kyc();
  for (const name of ['approve', 'reject', 'requestMoreInfo']) {
    await expect(decide(name, 'opr_1', 1)).rejects.toMatchObject({
      code: 'INVALID_STATE',
      message: expect.stringMatching(/submitted again meanwhile.+submission 1.+submission 2 waits/),
    });
  }
  expect(await kyc()).toEqual(before);
  expect(await decide('approve', 'opr_1', 2)).toMatchObject({ status: 'APPROVED', submissions: 2 });
});

test('an approval with an unknown tier or tier 0 is rejected', async () => {
  await applicant.apply('live');
  for (const tier of [0, -1, 3]) {
    const approval = fixture.runInTransaction((tx) =>
      decideKyc(
        tx,
        { ...applicant.scope('live'), operatorId: 'opr_1', at: fixture.now() },
        { type: 'approve', submission: 1, tier },
      ),
    );
    await expect(approval).rejects.toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'tier' }] });
  }
  expect((await kyc()).status).toBe('SUBMITTED');
});

describe('a sandbox application', () => {
  test.each([
    ['0000000013', 'REJECTED', 'The sandbox rejects a TIN that ends in 13.'],
    ['0000000015', 'MORE_INFO_NEEDED', 'The sandbox requests more information for a TIN that ends in 15.'],
    ['0000000014', 'SUBMITTED', null],
    ['0000000012', 'APPROVED', null],
  ])('with the TIN %s becomes %s after 5 s', async (tin, status, message) => {
    await applicant.apply('sandbox', { tin });
    fixture.wait(4_999);
    expect((await kyc('sandbox')).status).toBe('SUBMITTED');
    fixture.wait(1);
    expect(await kyc('sandbox')).toMatchObject({ status, message });
    expect(await copiedStatus()).toBe('NOT_STARTED');
  });

  test('read concurrently is decided once, and may be changed immediately after', async () => {
    await applicant.apply('sandbox', { tin: '0000000013' });
    fixture.wait(5_000);
    const looks = Array.from({ length: 10 }, () => applicant.read('sandbox'));
    for (const { body } of await Promise.all(looks)) expect(body.data.status).toBe('REJECTED');
    const { timeline } = await kyc('sandbox');
    expect(timeline.filter(({ kind }: { kind: string }) => kind === 'review.rejected')).toHaveLength(1);
    await applicant.submit('sandbox');
    fixture.wait(5_000);
    expect((await applicant.put({ tin: '0000000012' }, 'sandbox')).status).toBe(200);
    await applicant.submit('sandbox');
    fixture.wait(5_000);
    expect((await kyc('sandbox')).status).toBe('APPROVED');
  });
});

test("a merchant's KYC status always equals its live application's", async () => {
  await applicant.apply('live');
  expect(await copiedStatus()).toBe('SUBMITTED');
  await rows(
    fixture.db,
    `UPDATE kyc_application SET status = 'UNDER_REVIEW' WHERE merchant_id = :id AND environment = 'live'`,
    { id: applicant.merchantId },
  );
  expect(await copiedStatus()).toBe('UNDER_REVIEW');
});
