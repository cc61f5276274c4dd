import { createKey } from '../../src/access/api-keys.ts';
import { createOperator } from '../../src/access/operators.ts';
import { readBalance } from '../../src/ledger/balance.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { LOCAL_PEPPER } from '../../src/lib/secrets.ts';
import { readConfirmable } from '../../src/payouts/confirm.ts';
import { createWithdrawal } from '../../src/payouts/withdrawals/create.ts';
import { approveWithdrawal } from '../../src/payouts/withdrawals/review.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import { buildFixture, type Fixture } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { buildFreeMerchant, buildLive, fund } from '../support/withdrawals.ts';
import { addPerson, confirmTwoFactor, openBrowser, usePortalService, type Browser } from './portal.ts';

const portal = usePortalService();
let money: Fixture;
let sandbox: MerchantScope;
let live: MerchantScope;
let owner: Person;
let finance: Person;
let requests = 0;

type Person = Browser & { email: string; userId: string };

beforeAll(async () => {
  money = buildFixture(portal.db, { clock: () => new Date() });
});
beforeEach(async () => {
  sandbox = await buildFreeMerchant(money);
  live = await buildLive(portal.db, sandbox);
  await fund(money, sandbox, 1_000_00n);
  await fund(money, live, 1_000_00n);
  [owner, finance] = [await signedIn('owner'), await signedIn('finance')];
});
afterEach(() => expectLedgerHolds(portal.db));

async function signedIn(role: 'owner' | 'finance', email?: string): Promise<Person> {
  const address = email ?? (await addPerson(portal.db, sandbox.merchantId, role));
  const browser = openBrowser(portal.url);
  await browser.signIn(address);
  await confirmTwoFactor(portal.db, address);
  const { userId } = (await browser.send('GET', '/api/portal/me')).body.data.user;
  return { ...browser, email: address, userId };
}

const setPolicy = (secondPersonFrom: number | null) =>
  owner.send('PUT', '/api/portal/withdrawal-policy', { body: { secondPersonFrom } });

/** Requests a withdrawal of 100 birr in live, as its API does. */
async function requestLive(requestedBy: string): Promise<string> {
  requests += 1;
  const request = {
    requestId: `OUT-${requests}`,
    amountSantim: 100_00n,
    channel: 'TELEBIRR',
    destination: { kind: 'phone', phone: '251911000001', accountName: 'Abebe Bikila' },
    requestedBy,
  } as const;
  const deps = { clock: money.clock, findProvider: money.findProvider };
  return (await money.runInTransaction((tx) => createWithdrawal({ ...deps, tx }, live, request))).row.id;
}

const BODY = {
  amount: 100,
  channel: 'TELEBIRR',
  destination: { phone: '0911000001', accountName: 'Abebe Bikila' },
};
const requestInSandbox = (person: Person, amount = 100) => {
  requests += 1;
  return person.send('POST', '/api/checkout/withdrawal', { body: { ...BODY, amount, requestId: `OUT-${requests}` } });
};

type Decision = { verb?: 'confirm' | 'decline'; environment?: 'sandbox' | 'live' };
const decide = (person: Person, id: string, { verb = 'confirm', environment = 'live' }: Decision = {}) =>
  person.send('POST', `/api/portal/withdrawals/${id}/${verb}`, {
    environment,
    ...(verb === 'decline' && { body: { reason: 'Not ordered' } }),
  });

const ownOf = async (person: Person, environment: 'sandbox' | 'live' = 'live') =>
  (await person.send('GET', '/api/portal/own-requests', { environment })).body.data.ids;

const readLive = async (id: string) =>
  (await owner.send('GET', `/api/checkout/withdrawal/${id}`, { environment: 'live' })).body.data;

const audited = (resourceId: string) =>
  rows<{ action: string; actor: string }>(
    portal.db,
    'SELECT action, actor FROM merchant_audit WHERE resource_id = :resourceId ORDER BY occurred_at, id',
    { resourceId },
  );

test('without the setting, and below its amount, no withdrawal waits for a second person', async () => {
  expect((await finance.send('GET', '/api/portal/withdrawal-policy')).body.data).toEqual({ secondPersonFrom: null });
  expect((await requestInSandbox(finance)).body.data.stage).toBe('UNDER_REVIEW');
  expect((await setPolicy(100)).status).toBe(200);
  expect((await requestInSandbox(finance, 99.99)).body.data.stage).toBe('UNDER_REVIEW');
  expect((await requestInSandbox(finance)).body.data).toMatchObject({
    stage: 'AWAITING_CONFIRMATION',
    pendingReason: expect.stringContaining('Another person'),
  });
  expect(await ownOf(finance, 'sandbox')).toEqual([]);
  const quote = (amount: number) =>
    finance.send('GET', `/api/checkout/withdrawal/quote?channel=TELEBIRR&amount=${amount}`);
  expect((await quote(100)).body.data.needsSecondPerson).toBe(true);
  expect((await quote(99.99)).body.data.needsSecondPerson).toBe(false);
  expect((await setPolicy(null)).status).toBe(200);
  expect((await requestInSandbox(finance)).body.data.stage).toBe('UNDER_REVIEW');
});

