import { DAY_MS } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { startBackOffice, type BackOffice, type Person } from '../backoffice/back-office.ts';
import { buildFreeMerchant, buildLive } from '../support/withdrawals.ts';

let backOffice: BackOffice;
let scope: MerchantScope;
let proposer: Person;
let checker: Person;

beforeAll(async () => {
  backOffice = await startBackOffice();
  proposer = backOffice.people.admin;
  checker = await backOffice.hire('admin');
});
beforeEach(async () => {
  scope = await buildFreeMerchant(backOffice.fixture);
  await buildLive(backOffice.database.db, scope);
});
afterAll(() => backOffice.close());

const call = (by: Person, path: string, body: object = {}) =>
  backOffice.send('POST', `/api/ops/${path}`, { key: by.key, body });

const decide = (by: Person, verb: `${string}/${'confirm' | 'reject' | 'withdraw'}`, body: object = {}) =>
  call(by, `proposals/${verb}`, body);
const read = async (id: string) => (await backOffice.send('GET', `/api/ops/proposals/${id}`)).body.data;
const count = async (table: string) => Number((await backOffice.database.db.knex()(table).count())[0]?.['count']);

/** Proposes the settlement limit of the merchant. */
async function proposeLimit(max = 5_000, by = proposer): Promise<string> {
  const path = `/api/ops/merchants/${scope.merchantId}/settlement-limit`;
  const answer = await backOffice.send('PUT', path, { key: by.key, body: { min: 100, max, reason: 'Contract' } });
  expect(answer.status).toBe(202);
  return answer.body.data.proposalId;
}
const limit = async () =>
  (await backOffice.send('GET', `/api/ops/merchants/${scope.merchantId}/settlement-limit`)).body.data;

const RULE = { channel: 'TELEBIRR', reason: 'Contract' };
const SETTINGS: [string, string, { wanted: object; unusable: object }][] = [
  [
    'fees',
    'merchant.change-fees',
    {
      wanted: { rules: [{ direction: 'PAY_IN', channel: RULE.channel, basisPoints: 100 }] },
      unusable: { rules: [{ direction: 'PAY_IN', channel: RULE.channel, basisPoints: 9_999 }] },
    },
  ],
  [
    'limits',
    'merchant.change-limits',
    {
      wanted: { rules: [{ direction: 'PAY_IN', channel: RULE.channel, min: 1, max: 2 }] },
      unusable: { rules: [{ direction: 'PAY_IN', channel: RULE.channel, min: 3, max: 2 }] },
    },
  ],
  [
    'review-policy',
    'merchant.change-review',
    {
      wanted: { largeAmount: 10, twoPersonAmount: 20, perHourMax: 3 },
      unusable: { largeAmount: 30, twoPersonAmount: 20, perHourMax: 3 },
    },
  ],
  [
    'settlement-limit',
    'merchant.change-settlement-limit',
    { wanted: { min: 1, max: 2 }, unusable: { min: 3, max: 2 } },
  ],
  [
    'kyc/tier',
    'kyc.change-tier',
    { wanted: { environment: 'live', tier: 1 }, unusable: { environment: 'live', tier: 99 } },
  ],
];

describe.each(SETTINGS)('a change of %s', (setting, action, { wanted, unusable }) => {
  const put = (by: Person, body: object) =>
    backOffice.send('PUT', `/api/ops/merchants/${scope.merchantId}/${setting}`, {
      key: by.key,
      body: { ...body, reason: 'Contract' },
    });

  test('is proposed by one operator, changes nothing before another confirms it, and is audited with both', async () => {
    const proposed = await put(proposer, wanted);
    expect(proposed.status).toBe(202);
    const { proposalId, ...proposal } = proposed.body.data;
    expect(proposal).toMatchObject({ action, status: 'PENDING', proposedBy: proposer.operatorId, reason: 'Contract' });
    expect(proposal.before).not.toEqual(proposal.after);
    expect(await backOffice.audited(scope.merchantId)).toEqual([]);
    expect(await backOffice.audited(proposalId)).toEqual(['proposal.create']);
    // What is proposed twice is not yet so.
    expect((await put(proposer, wanted)).status).toBe(202);

    const own = await decide(proposer, `${proposalId}/confirm`);
    expect([own.status, own.body.error.code, own.body.message]).toEqual([
      409,
      'INVALID_STATE',
      'You proposed this: another operator has to confirm it. You can withdraw it.',
    ]);
    expect(await backOffice.audited(scope.merchantId)).toEqual([]);

    const confirmed = await decide(checker, `${proposalId}/confirm`);
    expect(confirmed.body.data).toMatchObject({ status: 'CONFIRMED', decidedBy: checker.operatorId });
    const log = await backOffice.send('GET', `/api/ops/audit?resourceId=${scope.merchantId}`);
    expect(log.body.data).toMatchObject([
      { action, operatorId: checker.operatorId, proposedBy: proposer.operatorId, reason: 'Contract' },
    ]);
    expect(log.body.data[0].before).toEqual(proposal.before);
    expect((await put(proposer, wanted)).status).toBe(200);
  });

  test('that is unusable is rejected at once, and leaves nothing', async () => {
    const before = [await count('proposal'), await count('operatorAudit'), await count('outbox')];
    const answer = await put(proposer, unusable);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect([await count('proposal'), await count('operatorAudit'), await count('outbox')]).toEqual(before);
  });
});

