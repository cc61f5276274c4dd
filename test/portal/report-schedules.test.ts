import { rows } from '../../src/lib/db.ts';
import { usePortalService, type PortalService } from './portal.ts';

const portal = usePortalService();
let merchantId: string;

beforeAll(async () => {
  merchantId = await portal.newMerchant('Abyssinia Coffee');
});

const PATH = '/api/portal/report-schedules';
type Person = Awaited<ReturnType<PortalService['signedIn']>>;
const idOf = async (person: Person): Promise<string> =>
  (await person.send('GET', '/api/portal/me')).body.data.user.userId;
const create = async (person: Person, more: object = {}, recipients: Person[] = [person]) => {
  const body = { kind: 'payments', period: 'week', recipients: await Promise.all(recipients.map(idOf)), ...more };
  return person.send('POST', PATH, { body });
};

test('a person schedules a report, pauses, resumes and deletes it, and the audit log has each change', async () => {
  const [owner, finance] = [await portal.signedIn(merchantId, 'owner'), await portal.signedIn(merchantId, 'finance')];
  const created = await create(owner, { kind: 'withdrawals', format: 'XLSX' }, [owner, finance]);
  expect(created.status).toBe(201);
  const { scheduleId, nextAt } = created.body.data;
  expect(created.body.data).toMatchObject({ kind: 'withdrawals', format: 'XLSX', period: 'week', active: true });
  expect(new Date(nextAt).getTime()).toBeGreaterThan(Date.now());
  const both = [
    { userId: await idOf(finance), name: 'The finance', mayRead: true },
    { userId: await idOf(owner), name: 'The owner', mayRead: true },
  ];
  expect((await finance.send('GET', PATH)).body.data).toMatchObject([{ scheduleId, nextAt, recipients: both }]);

  const set = (active: boolean) => finance.send('PATCH', `${PATH}/${scheduleId}`, { body: { active } });
  expect((await set(false)).body.data).toMatchObject({ active: false, nextAt: null });
  expect((await set(false)).body.data).toMatchObject({ active: false, nextAt: null });
  expect((await set(true)).body.data).toMatchObject({ active: true, nextAt });
  expect((await owner.send('DELETE', `${PATH}/${scheduleId}`)).status).toBe(200);
  expect((await owner.send('DELETE', `${PATH}/${scheduleId}`)).status).toBe(404);
  expect((await finance.send('GET', PATH)).body.data).toEqual([]);
  const audited = await rows<{ action: string; before: unknown; after: unknown }>(
    portal.db,
    'SELECT action, before, after FROM merchant_audit WHERE resource_id = :scheduleId ORDER BY occurred_at, id',
    { scheduleId },
  );
  expect(audited.map(({ action, after }) => [action, after])).toEqual([
    ['report-schedule.create', expect.objectContaining({ kind: 'withdrawals', period: 'week', format: 'XLSX' })],
    ['report-schedule.change', { active: false }],
    ['report-schedule.change', { active: true }],
    ['report-schedule.delete', null],
  ]);
  expect(audited[3]?.before).toMatchObject({ kind: 'withdrawals', recipients: [both[1]?.userId, both[0]?.userId] });
});

test('period, format and recipients of a schedule can be changed, and what is not given stays', async () => {
  const [owner, finance] = [await portal.signedIn(merchantId, 'owner'), await portal.signedIn(merchantId, 'finance')];
  const { scheduleId, nextAt } = (await create(owner, { kind: 'withdrawals' })).body.data;
  const change = (body: object) => finance.send('PATCH', `${PATH}/${scheduleId}`, { body });
  const recipients = [await idOf(finance)];
  const changed = (await change({ recipients })).body.data;
  expect(changed).toMatchObject({ period: 'week', nextAt, recipients: [{ userId: recipients[0], mayRead: true }] });
  const monthly = (await change({ period: 'month', format: 'PDF' })).body.data;
  expect(monthly).toMatchObject({
    period: 'month',
    format: 'PDF',
    active: true,
    recipients: [{ userId: recipients[0] }],
  });
  expect(monthly.nextAt).not.toBe(nextAt);
  const refused = (await change({ recipients: ['usr_of_nobody'] })).body.error;
  expect(refused).toMatchObject({ details: [{ field: 'recipients', code: 'not_a_reader' }] });
  expect((await change({ kind: 'payments' })).body.error.details).toMatchObject([
    { field: 'kind', code: 'unknown_field' },
  ]);
  const audited = await rows<{ after: unknown }>(
    portal.db,
    `SELECT after FROM merchant_audit WHERE resource_id = :scheduleId AND action = 'report-schedule.change'
     ORDER BY occurred_at, id`,
    { scheduleId },
  );
  expect(audited.map(({ after }) => after)).toEqual([{ recipients }, { period: 'month', format: 'PDF' }]);
  await owner.send('DELETE', `${PATH}/${scheduleId}`);
});

