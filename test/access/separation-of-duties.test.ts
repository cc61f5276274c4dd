import { setMembership } from '../../src/access/users/users.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Environment, MerchantScope } from '../../src/lib/scope.ts';
import { createWithdrawal } from '../../src/payouts/withdrawals/create.ts';
import { linkBankAccount } from '../../src/settlements/bank-account/account.ts';
import { startBackOffice, type BackOffice, type Person } from '../backoffice/back-office.ts';
import { ACCOUNT, requestSettlement, linkAccount } from '../support/settlements.ts';
import { buildFreeMerchant, buildLive, fund } from '../support/withdrawals.ts';

let backOffice: BackOffice;
let scopes: Record<Environment, MerchantScope>;
/** Invites the merchant to its keys. */
let inviter: Person;
let made = 0;

beforeAll(async () => {
  backOffice = await startBackOffice();
  inviter = backOffice.people.admin;
});
beforeEach(async () => {
  const sandbox = await buildFreeMerchant(backOffice.fixture);
  scopes = { sandbox, live: await buildLive(backOffice.database.db, sandbox) };
  await rows(
    backOffice.database.db,
    `INSERT INTO review_policy (merchant_id, large_amount_santim, two_person_santim, per_hour_max)
     VALUES (:merchantId, 10000, 20000, 20)`,
    sandbox,
  );
});
afterAll(() => backOffice.close());

const call = (by: Person, path: string, body: object = {}) =>
  backOffice.send('POST', `/api/ops/${path}`, { key: by.key, body });

/** The same, where it must succeed. */
async function done(by: Person, path: string, body: object = {}) {
  const answer = await call(by, path, body);
  expect([path, answer.status < 300 ? 'done' : answer.text]).toEqual([path, 'done']);
  return answer.body;
}

async function rejected(by: Person, path: string, body: object = {}): Promise<string> {
  const answer = await call(by, path, body);
  expect([path, answer.status, answer.body.error.code]).toEqual([path, 409, 'INVALID_STATE']);
  return answer.body.message;
}

async function withdrawal(scope: MerchantScope, requestedBy = 'key_1', amountSantim = 20_000n): Promise<string> {
  await fund(backOffice.fixture, scope, 50_000n);
  made += 1;
  const wanted = {
    requestId: `W-${made}`,
    amountSantim,
    channel: 'AWASH',
    destination: { kind: 'phone', phone: '251911000001', accountName: 'Abebe Bikila' },
    requestedBy,
  } as const;
  const { row } = await backOffice.fixture.runInTransaction((tx) =>
    createWithdrawal({ ...backOffice.fixture, tx }, scope, wanted),
  );
  return row.id;
}

async function settlement(scope: MerchantScope, requestedBy = 'key_1'): Promise<string> {
  await linkAccount(backOffice.fixture, scope);
  await rows(
    backOffice.database.db,
    `UPDATE bank_account SET status = 'VERIFIED', verified_at = now(), decided_by = 'opr_1', decided_at = now()
     WHERE merchant_id = :merchantId AND status = 'PENDING'`,
    { merchantId: scope.merchantId },
  );
  await fund(backOffice.fixture, scope, 100_000n);
  return (await requestSettlement(backOffice.fixture, scope, { requestedBy })).id;
}

const RESOLUTION = { outcome: 'FAILED', providerReference: 'CASE-7', reason: 'Never paid' };
const uncertain = (id: string) =>
  rows(backOffice.database.db, `UPDATE payout SET stage = 'UNKNOWN' WHERE id = :id`, { id });