test('only an owner changes the setting, with a code of the last 5 minutes, and each change is recorded', async () => {
  const body = { secondPersonFrom: 100 };
  expect((await finance.send('PUT', '/api/portal/withdrawal-policy', { body })).body.error.code).toBe(
    'INSUFFICIENT_SCOPE',
  );
  const sql = `UPDATE user_session SET step_up_at = NULL WHERE user_id = :userId`;
  await rows(portal.db, sql, owner);
  expect((await setPolicy(100)).body.error.code).toBe('STEP_UP_REQUIRED');
  await confirmTwoFactor(portal.db, owner.email);
  for (const amount of [0, -1, 0.001, '100']) expect((await setPolicy(amount as number)).status).toBe(400);
  await setPolicy(100);
  await setPolicy(100);
  await setPolicy(250.5);
  const changes = await rows(
    portal.db,
    `SELECT actor, before, after FROM merchant_audit
     WHERE merchant_id = :merchantId AND action = 'withdrawal-policy.change' ORDER BY occurred_at, id`,
    sandbox,
  );
  expect(changes).toEqual([
    { actor: owner.userId, before: { secondPersonFrom: null }, after: { secondPersonFrom: 100 } },
    { actor: owner.userId, before: { secondPersonFrom: 100 }, after: { secondPersonFrom: 250.5 } },
  ]);
});

test('another person confirms a withdrawal, which then goes to its review; the requester cannot', async () => {
  await setPolicy(100);
  const id = await requestLive(finance.userId);
  await requestInSandbox(finance);
  const refused = await decide(finance, id);
  expect([await ownOf(finance), await ownOf(owner)]).toEqual([[id], []]);
  expect(refused.body.error.code).toBe('INVALID_STATE');
  expect(refused.body.message).toContain('requested by you: another person has to confirm it');
  const confirmed = await decide(owner, id);
  expect([confirmed.status, confirmed.body.data.stage]).toEqual([200, 'UNDER_REVIEW']);
  const { timeline } = await readLive(id);
  expect(timeline.map(({ kind }: { kind: string }) => kind)).toEqual([
    'withdrawal.created',
    'confirmation.requested',
    'confirmation.given',
    'review.started',
  ]);
  expect(await audited(id)).toEqual([{ action: 'withdrawal.confirm', actor: owner.userId }]);
  expect(await ownOf(finance)).toEqual([]);
  expect((await decide(owner, id)).body.error.code).toBe('INVALID_STATE');
});

test('a key counts as the person who created it, and an e-mail address as one person', async () => {
  await setPolicy(100);
  const keyOf = async (createdBy: string): Promise<string> => {
    const key = { ...live, kind: 'secret', createdBy } as const;
    const deps = { pepper: LOCAL_PEPPER, clock: money.clock };
    return (await portal.db.transaction((trx) => createKey({ ...deps, trx }, key))).key.id;
  };
  const byOwnKey = await requestLive(await keyOf(finance.userId));
  const refused = await decide(finance, byOwnKey);
  expect([await ownOf(finance), await ownOf(owner)]).toEqual([[byOwnKey], []]);
  expect(refused.body.message).toMatch(/requested with the key key_\w+, which you created/);
  expect((await decide(owner, byOwnKey)).status).toBe(200);
  // The same person invited the merchant to the key, as an operator.
  const { id: operatorId } = await portal.db.transaction((trx) =>
    createOperator(trx, { name: 'Sara', email: finance.email.toUpperCase(), role: 'admin' }),
  );
  const byInvitation = await requestLive(await keyOf(operatorId));
  expect(await ownOf(finance)).toEqual([byInvitation]);
  expect((await decide(finance, byInvitation)).body.error.code).toBe('INVALID_STATE');
  expect((await decide(owner, byInvitation)).status).toBe(200);
});

test('who confirmed a withdrawal for the merchant cannot approve it as an operator', async () => {
  await setPolicy(100);
  const id = await requestLive(finance.userId);
  expect((await decide(owner, id)).status).toBe(200);
  const operator = await portal.db.transaction((trx) =>
    createOperator(trx, { name: 'Sara', email: owner.email, role: 'finance' }),
  );
  const approval = { operatorId: operator.id, at: new Date() };
  await expect(money.runInTransaction((tx) => approveWithdrawal(tx, id, approval))).rejects.toMatchObject({
    code: 'INVALID_STATE',
    message: 'This withdrawal was confirmed by you: you cannot approve it, another operator has to approve it.',
  });
});

test('a declined withdrawal is cancelled with its reason, and its money is available again', async () => {
  await setPolicy(100);
  const id = await requestLive(finance.userId);
  expect((await readBalance(portal.db, live)).reservedSantim).toBeGreaterThan(0n);
  const declined = await decide(owner, id, { verb: 'decline' });
  expect([declined.status, declined.body.data.status]).toEqual([200, 'CANCELLED']);
  expect(await readBalance(portal.db, live)).toMatchObject({ availableSantim: 1_000_00n, reservedSantim: 0n });
  const { timeline } = await readLive(id);
  expect(timeline.at(-1)).toMatchObject({ kind: 'confirmation.declined', detail: { reason: 'Not ordered' } });
  expect(await audited(id)).toEqual([{ action: 'withdrawal.decline', actor: owner.userId }]);
  expect((await decide(owner, id)).body.error.code).toBe('INVALID_STATE');
});

