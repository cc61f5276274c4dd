import { findUserByEmail } from '../../src/access/users/users.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { addPerson } from '../portal/portal.ts';
import { linkAccount, requestSettlement, withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, buildLive, fund } from '../support/withdrawals.ts';
import { startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;
let scope: MerchantScope;
let person: { id: string; name: string };

beforeAll(async () => {
  backOffice = await startBackOffice();
  const { fixture, database } = backOffice;
  scope = await buildFreeMerchant(fixture);
  const email = await addPerson(database.db, scope.merchantId, 'finance');
  person = (await findUserByEmail(database.db, email))!;
  await fund(fixture, scope, 1_000_00n);
  await linkAccount(fixture, scope);
});
afterAll(() => backOffice.close());

const get = async (path: string) => (await backOffice.send('GET', `/api/ops/${path}`)).body.data;
const post = async (path: string, body: object = {}) =>
  backOffice.send('POST', `/api/ops/${path}`, { key: backOffice.people.finance.key, body });
const ofMerchant = () => `merchantId=${scope.merchantId}`;
const nameOf = async (operatorId: string) =>
  (await get('operators')).find((one: { operatorId: string }) => one.operatorId === operatorId).name;

test('a withdrawal has the names of its merchant and of who requested and confirmed it', async () => {
  const { id } = await withdraw(backOffice.fixture, scope);
  const sql = 'UPDATE payout SET requested_by = :by, confirmed_by = :by, confirmed_at = now() WHERE id = :id';
  await rows(backOffice.database.db, sql, { id, by: person.id });
  expect(await get(`withdrawals?${ofMerchant()}`)).toMatchObject([{ merchantName: 'Abyssinia Coffee' }]);
  expect(await get(`withdrawals/${id}`)).toMatchObject({
    merchantName: 'Abyssinia Coffee',
    requestedBy: person.id,
    requestedByName: person.name,
    confirmedBy: person.id,
    confirmedByName: person.name,
  });
});

test('a settlement has the names of its merchant, of the key that requested it and of the operators', async () => {
  const { keyId } = await backOffice.invitedKey(scope.merchantId, { name: 'Payroll' });
  const { id } = await requestSettlement(backOffice.fixture, scope);
  await rows(backOffice.database.db, 'UPDATE settlement SET requested_by = :keyId WHERE id = :id', { id, keyId });
  expect((await post(`settlements/${id}/approve`)).status).toBe(200);
  expect(await get(`settlements?${ofMerchant()}`)).toMatchObject([{ merchantName: 'Abyssinia Coffee' }]);
  expect(await get(`settlements/${id}`)).toMatchObject({
    merchantName: 'Abyssinia Coffee',
    requestedByName: 'Payroll',
    approvedByName: await nameOf(backOffice.people.finance.operatorId),
    sentBy: null,
    sentByName: null,
  });
});

test('the queue, proposals and the audit log have the names of merchants and operators', async () => {
  const { people, database, confirmed } = backOffice;
  const admin = await nameOf(people.admin.operatorId);
  const { items } = await get(`queue?${ofMerchant()}`);
  expect(items.length).toBeGreaterThan(0);
  for (const item of items) expect(item).toMatchObject({ merchantName: 'Abyssinia Coffee' });
  await buildLive(database.db, scope);
  const path = `/api/ops/merchants/${scope.merchantId}/settlement-limit`;
  await confirmed('PUT', path, { min: 100, max: 5_000, reason: 'Contract' });
  const [proposal] = await get('proposals');
  const about = { merchantName: 'Abyssinia Coffee', proposedByName: admin };
  expect(proposal).toMatchObject({ ...about, decidedByName: await nameOf(proposal.decidedBy) });
  expect(await get(`proposals/${proposal.proposalId}`)).toEqual(proposal);
  expect((await get(`audit?action=merchant.change-settlement-limit&${ofMerchant()}`))[0]).toMatchObject(about);
  await backOffice.send('PUT', path, { body: { min: 100, max: 6_000, reason: 'Contract' } });
  const [pending] = (await get(`queue?kind=PROPOSAL&${ofMerchant()}`)).items;
  expect(pending.detail).toMatchObject({ proposedBy: people.admin.operatorId, proposedByName: admin });
});

test('the timeline of a verification has the names of the person and of the operator of each step', async () => {
  const { people, database } = backOffice;
  const steps = [
    ['application.saved', person.id],
    ['review.started', people.support.operatorId],
  ] as const;
  for (const [kind, actor] of steps) {
    const sql = `INSERT INTO timeline (resource_id, occurred_at, kind, actor, detail) VALUES (:id, now(), :kind, :actor, '{}')`;
    await rows(database.db, sql, { id: `${scope.merchantId}/sandbox`, kind, actor });
  }
  const { timeline } = await get(`merchants/${scope.merchantId}/kyc?environment=sandbox`);
  expect(timeline).toMatchObject([
    { by: person.id, byName: person.name },
    { by: people.support.operatorId, byName: await nameOf(people.support.operatorId) },
  ]);
});
