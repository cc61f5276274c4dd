import type { OperatorRole } from '../../src/http/route.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { linkBankAccount } from '../../src/settlements/bank-account/link.ts';
import { createWithdrawal } from '../../src/withdrawals/create.ts';
import { startDesk, type Desk, type Person } from '../backoffice/desk.ts';
import { ACCOUNT, requestSettlement, linkAccount } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';

/** A key in somebody's hands: whose it is, which it is, and its text. */
type Held = Person & { keyId: string };

let desk: Desk;
let scope: MerchantScope;
/** An admin whose key is known to nobody else. */
let boss: Person;
let made = 0;

beforeAll(async () => {
  desk = await startDesk();
  boss = desk.people.admin;
});
beforeEach(async () => {
  scope = await buildFreeMerchant(desk.world);
  await rows(
    desk.database.db,
    `INSERT INTO review_policy (merchant_id, large_amount_santim, two_person_santim, per_hour_max)
     VALUES (:merchantId, 10000, 20000, 20)`,
    scope,
  );
});
afterAll(() => desk.close());

/** Whatever this person does by the API; refused or not. */
const call = (by: Person, path: string, body: object = {}) =>
  desk.send('POST', `/api/ops/${path}`, { key: by.key, body });

/** The same, where it must be done. */
async function done(by: Person, path: string, body: object = {}) {
  const answer = await call(by, path, body);
  expect([path, answer.status < 300 ? 'done' : answer.text]).toEqual([path, 'done']);
  return answer.body.data;
}

async function keyOf(by: Person, operatorId: string): Promise<Held> {
  const { secret, keyId } = await done(by, `operators/${operatorId}/keys`);
  return { operatorId, key: secret, keyId };
}
async function rotated(by: Person, { operatorId, keyId }: Held): Promise<Held> {
  const next = await done(by, `operators/${operatorId}/keys/${keyId}/rotate`);
  return { operatorId, key: next.secret, keyId: next.keyId };
}
/** Somebody hired by the API, who uses the key that was made there. */
async function hiredBy(by: Person, role: OperatorRole = 'finance'): Promise<Held> {
  made += 1;
  const { operatorId } = await done(by, 'operators', { name: 'Bob', email: `bob-${made}@meskot.example`, role });
  return keyOf(by, operatorId);
}
/** Somebody whose key was made on a terminal, by themselves; which it is. */
async function onTheirOwn(role: OperatorRole): Promise<Held> {
  const person = await desk.hire(role);
  const sql = 'SELECT id AS key_id FROM operator_key WHERE operator_id = :operatorId';
  const [key] = await rows<{ keyId: string }>(desk.database.db, sql, { operatorId: person.operatorId });
  return { ...person, keyId: key?.keyId ?? '' };
}

/** Two must approve it. */
async function largeWithdrawal(requestedBy = 'key_1'): Promise<string> {
  await fund(desk.world, scope, 50_000n);
  made += 1;
  const wanted = {
    requestId: `W-${made}`,
    amountSantim: 20_000n,
    channel: 'AWASH',
    destination: { kind: 'phone', phone: '251911000001', accountName: 'Abebe Bikila' },
    requestedBy,
  } as const;
  const { row } = await desk.world.runInTransaction((tx) => createWithdrawal({ ...desk.world, tx }, scope, wanted));
  return row.id;
}

/** Every way in which the boss alone may come to the key of somebody else. */
const WAYS: [string, () => Promise<Person>][] = [
  ['whose key the first has made', () => hiredBy(boss)],
  ['whose key the first has rotated', async () => rotated(boss, await onTheirOwn('finance'))],
  [
    'who has rotated a key that the first had made',
    async () => {
      const other = await hiredBy(boss, 'admin');
      return rotated(other, other);
    },
  ],
  ['whose key was made with a key that the first had made', async () => hiredBy(await hiredBy(boss, 'admin'))],
];

describe.each(WAYS)('an operator and another one, %s,', (_, hire) => {
  test('are one person: in either order the second yes is refused, and a third one counts', async () => {
    const other = await hire();
    const third = await desk.hire('finance');
    for (const [first, second] of [
      [boss, other],
      [other, boss],
    ] as const) {
      const id = await largeWithdrawal();
      await done(first, `withdrawals/${id}/approve`);
      const refused = await call(second, `withdrawals/${id}/approve`);
      expect([refused.status, refused.body.error.code]).toEqual([409, 'INVALID_STATE']);
      expect(refused.body.message).toContain(`${first.operatorId} has done so already`);
      expect(refused.body.message).toContain('both count as one person. Let an operator approve it whose key');
      expect((await done(third, `withdrawals/${id}/approve`)).stage).toBe('CREATED');
      expect(await desk.audited(id)).toEqual(['withdrawal.approve', 'withdrawal.approve']);
    }
  });

  test('are one person who says what became of a withdrawal, too', async () => {
    const other = await hire();
    const third = await desk.hire('finance');
    const id = await largeWithdrawal();
    await rows(desk.database.db, `UPDATE withdrawal SET stage = 'UNKNOWN' WHERE id = :id`, { id });
    const decision = { outcome: 'FAILED', providerReference: 'CASE-7', reason: 'Never paid' };
    await done(boss, `withdrawals/${id}/resolve`, decision);
    await done(other, `withdrawals/${id}/resolve`, { ...decision, providerReference: 'CASE-8' });
    const refused = await call(other, `withdrawals/${id}/resolve`, decision);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'INVALID_STATE']);
    expect(refused.body.message).toContain('Let an operator resolve it whose key');
    expect(await done(third, `withdrawals/${id}/resolve`, decision)).toMatchObject({ status: 'FAILED' });
  });
});