describe('two persons', () => {
  test.each(['sandbox', 'live'] as const)('approve a large withdrawal in %s, not one of them twice', async (place) => {
    const [first, second] = [backOffice.people.finance, backOffice.people.admin];
    const id = await withdrawal(scopes[place]);
    await done(first, `withdrawals/${id}/approve`);
    expect(await rejected(first, `withdrawals/${id}/approve`)).toContain('You have already approved');
    expect((await done(second, `withdrawals/${id}/approve`)).data.stage).toBe('CREATED');
    expect(await backOffice.audited(id)).toEqual(['withdrawal.approve', 'withdrawal.approve']);
  });

  test('are not one person with two keys', async () => {
    const { operatorId, key } = await backOffice.hire('finance');
    const other = (await done({ operatorId, key }, 'keys')).data.secret;
    const id = await withdrawal(scopes.live);
    await done({ operatorId, key }, `withdrawals/${id}/approve`);
    expect(await rejected({ operatorId, key: other }, `withdrawals/${id}/approve`)).toContain('already approved');
  });

  test('are an inviter and an invited one, for each has created their own key', async () => {
    const name = { name: 'Bob', email: 'bob@meskot.example', role: 'finance' };
    const { operatorId, invitation } = (await done(inviter, 'operators', name)).data;
    const { token } = invitation;
    const accepted = await backOffice.send('POST', '/api/invitations/accept', { key: null, body: { token } });
    const id = await withdrawal(scopes.live);
    await done(inviter, `withdrawals/${id}/approve`);
    const bob = { operatorId, key: accepted.body.data.secret };
    expect((await done(bob, `withdrawals/${id}/approve`)).data.stage).toBe('CREATED');
  });

  test('resolve a large withdrawal with the same resolution; one who repeats it counts once', async () => {
    const [first, second] = [backOffice.people.finance, backOffice.people.admin];
    const id = await withdrawal(scopes.live);
    await uncertain(id);
    expect((await done(first, `withdrawals/${id}/resolve`, RESOLUTION)).data.othersNeeded).toBe(1);
    expect((await done(first, `withdrawals/${id}/resolve`, RESOLUTION)).data.othersNeeded).toBe(1);
    await done(second, `withdrawals/${id}/resolve`, { ...RESOLUTION, providerReference: 'CASE-8' });
    expect(await done(second, `withdrawals/${id}/resolve`, RESOLUTION)).toMatchObject({ data: { status: 'FAILED' } });
  });

  test.each([
    [19_999n, 1],
    [20_000n, 2],
  ])('are needed from the two-person amount on: %s santim need %s', async (amountSantim, needed) => {
    const id = await withdrawal(scopes.live, 'key_1', amountSantim);
    const { data } = await done(backOffice.people.finance, `withdrawals/${id}/approve`);
    expect(data.stage).toBe(needed === 1 ? 'CREATED' : 'UNDER_REVIEW');
  });
});

/** What a key requests, and the decision about it: a path and a body. */
type Requested = (scope: MerchantScope, requestedBy: string) => Promise<[string, object?]>;
const REQUESTED: [string, string, Requested][] = [
  ['withdrawal', 'approve', async (scope, by) => [`withdrawals/${await withdrawal(scope, by, 10_000n)}/approve`]],
  [
    'withdrawal',
    'resolve',
    async (scope, by) => {
      const id = await withdrawal(scope, by, 10_000n);
      await uncertain(id);
      return [`withdrawals/${id}/resolve`, RESOLUTION];
    },
  ],
  ['settlement', 'approve', async (scope, by) => [`settlements/${await settlement(scope, by)}/approve`]],
  [
    'bank account',
    'verify',
    async (scope, requestedBy) => {
      const wanted = { ...ACCOUNT, requestedBy, at: backOffice.clock() };
      const { id } = await backOffice.fixture.runInTransaction((tx) => linkBankAccount(tx, scope, wanted));
      // The sandbox verifies by itself.
      const pending = `UPDATE bank_account SET status = 'PENDING', verified_at = NULL, decided_at = NULL WHERE id = :id`;
      await rows(backOffice.database.db, pending, { id });
      const { environment } = scope;
      return [`merchants/${scope.merchantId}/bank-account/verify`, { environment, bankAccountId: id }];
    },
  ],
  [
    'application',
    'approve',
    async ({ environment }, submittedBy) => {
      const { merchantId } = await buildFreeMerchant(backOffice.fixture);
      await rows(
        backOffice.database.db,
        `INSERT INTO kyc_application (merchant_id, environment, status, submissions, submitted_at, submitted_by)
         VALUES (:merchantId, :environment, 'SUBMITTED', 1, now(), :submittedBy)`,
        { merchantId, environment, submittedBy },
      );
      return [`merchants/${merchantId}/kyc/approve`, { environment, submission: 1 }];
    },
  ],
];