test('a role sees and changes the schedules of reports that it may read, of its own merchant and environment', async () => {
  const [owner, support] = [await portal.signedIn(merchantId, 'owner'), await portal.signedIn(merchantId, 'support')];
  const viewer = await portal.signedIn(merchantId, 'viewer');
  const stranger = await portal.signedIn(await portal.newMerchant(), 'owner');
  const money = (await create(owner, { kind: 'settlements', format: 'PDF' })).body.data;
  const payments = (await create(support)).body.data;
  const listed = async (person: Person) =>
    (await person.send('GET', PATH)).body.data.map(({ scheduleId }: { scheduleId: string }) => scheduleId);
  expect(await listed(owner)).toEqual([money.scheduleId, payments.scheduleId]);
  expect(await listed(viewer)).toEqual([money.scheduleId, payments.scheduleId]);
  expect(await listed(support)).toEqual([payments.scheduleId]);
  expect(await listed(stranger)).toEqual([]);
  for (const person of [support, stranger]) {
    const path = `${PATH}/${money.scheduleId}`;
    expect((await person.send('PATCH', path, { body: { active: false } })).status).toBe(404);
    expect((await person.send('DELETE', path)).status).toBe(404);
  }
  expect((await create(support, { kind: 'settlements' }, [owner])).body.error.code).toBe('INSUFFICIENT_SCOPE');
  expect((await viewer.send('DELETE', `${PATH}/${money.scheduleId}`)).body.error.code).toBe('INSUFFICIENT_SCOPE');
  // A recipient whose role has changed stands in the list as one who gets no mail; one who has left does not.
  await rows(portal.db, `UPDATE membership SET role = 'viewer' WHERE user_id = :id`, { id: await idOf(support) });
  const [, demoted] = (await owner.send('GET', PATH)).body.data;
  expect(demoted.recipients).toEqual([{ userId: await idOf(support), name: 'The support', mayRead: false }]);
  expect(demoted).toMatchObject({ active: true, nextAt: null });
  await rows(portal.db, 'UPDATE membership SET removed_at = now() WHERE user_id = :id', { id: await idOf(support) });
  expect((await owner.send('GET', PATH)).body.data[1].recipients).toEqual([]);
});

test('who has requested a report is named to members; a key gets the id of a person only', async () => {
  const of = await portal.newMerchant('Sheger Books');
  const owner = await portal.signedIn(of, 'owner');
  const body = { kind: 'payments', period: 'custom', startDate: '2026-03-02', endDate: '2026-03-02' };
  expect((await owner.send('POST', '/api/checkout/reports', { body })).status).toBe(202);
  const key = { name: 'Archive', scopes: ['reports:read'] };
  const { secret } = (await owner.send('POST', '/api/portal/keys', { body: key })).body.data;
  const path = '/api/checkout/reports';
  const byKey = await fetch(portal.apiUrl + path, { headers: { 'x-api-key': secret } });
  const [toKey] = ((await byKey.json()) as { data: object[] }).data;
  const [toMember] = (await owner.send('GET', path)).body.data;
  expect(toMember).toMatchObject({ requestedBy: await idOf(owner), requestedByName: 'The owner' });
  expect(toKey).toMatchObject({ requestedBy: await idOf(owner), requestedByName: null });
});

test('the members who may read reports of a kind are offered by name, without their addresses', async () => {
  const [owner, developer] = [
    await portal.signedIn(merchantId, 'owner'),
    await portal.signedIn(merchantId, 'developer'),
  ];
  const offered = async (person: Person, kind: string) =>
    (await person.send('GET', `/api/portal/report-recipients?kind=${kind}`)).body;
  const payments = await offered(developer, 'payments');
  expect(new Set(payments.data.map(({ name }: { name: string }) => name))).toEqual(
    new Set(['The owner', 'The finance', 'The developer']),
  );
  expect(JSON.stringify(payments)).not.toContain('@');
  const money = (await offered(owner, 'settlements')).data.map(({ name }: { name: string }) => name);
  expect(new Set(money)).toEqual(new Set(['The owner', 'The finance', 'The viewer']));
  expect((await offered(developer, 'settlements')).error.code).toBe('INSUFFICIENT_SCOPE');
});

test.each([
  [{ recipients: [] }, 'recipients'],
  [{ recipients: ['usr_1', 'usr_1'] }, 'recipients'],
  [{ recipients: ['usr_of_nobody'] }, 'recipients'],
  [{ recipients: ['somebody@elsewhere.example'] }, 'recipients'],
  [{ period: 'quarter' }, 'period'],
  [{ kind: 'taxes' }, 'kind'],
])('a schedule with %j is rejected', async (body, field) => {
  const owner = await portal.signedIn(merchantId, 'owner');
  const refused = (await create(owner, body)).body;
  expect(refused.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field }] });
});