test('two whose keys one admin has made are one person; with keys of two admins they are two', async () => {
  const [abebe, sara] = [await hiredBy(boss), await hiredBy(boss)];
  const id = await largeWithdrawal();
  await done(abebe, `withdrawals/${id}/approve`);
  const refused = await call(sara, `withdrawals/${id}/approve`);
  expect(refused.body.message).toContain(
    `${boss.operatorId} may know the secret of that key and of yours: both count as one person`,
  );
  const anew = await keyOf(await desk.hire('admin'), sara.operatorId);
  expect((await done(anew, `withdrawals/${id}/approve`)).stage).toBe('CREATED');
});

test('an operator who rotates their own key stays who they were: no more, and no less', async () => {
  const [first, second] = [await onTheirOwn('admin'), await onTheirOwn('finance')];
  const next = await rotated(first, first);
  const id = await largeWithdrawal();
  await done(first, `withdrawals/${id}/approve`);
  expect((await call(next, `withdrawals/${id}/approve`)).body.message).toContain('You have already approved');
  expect((await done(second, `withdrawals/${id}/approve`)).stage).toBe('CREATED');
  const another = await largeWithdrawal();
  await done(second, `withdrawals/${another}/approve`);
  expect((await done(next, `withdrawals/${another}/approve`)).stage).toBe('CREATED');
});

test('who may know a key is listed with it', async () => {
  const bob = await hiredBy(boss);
  const { body } = await desk.send('GET', `/api/ops/operators/${bob.operatorId}/keys`);
  expect(body.data).toEqual([
    expect.objectContaining({ keyId: bob.keyId, secretHolders: [bob.operatorId, boss.operatorId] }),
  ]);
});

/** What a merchant's key asks for, and the yes to it: a path and a body. */
type Asked = (keyId: string) => Promise<[string, object?]>;
const ASKED: [string, Asked][] = [
  ['approves a withdrawal', async (keyId) => [`withdrawals/${await largeWithdrawal(keyId)}/approve`]],
  [
    'resolves a withdrawal',
    async (keyId) => {
      const id = await largeWithdrawal(keyId);
      await rows(desk.database.db, `UPDATE withdrawal SET stage = 'UNKNOWN' WHERE id = :id`, { id });
      const decision = { outcome: 'FAILED', providerReference: 'CASE-7', reason: 'Never paid' };
      return [`withdrawals/${id}/resolve`, decision];
    },
  ],
  [
    'approves a settlement',
    async (requestedBy) => {
      await linkAccount(desk.world, scope);
      await fund(desk.world, scope, 100_000n);
      return [`settlements/${(await requestSettlement(desk.world, scope, { requestedBy })).id}/approve`];
    },
  ],
  [
    'verifies a bank account',
    async (requestedBy) => {
      const wanted = { ...ACCOUNT, requestedBy, at: desk.clock() };
      const live = { ...scope, environment: 'live' } as const;
      const { id } = await desk.world.runInTransaction((tx) => linkBankAccount(tx, live, wanted));
      return [`merchants/${scope.merchantId}/bank-account/verify`, { environment: 'live', bankAccountId: id }];
    },
  ],
  [
    'approves an application',
    async (submittedBy) => {
      await rows(
        desk.database.db,
        `INSERT INTO kyc_application (merchant_id, environment, status, submissions, submitted_at, submitted_by)
         VALUES (:merchantId, 'live', 'SUBMITTED', 1, now(), :submittedBy)`,
        { merchantId: scope.merchantId, submittedBy },
      );
      return [`merchants/${scope.merchantId}/kyc/approve`, { environment: 'live', submission: 1 }];
    },
  ],
];

describe.each(ASKED)('nobody %s', (_, asked) => {
  async function refusedTo(who: Person, [path, body]: [string, object?]): Promise<string> {
    const refused = await call(who, path, body);
    expect([path, refused.status, refused.body.error.code]).toEqual([path, 409, 'INVALID_STATE']);
    return refused.body.message;
  }

  test('that was asked for with a key they have made; somebody else does', async () => {
    const { keyId } = await done(boss, `merchants/${scope.merchantId}/keys`, { environment: 'sandbox' });
    const yes = await asked(keyId);
    expect(await refusedTo(boss, yes)).toMatch(
      new RegExp(
        `with the key ${keyId}, whose secret you may know: you cannot \\w+ it. Let another operator \\w+ it, with a key of their own`,
      ),
    );
    const colleague = await hiredBy(boss, 'admin');
    expect(await refusedTo(colleague, yes)).toContain(
      `whose secret ${boss.operatorId} may know, and ${boss.operatorId} may know the secret of your key too`,
    );
    await done(await desk.hire('admin'), ...yes);
  });

  test('that was asked for with a key which was made with a key they have made', async () => {
    const colleague = await hiredBy(boss, 'admin');
    const { keyId } = await done(colleague, `merchants/${scope.merchantId}/keys`, { environment: 'sandbox' });
    const yes = await asked(keyId);
    await refusedTo(boss, yes);
    await refusedTo(colleague, yes);
    await done(await desk.hire('admin'), ...yes);
  });
});
