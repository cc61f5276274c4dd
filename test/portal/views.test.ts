import { rows } from '../../src/lib/db.ts';
import { buildFixture, buildSession } from '../support/build.ts';
import { usePortalService, type PortalService } from './portal.ts';

const portal = usePortalService();
let merchantId: string;

beforeAll(async () => {
  merchantId = await portal.newMerchant('Abyssinia Coffee');
});

const PATH = '/api/portal/views';
type Person = Awaited<ReturnType<PortalService['signedIn']>>;
const namesOf = async (person: Person): Promise<string[]> =>
  (await person.send('GET', PATH)).body.data.map(({ name }: { name: string }) => name);

test('a view is listed to its owner, and to other members of the merchant once it is shared', async () => {
  const [owner, viewer] = [await portal.signedIn(merchantId, 'owner'), await portal.signedIn(merchantId, 'viewer')];
  const stranger = await portal.signedIn(await portal.newMerchant(), 'owner');
  const filter = { range: '7d', status: 'FAILED', minAgeMinutes: 60 };
  const created = await owner.send('POST', PATH, { body: { name: 'Failed, large', filter } });
  expect(created.status).toBe(201);
  expect(created.body.data).toMatchObject({ name: 'Failed, large', filter, shared: false, own: true });
  expect([await namesOf(owner), await namesOf(viewer)]).toEqual([['Failed, large'], []]);
  const path = `${PATH}/${created.body.data.viewId}`;
  await owner.send('PATCH', path, { body: { shared: true, name: 'For all' } });
  const [listed] = (await viewer.send('GET', PATH)).body.data;
  expect(listed).toMatchObject({ name: 'For all', filter, own: false, ownerName: 'The owner' });
  expect(await namesOf(stranger)).toEqual([]);
  for (const other of [viewer, stranger]) {
    expect((await other.send('PATCH', path, { body: { name: 'Mine' } })).status).toBe(404);
    expect((await other.send('DELETE', path)).status).toBe(404);
  }
  expect((await owner.send('DELETE', path)).status).toBe(200);
  expect(await namesOf(viewer)).toEqual([]);
});

test('the shared views of a member who was removed are not listed', async () => {
  const [owner, leaver] = [await portal.signedIn(merchantId, 'owner'), await portal.signedIn(merchantId, 'support')];
  await leaver.send('POST', PATH, { body: { name: 'Of a leaver', filter: {}, shared: true } });
  expect(await namesOf(owner)).toContain('Of a leaver');
  const sql = `UPDATE membership SET removed_at = now() FROM user_account u WHERE u.id = user_id AND u.email = :email`;
  await rows(portal.db, sql, { email: leaver.email });
  expect(await namesOf(owner)).not.toContain('Of a leaver');
});

test('a person has twenty views in a merchant, each with a name of its own', async () => {
  const person = await portal.signedIn(merchantId, 'finance');
  const create = (name: string) => person.send('POST', PATH, { body: { name, filter: {} } });
  for (let number = 1; number <= 19; number += 1) expect((await create(`View ${number}`)).status).toBe(201);
  expect((await create('view 1')).body.error.code).toBe('DUPLICATE_REFERENCE');
  const both = await Promise.all([create('View 20'), create('View 21')]);
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
  expect(both.find(({ status }) => status === 409)?.body.error.code).toBe('INVALID_STATE');
  expect(await namesOf(person)).toHaveLength(20);
});

test('one Idempotency-Key of two people of a merchant is two requests', async () => {
  const people = [await portal.signedIn(merchantId, 'owner'), await portal.signedIn(merchantId, 'admin')];
  const request = { headers: { 'idempotency-key': 'of two people' }, body: { name: 'Same', filter: {} } };
  const created = await Promise.all(people.map((person) => person.send('POST', PATH, request)));
  expect(created.map(({ status, headers }) => [status, headers.get('idempotent-replayed')])).toEqual([
    [201, null],
    [201, null],
  ]);
  expect(created[0]?.body.data.viewId).not.toBe(created[1]?.body.data.viewId);
});

test('a filter with an unknown parameter, and a blank name, are rejected', async () => {
  const person = await portal.signedIn(merchantId, 'owner');
  for (const body of [
    { name: 'A', filter: { colour: 'red' } },
    { name: ' ', filter: {} },
    { name: 'A', filter: { search: 'x'.repeat(101) } },
  ]) {
    expect((await person.send('POST', PATH, { body })).body.error.code).toBe('VALIDATION_ERROR');
  }
});

test('transactions of a least age are listed, summed and saved without younger ones', async () => {
  const scope = { merchantId, environment: 'sandbox' } as const;
  const fixture = buildFixture(portal.db, { clock: () => new Date() });
  const [old, young] = [await buildSession(fixture, scope), await buildSession(fixture, scope)];
  const sql = `UPDATE transaction SET created_at = now() - interval '61 minutes' WHERE id = :transactionId`;
  await rows(portal.db, sql, old);
  const person = await portal.signedIn(merchantId, 'owner');
  const day = (daysAgo: number) => new Date(Date.now() + (3 - 24 * daysAgo) * 3_600_000).toISOString().slice(0, 10);
  const query = `startDate=${day(1)}&endDate=${day(0)}&status=PENDING&currency=ETB&minAgeMinutes=60`;
  const listed = await person.send('GET', `/api/checkout/txns/get_all_txns?${query}`);
  expect(listed.body.data.map((row: { transactionId: string }) => row.transactionId)).toEqual([old.transactionId]);
  const summed = await person.send('GET', `/api/checkout/txns/summary?${query}`);
  expect(summed.body.data.total.count).toBe(1);
  const file = (await person.send('GET', `/api/checkout/txns/export?${query}`)).text;
  expect([file.includes(old.transactionId), file.includes(young.transactionId)]).toEqual([true, false]);
});