test('a withdrawal that is not confirmed within 7 days is cancelled, with its event and a mail, also to its requester', async () => {
  await setPolicy(100);
  const id = await requestLive(finance.userId);
  await rows(portal.db, `UPDATE membership SET role = 'viewer' WHERE user_id = :userId`, finance);
  const readByWorkflow = () => readConfirmable(money, WITHDRAWAL, { id, at: new Date() });
  const age = `UPDATE payout SET requested_at = now() - interval '1 hour' * :hours WHERE id = :id`;
  const ageOf = (hours: number) => rows(portal.db, age, { id, hours });
  await ageOf(7 * 24 - 1);
  await readByWorkflow();
  expect((await readLive(id)).stage).toBe('AWAITING_CONFIRMATION');

  await ageOf(7 * 24 + 1);
  expect((await decide(owner, id)).body.message).toMatch(/could be confirmed until 2/);
  await readByWorkflow();
  const { status, timeline } = await readLive(id);
  expect([status, timeline.at(-1).kind]).toEqual(['CANCELLED', 'confirmation.expired']);
  expect(await readBalance(portal.db, live)).toMatchObject({ availableSantim: 1_000_00n, reservedSantim: 0n });
  const events = await rows(portal.db, 'SELECT event FROM webhook_event WHERE resource_id = :id ORDER BY id', { id });
  expect(events).toContainEqual({ event: 'withdrawal.canceled' });
  const sql = `SELECT recipient FROM mail WHERE notice ->> 'kind' = 'withdrawal.unconfirmed' AND notice ->> 'withdrawalId' = :id`;
  const mailed = await rows<{ recipient: string }>(portal.db, sql, { id });
  expect(mailed.map(({ recipient }) => recipient).toSorted()).toEqual([owner.email, finance.email].toSorted());
});

test('its workflow, twice, and a person at once end a withdrawal that was not confirmed in time, once', async () => {
  await setPolicy(100);
  const id = await requestLive(finance.userId);
  await rows(portal.db, `UPDATE payout SET requested_at = now() - interval '8 days' WHERE id = :id`, { id });
  const readByWorkflow = () => readConfirmable(money, WITHDRAWAL, { id, at: new Date() });
  const byPerson = [decide(owner, id), decide(owner, id, { verb: 'decline' })];
  await Promise.all([readByWorkflow(), readByWorkflow(), ...byPerson]);
  const { timeline } = await readLive(id);
  const decided = timeline.filter(({ kind }: { kind: string }) => kind.startsWith('confirmation.'));
  expect(decided.map(({ kind }: { kind: string }) => kind)).toEqual([
    'confirmation.requested',
    expect.stringMatching(/^confirmation\.(expired|declined)$/),
  ]);
  expect(await readBalance(portal.db, live)).toMatchObject({ availableSantim: 1_000_00n, reservedSantim: 0n });
});

test('a withdrawal that waits is mailed to those who may confirm it, but not to its requester', async () => {
  await setPolicy(100);
  await addPerson(portal.db, sandbox.merchantId, 'support');
  const id = await requestLive(finance.userId);
  const sql = `SELECT recipient FROM mail WHERE notice ->> 'kind' = 'withdrawal.awaiting' AND notice ->> 'withdrawalId' = :id`;
  expect(await rows(portal.db, sql, { id })).toEqual([{ recipient: owner.email }]);
});

test('the requester can cancel a withdrawal that waits; in live a code is needed to confirm one, and two factors to decline it', async () => {
  await setPolicy(100);
  const id = (await requestInSandbox(finance)).body.data.withdrawalRequestId;
  expect((await finance.send('POST', `/api/checkout/withdrawal/${id}/cancel`)).body.data.status).toBe('CANCELLED');
  const waiting = await requestLive(finance.userId);
  await rows(portal.db, 'UPDATE user_session SET step_up_at = NULL WHERE user_id = :userId', owner);
  expect((await decide(owner, waiting)).body.error.code).toBe('STEP_UP_REQUIRED');
  await rows(portal.db, 'UPDATE user_account SET totp_enabled_at = NULL WHERE id = :userId', owner);
  expect((await decide(owner, waiting, { verb: 'decline' })).body.error.code).toBe('TWO_FACTOR_REQUIRED');
});

test('in the sandbox one person may request and confirm, with a notice that live differs', async () => {
  await setPolicy(100);
  const id = (await requestInSandbox(finance)).body.data.withdrawalRequestId;
  const confirmed = await decide(finance, id, { environment: 'sandbox' });
  expect(confirmed.body.message).toBe('Withdrawal confirmed. In live another person has to confirm it.');
});
