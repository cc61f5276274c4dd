import { createOperator } from '../../src/access/operators.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { setSecondPersonFrom } from '../../src/merchants/operations.ts';
import { createRefund } from '../../src/payouts/refunds/create.ts';
import { REFUND } from '../../src/payouts/refunds/refund.ts';
import { resolvePayout } from '../../src/payouts/resolve.ts';
import { buildAttempt, buildFixture, buildSession, PAID, type Fixture } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { buildFreeMerchant, buildLive } from '../support/withdrawals.ts';
import { addPerson, confirmTwoFactor, openBrowser, usePortalService, type Browser } from './portal.ts';

const portal = usePortalService();
let money: Fixture;
let sandbox: MerchantScope;
let live: MerchantScope;
let references = 0;

beforeAll(async () => {
  money = buildFixture(portal.db, { clock: () => new Date() });
});
beforeEach(async () => {
  sandbox = await buildFreeMerchant(money);
  live = await buildLive(portal.db, sandbox);
  // Live needs a payment in the sandbox.
  await pay(sandbox);
});
afterEach(() => expectLedgerHolds(portal.db));

async function signedIn(role: 'owner' | 'admin' | 'finance' | 'support', isConfirmed = true): Promise<Browser> {
  const address = await addPerson(portal.db, sandbox.merchantId, role);
  const browser = openBrowser(portal.url);
  await browser.signIn(address);
  if (isConfirmed) await confirmTwoFactor(portal.db, address);
  return browser;
}

async function pay(scope: MerchantScope): Promise<string> {
  const { sessionId, transactionId } = await buildSession(money, scope, { amountSantim: 200_00n });
  const attemptId = await buildAttempt(money, { ...scope, sessionId });
  money.provider.returns({ ...PAID, amountSantim: 200_00n });
  await money.checkAttempt(attemptId, { notifyWorkflow: false });
  return transactionId;
}

const request = async (person: Browser, scope: MerchantScope, amount = 50) => {
  references += 1;
  const path = `/api/checkout/txns/${await pay(scope)}/refunds`;
  return person.send('POST', path, { environment: scope.environment, body: { reference: `R-${references}`, amount } });
};
/** A refund by the owner, as the API requests it where a live provider is configured; here none is. */
async function requestLive(): Promise<string> {
  const { merchantId } = sandbox;
  const { userId } = await portal.db.knex()('membership').where({ merchantId, role: 'owner' }).first('userId');
  const wanted = { transactionId: await pay(live), reference: 'LIVE-1', amountSantim: 50_00n, returnFee: false };
  const request = { ...wanted, requestedBy: userId };
  const { row } = await money.runInTransaction((tx) => createRefund({ ...money, tx }, live, request));
  expect(row).toMatchObject({ status: 'PENDING', stage: 'AWAITING_CONFIRMATION' });
  return row.id;
}
const confirm = (person: Browser, refundId: string) =>
  person.send('POST', `/api/portal/refunds/${refundId}/confirm`, { environment: 'live' });
const needSecondPerson = () => portal.db.transaction((trx) => setSecondPersonFrom(trx, sandbox.merchantId, 50_00n));

test('owners and admins request refunds, other roles read them', async () => {
  for (const role of ['owner', 'admin'] as const) {
    expect((await request(await signedIn(role), sandbox)).status).toBe(202);
  }
  for (const role of ['finance', 'support'] as const) {
    const person = await signedIn(role);
    expect((await request(person, sandbox)).body.error.code).toBe('INSUFFICIENT_SCOPE');
    expect((await person.send('GET', '/api/checkout/refunds')).body.data).toHaveLength(2);
  }
});

test('in live a refund needs a code of the last five minutes', async () => {
  const owner = await signedIn('owner');
  await portal.db
    .knex()('userSession')
    .update({ stepUpAt: new Date(Date.now() - 3_600_000) });
  const { status, body } = await request(owner, live);
  expect([status, body.error.code]).toEqual([403, 'STEP_UP_REQUIRED']);
});

test('from the amount of the policy on another person confirms it; the requester cannot in live', async () => {
  const [owner, admin] = [await signedIn('owner'), await signedIn('admin')];
  await needSecondPerson();
  const refundId = await requestLive();
  const own = await confirm(owner, refundId);
  expect([own.status, own.body.message]).toEqual([409, expect.stringContaining('This refund was requested by you')]);
  const ownOf = async (person: Browser) =>
    (await person.send('GET', '/api/portal/own-requests', { environment: 'live' })).body.data.ids;
  expect([await ownOf(owner), await ownOf(admin)]).toEqual([[refundId], []]);
  expect((await confirm(await signedIn('finance'), refundId)).status).toBe(403);
  const confirmed = await confirm(admin, refundId);
  expect(confirmed.body).toMatchObject({ statusCode: 200, data: { stage: 'CREATED' } });
  const mails: { notice: object; recipient: string }[] = await portal.db
    .knex()('mail')
    .whereRaw(`notice ->> 'refundId' = ?`, [refundId]);
  expect(mails).toMatchObject([{ notice: { kind: 'refund.awaiting' } }]);
  const audit = await owner.send('GET', `/api/portal/audit?resourceId=${refundId}`, { environment: 'live' });
  expect(audit.body.data.map(({ action }: { action: string }) => action)).toEqual(['refund.confirm']);
});

test('who has requested or confirmed it for the merchant cannot resolve it as an operator', async () => {
  const [owner, admin] = [await signedIn('owner'), await signedIn('admin')];
  await needSecondPerson();
  const refundId = await requestLive();
  await confirm(admin, refundId);
  for (const [person, did] of [
    [owner, 'requested'],
    [admin, 'confirmed'],
  ] as const) {
    const { email } = (await person.send('GET', '/api/portal/me')).body.data.user;
    const about = { name: 'Sara', email, role: 'finance' } as const;
    const { id: operatorId } = await portal.db.transaction((trx) => createOperator(trx, about));
    const found = { outcome: 'FAILED', providerReference: 'CASE-1', reason: 'It was not sent' } as const;
    const resolving = money.runInTransaction((tx) =>
      resolvePayout(tx, REFUND, { id: refundId, ...found, operatorId, at: new Date() }),
    );
    await expect(resolving).rejects.toThrow(`This refund was ${did} by you: you cannot resolve it`);
  }
});

test('declined by another person it fails with the reason, and its money is available again', async () => {
  const [owner, admin] = [await signedIn('owner'), await signedIn('admin')];
  await needSecondPerson();
  const { refundId } = (await request(owner, sandbox)).body.data;
  const declined = await admin.send('POST', `/api/portal/refunds/${refundId}/decline`, {
    environment: 'sandbox',
    body: { reason: 'Not agreed' },
  });
  expect(declined.body.data).toMatchObject({ status: 'FAILED', failure: { message: 'Not agreed' } });
  const audit = await owner.send('GET', `/api/portal/audit?resourceId=${refundId}`);
  expect(audit.body.data).toMatchObject([
    { action: 'refund.decline' },
    { action: 'refund.create', after: { amount: 50 } },
  ]);
  expect((await owner.send('GET', '/api/checkout/balance')).body.data).toMatchObject({ available: 400, reserved: 0 });
});
