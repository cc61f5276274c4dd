import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { addPerson } from '../portal/portal.ts';
import { buildMerchant } from '../support/build.ts';
import { withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';
import { startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;
let scope: MerchantScope;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
beforeEach(async () => {
  scope = await buildMerchant(backOffice.database.db);
});
afterAll(() => backOffice.close());

const lastAudit = async () => (await backOffice.send('GET', '/api/ops/audit?limit=1')).body.data[0];

test('merchants are listed newest first, and can be found by a part of their name', async () => {
  const { merchantId } = await buildMerchant(backOffice.database.db, 'Zemen Bookshop');
  const all = await backOffice.send('GET', '/api/ops/merchants');
  expect(all.status).toBe(200);
  expect(all.body.data[0]).toMatchObject({ merchantId, name: 'Zemen Bookshop', status: 'ACTIVE' });
  const found = await backOffice.send('GET', '/api/ops/merchants?search=BOOKS');
  expect(found.body.data.map((one: { merchantId: string }) => one.merchantId)).toEqual([merchantId]);
  expect(found.body.pagination.total).toBe(1);
});

test('requests of a suspended merchant get an error, and the suspension has an audit row with operator, reason and request', async () => {
  const key = await backOffice.merchantKey(scope.merchantId);
  const path = `/api/ops/merchants/${scope.merchantId}`;
  const answer = await backOffice.send('POST', `${path}/suspend`, { body: { reason: 'Fraud reported' } });
  expect([answer.status, answer.body.data.status]).toEqual([200, 'SUSPENDED']);
  // Here a merchant's key is refused as such, whatever its merchant is.
  expect((await backOffice.send('GET', '/api/ops/merchants', { key })).body.error.code).toBe('INSUFFICIENT_SCOPE');
  expect(await lastAudit()).toMatchObject({
    operatorId: backOffice.people.admin.operatorId,
    action: 'merchant.suspend',
    resourceId: scope.merchantId,
    merchantId: scope.merchantId,
    before: { status: 'ACTIVE' },
    after: { status: 'SUSPENDED' },
    reason: 'Fraud reported',
    requestId: answer.headers.get('x-request-id'),
  });
  const again = await backOffice.send('POST', `${path}/suspend`, { body: { reason: 'Fraud reported' } });
  expect(again.status).toBe(200);
  await backOffice.send('POST', `${path}/resume`, { body: { reason: 'A mistake' } });
  expect(await backOffice.audited(scope.merchantId)).toEqual(['merchant.suspend', 'merchant.resume']);
});

test('a payout approved before its merchant was suspended is sent after the suspension', async () => {
  const merchant = await buildFreeMerchant(backOffice.fixture);
  await fund(backOffice.fixture, merchant, 1_000_00n);
  const { id } = await withdraw(backOffice.fixture, merchant);
  const { db } = backOffice.database;
  await rows(db, `UPDATE payout SET stage = 'CREATED' WHERE id = :id`, { id });
  const path = `/api/ops/merchants/${merchant.merchantId}`;
  const restarted = () =>
    rows(db, `SELECT signal FROM outbox WHERE workflow_id = :workflowId AND signal = 'approved'`, {
      workflowId: `withdrawal-${id}`,
    });
  await backOffice.send('POST', `${path}/suspend`, { body: { reason: 'Fraud reported' } });
  expect(await restarted()).toEqual([]);
  await backOffice.send('POST', `${path}/resume`, { body: { reason: 'A mistake' } });
  expect(await restarted()).toHaveLength(1);
});

test('suspending without a reason, or a merchant that does not exist, is rejected', async () => {
  const path = `/api/ops/merchants/${scope.merchantId}/suspend`;
  const unsaid = await backOffice.send('POST', path, { body: {} });
  expect([unsaid.status, unsaid.body.message]).toEqual([400, 'reason is required']);
  const nobody = await backOffice.send('POST', `/api/ops/merchants/${newId('mrc')}/suspend`, { body: { reason: 'x' } });
  expect(nobody.body.error.code).toBe('NOT_FOUND');
  expect(await backOffice.audited(scope.merchantId)).toEqual([]);
});

test('a new merchant has its channels in the sandbox and none in live', async () => {
  const made = await backOffice.send('POST', '/api/ops/merchants', { body: { name: 'Habesha Crafts' } });
  expect(made.status).toBe(201);
  const { merchantId } = made.body.data;
  const { body } = await backOffice.send('GET', `/api/ops/merchants/${merchantId}`);
  expect(body.data).toMatchObject({ name: 'Habesha Crafts', currency: 'ETB' });
  const approvals = (place: string) => body.data[place].channels.map((one: { approval: string }) => one.approval);
  expect(approvals('sandbox')).toEqual(['APPROVED', 'APPROVED', 'APPROVED', 'NONE']);
  expect(approvals('live')).toEqual(['NONE', 'NONE', 'NONE', 'NONE']);
});

test("a merchant's key is returned once to who accepts the invitation, works, is listed without its secret, and ends when revoked", async () => {
  const path = `/api/ops/merchants/${scope.merchantId}/keys`;
  const body = { environment: 'sandbox', name: 'Shop', scopes: ['balance:read'], days: 30 };
  const { secret, keyId } = await backOffice.invitedKey(scope.merchantId, body);
  expect(secret).toMatch(/^rk_test_/);
  const listed = await backOffice.send('GET', path);
  expect(listed.body.data).toHaveLength(1);
  expect(listed.text).not.toContain(secret);
  expect((await backOffice.send('GET', '/api/ops/merchants', { key: secret })).body.error.code).toBe(
    'INSUFFICIENT_SCOPE',
  );

  const revoked = await backOffice.send('POST', `${path}/${keyId}/revoke`, { body: { reason: 'Leaked' } });
  expect(revoked.body.data.revokedAt).not.toBeNull();
  await backOffice.send('POST', `${path}/${keyId}/revoke`, { body: { reason: 'Leaked' } });
  expect(await backOffice.audited(keyId)).toEqual(['key.create', 'key.revoke']);
  const log = await rows<{ row: string }>(backOffice.database.db, 'SELECT a::text AS row FROM operator_audit a');
  expect(log.filter(({ row }) => row.includes(secret))).toEqual([]);
});

test("a merchant's users are listed with their roles, without what they sign in with", async () => {
  const email = await addPerson(backOffice.database.db, scope.merchantId, 'finance');
  const { text, body } = await backOffice.send('GET', `/api/ops/merchants/${scope.merchantId}/users`);
  expect(body.data).toEqual([expect.objectContaining({ email, role: 'finance', twoFactor: false })]);
  expect(text).not.toMatch(/password|totp/i);
  const unknown = await backOffice.send('GET', '/api/ops/merchants/mer_unknown/users');
  expect(unknown.body).toMatchObject({ statusCode: 404 });
});

test("another merchant's key cannot be revoked under this merchant", async () => {
  const other = await buildMerchant(backOffice.database.db);
  const { keyId } = await backOffice.invitedKey(other.merchantId);
  const path = `/api/ops/merchants/${scope.merchantId}/keys/${keyId}/revoke`;
  expect((await backOffice.send('POST', path, { body: { reason: 'x' } })).status).toBe(404);
});

test('a channel is approved and suspended in one environment without a change in the other', async () => {
  const path = `/api/ops/merchants/${scope.merchantId}/channels/TELEBIRR`;
  const approved = await backOffice.send('POST', `${path}/approve`, { body: { environment: 'live' } });
  expect(approved.body.data).toMatchObject({ approval: 'APPROVED', enabled: false });
  await backOffice.send('POST', `${path}/suspend`, { body: { environment: 'live', reason: 'Chargebacks' } });
  const { body } = await backOffice.send('GET', `/api/ops/merchants/${scope.merchantId}`);
  expect(body.data.live.channels[0].approval).toBe('SUSPENDED');
  expect(body.data.sandbox.channels[0].approval).toBe('APPROVED');
  expect(await lastAudit()).toMatchObject({
    action: 'channel.suspend',
    environment: 'live',
    before: { approval: 'APPROVED' },
    after: { approval: 'SUSPENDED' },
  });
});