test('a tier in the sandbox is changed by one operator, with a notice that live needs a second one', async () => {
  await rows(
    backOffice.database.db,
    `INSERT INTO kyc_application (merchant_id, environment, status, tier) VALUES (:merchantId, 'sandbox', 'APPROVED', 2)`,
    { merchantId: scope.merchantId },
  );
  const path = `/api/ops/merchants/${scope.merchantId}/kyc/tier`;
  const { status, body } = await backOffice.send('PUT', path, {
    body: { environment: 'sandbox', tier: 1, reason: 'Trial' },
  });
  expect([status, body.data.tier]).toEqual([200, 1]);
  expect(body.message).toBe('The merchant is in tier 1. In live another operator may have to confirm it.');
});

describe('a proposal', () => {
  test('is not confirmed once what it changes has changed since; it can be rejected', async () => {
    const [first, second] = [await proposeLimit(5_000), await proposeLimit(6_000)];
    expect((await decide(checker, `${first}/confirm`)).status).toBe(200);
    const outdated = await decide(checker, `${second}/confirm`);
    expect([outdated.status, outdated.body.error.code, outdated.body.message]).toEqual([
      409,
      'INVALID_STATE',
      'It has changed since this was proposed. Reject the proposal, and propose it again.',
    ]);
    expect(await limit()).toMatchObject({ max: 5_000 });
    expect(await read(second)).toMatchObject({ status: 'PENDING' });
    expect((await decide(checker, `${second}/reject`, { reason: 'Outdated' })).body.data.status).toBe('REJECTED');
  });

  test('that has expired, after 7 days, is not confirmed, and is listed as EXPIRED', async () => {
    const id = await proposeLimit();
    const { proposedAt, expiresAt } = await read(id);
    expect(Date.parse(expiresAt) - Date.parse(proposedAt)).toBe(7 * DAY_MS);
    await rows(backOffice.database.db, "UPDATE proposal SET expires_at = now() - interval '1 second' WHERE id = :id", {
      id,
    });
    const late = await decide(checker, `${id}/confirm`);
    expect([late.status, late.body.error.code]).toEqual([409, 'INVALID_STATE']);
    expect(late.body.message).toContain('This proposal is EXPIRED');
    expect(await limit()).toMatchObject({ own: false });
    const listed = await backOffice.send('GET', '/api/ops/proposals?status=EXPIRED');
    expect(listed.body.data.map(({ proposalId }: { proposalId: string }) => proposalId)).toContain(id);
    const queue = await backOffice.send('GET', `/api/ops/queue?kind=PROPOSAL&merchantId=${scope.merchantId}`);
    expect(queue.body.data.items).toEqual([]);
  });

  test('that ten confirm at once is confirmed once', async () => {
    const id = await proposeLimit();
    const answers = await Promise.all(Array.from({ length: 10 }, () => decide(checker, `${id}/confirm`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
    expect(await backOffice.audited(scope.merchantId)).toEqual(['merchant.change-settlement-limit']);
  });

  test('is confirmed and rejected only with the permission of its action', async () => {
    const id = await proposeLimit();
    for (const role of ['viewer', 'support', 'finance'] as const) {
      for (const verb of ['confirm', 'reject'] as const) {
        const answer = await decide(backOffice.people[role], `${id}/${verb}`, { reason: 'Fine' });
        expect([answer.status, answer.body.error.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
      }
    }
    expect(await read(id)).toMatchObject({ status: 'PENDING' });
  });

  test('is rejected by another operator with a reason, and withdrawn by its proposer alone', async () => {
    const [rejected, withdrawn] = [await proposeLimit(), await proposeLimit()];
    expect((await decide(checker, `${rejected}/reject`)).body.message).toBe('reason is required');
    expect((await decide(proposer, `${rejected}/reject`, { reason: 'No' })).body.error.code).toBe('INVALID_STATE');
    await decide(checker, `${rejected}/reject`, { reason: 'Too high' });
    expect((await decide(checker, `${withdrawn}/withdraw`)).body.error.code).toBe('INVALID_STATE');
    await decide(proposer, `${withdrawn}/withdraw`);
    expect(await read(rejected)).toMatchObject({ status: 'REJECTED', decisionReason: 'Too high' });
    expect(await read(withdrawn)).toMatchObject({ status: 'WITHDRAWN', decidedBy: proposer.operatorId });
    for (const id of [rejected, withdrawn]) {
      expect((await decide(checker, `${id}/confirm`)).body.error.code).toBe('INVALID_STATE');
    }
    expect(await backOffice.audited(rejected)).toEqual(['proposal.create', 'proposal.reject']);
    expect(await backOffice.audited(withdrawn)).toEqual(['proposal.create', 'proposal.withdraw']);
    expect(await limit()).toMatchObject({ own: false });
  });

  test('waits in the work queue with its calls and its change', async () => {
    const id = await proposeLimit();
    const queue = await backOffice.send('GET', `/api/ops/queue?kind=PROPOSAL&merchantId=${scope.merchantId}`);
    expect(queue.body.data.items).toMatchObject([
      {
        kind: 'PROPOSAL',
        id,
        detail: { action: 'merchant.change-settlement-limit', after: { max: 5_000 } },
        links: {
          read: `/api/ops/proposals/${id}`,
          confirm: `/api/ops/proposals/${id}/confirm`,
          reject: `/api/ops/proposals/${id}/reject`,
        },
      },
    ]);
    await decide(checker, `${id}/confirm`);
    const after = await backOffice.send('GET', `/api/ops/queue?kind=PROPOSAL&merchantId=${scope.merchantId}`);
    expect(after.body.data.items).toEqual([]);
  });
});