describe.each(REQUESTED)('a %s: the operator behind the request', (what, verb, requested) => {
  test(`does not ${verb} it in live, with a message that names what to do; another operator does`, async () => {
    const { merchantId, environment } = scopes.live;
    const { keyId } = await backOffice.invitedKey(merchantId, { environment });
    const decision = await requested(scopes.live, keyId);
    const message = await rejected(inviter, ...decision);
    expect(message).toContain(`This ${what} was`);
    expect(message).toContain(`with the key ${keyId}, to which you invited the merchant: you cannot ${verb} it,`);
    expect(message).toContain(`another operator has to ${verb} it.`);
    await done(await backOffice.hire('admin'), ...decision);
  });

  test(`does not ${verb} it in live where they requested it themselves`, async () => {
    const decision = await requested(scopes.live, inviter.operatorId);
    expect(await rejected(inviter, ...decision)).toContain(`by you: you cannot ${verb} it`);
    await done(await backOffice.hire('admin'), ...decision);
  });

  test(`does not ${verb} it in live where a user of the merchant with the same e-mail address requested it`, async () => {
    const { operatorId } = inviter;
    const userId = `usr_of_${operatorId}`;
    await rows(
      backOffice.database.db,
      `INSERT INTO user_account (id, email, name, password_hash)
       SELECT :userId, upper(email), name, '-' FROM operator WHERE id = :operatorId ON CONFLICT DO NOTHING`,
      { userId, operatorId },
    );
    const decision = await requested(scopes.live, userId);
    expect(await rejected(inviter, ...decision)).toContain(`by you: you cannot ${verb} it`);
    await done(await backOffice.hire('admin'), ...decision);
  });

  test(`does not ${verb} it in live where a person whom they invited to the merchant requested it`, async () => {
    const { operatorId } = inviter;
    const userId = newId('usr');
    const sql = `INSERT INTO user_account (id, email, name, password_hash) VALUES (:userId, :userId || '@x.example', 'Hana', '-')`;
    await rows(backOffice.database.db, sql, { userId });
    const member = { userId, merchantId: scopes.live.merchantId, role: 'owner', invitedBy: operatorId } as const;
    await backOffice.database.db.transaction((trx) => setMembership(trx, member));
    const decision = await requested(scopes.live, userId);
    expect(await rejected(inviter, ...decision)).toContain(`by ${userId}, whom you invited: you cannot ${verb} it`);
    await done(await backOffice.hire('admin'), ...decision);
  });

  test(`may ${verb} it in the sandbox, and the answer names the rule of live`, async () => {
    const { keyId } = await backOffice.invitedKey(scopes.sandbox.merchantId);
    const { message } = await done(inviter, ...(await requested(scopes.sandbox, keyId)));
    expect(message).toContain(`. In live another operator has to ${verb} it.`);
  });

  test(`is not named to another operator who decides to ${verb} it in the sandbox`, async () => {
    const { keyId } = await backOffice.invitedKey(scopes.sandbox.merchantId);
    const { message } = await done(await backOffice.hire('admin'), ...(await requested(scopes.sandbox, keyId)));
    expect(message).not.toContain('In live');
  });

  test(`may be anybody where the key was created on a terminal: any operator may ${verb} it`, async () => {
    await backOffice.merchantKey(scopes.live.merchantId, 'live');
    const [key] = await rows<{ id: string }>(
      backOffice.database.db,
      'SELECT id FROM api_key WHERE merchant_id = :merchantId',
      {
        merchantId: scopes.live.merchantId,
      },
    );
    await done(inviter, ...(await requested(scopes.live, key?.id ?? '')));
  });
});

describe('a settlement', () => {
  test('is not sent in live by who approved it', async () => {
    const id = await settlement(scopes.live);
    await done(inviter, `settlements/${id}/approve`);
    expect(await rejected(inviter, `settlements/${id}/sent`)).toBe(
      'This settlement was approved by you: you cannot send it, another operator has to send it.',
    );
    expect((await done(backOffice.people.finance, `settlements/${id}/sent`)).data.status).toBe('PROCESSING');
    expect(await backOffice.audited(id)).toEqual(['settlement.approve', 'settlement.sent']);
  });

  test('is sent in the sandbox by who approved it, and the answer names the rule of live', async () => {
    const id = await settlement(scopes.sandbox);
    await done(inviter, `settlements/${id}/approve`);
    const { message } = await done(inviter, `settlements/${id}/sent`);
    expect(message).toBe('Settlement is PROCESSING. In live another operator has to send it.');
  });
});
