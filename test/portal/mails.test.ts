import { setMembership } from '../../src/access/users/users.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { setSecondPersonFrom } from '../../src/merchants/operations.ts';
import { listMails, sendMails, type Mail, type SendMail } from '../../src/outbox/mail.ts';
import { createRefund } from '../../src/payouts/refunds/create.ts';
import { createNoticeWriter } from '../../src/portal/notices.ts';
import { markSent } from '../../src/settlements/bank-results.ts';
import { approveSettlement } from '../../src/settlements/decide.ts';
import { buildAttempt, buildFixture, buildSession, PAID, type Fixture } from '../support/build.ts';
import { KEY_RING } from '../support/key-ring.ts';
import { startReports } from '../support/reports.ts';
import { linkAccount, requestSettlement, withdraw } from '../support/settlements.ts';
import { fund } from '../support/withdrawals.ts';
import { openBrowser, usePortalService } from './portal.ts';

const portal = usePortalService();
let fixture: Fixture;
let scope: MerchantScope;

beforeAll(async () => {
  fixture = buildFixture(portal.db, { clock: () => new Date() });
});
beforeEach(async () => {
  scope = { merchantId: await portal.newMerchant('Abyssinia Coffee'), environment: 'sandbox' };
  await rows(portal.db, 'DELETE FROM mail');
});

const mails = () =>
  listMails({ db: portal.db, keyRing: KEY_RING, write: createNoticeWriter('https://portal.example.et') });

async function pay(): Promise<string> {
  const { sessionId, transactionId } = await buildSession(fixture, scope);
  const attemptId = await buildAttempt(fixture, { ...scope, sessionId });
  fixture.provider.returns(PAID);
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  return transactionId;
}

async function requestRefund(transactionId: string, reference: string): Promise<void> {
  const wanted = { transactionId, reference, amountSantim: 12_50n, returnFee: false, requestedBy: 'key_1' };
  await fixture.runInTransaction((tx) => createRefund({ ...fixture, tx }, scope, wanted));
}

test('a settlement that is sent to the bank is mailed to owners and finance, each in their language', async () => {
  const owner = await portal.signedIn(scope.merchantId, 'owner');
  const finance = await portal.signedIn(scope.merchantId, 'finance');
  await portal.signedIn(scope.merchantId, 'developer');
  await finance.send('PATCH', '/api/portal/profile', { body: { language: 'am' } });
  await fund(fixture, scope, 500_000n);
  await linkAccount(fixture, scope);
  const { id, requestId } = await requestSettlement(fixture, scope);
  await fixture.runInTransaction((tx) => approveSettlement(tx, id, { operatorId: 'opr_1', at: new Date() }));
  expect(await mails()).toEqual([]);
  await fixture.runInTransaction((tx) => markSent(tx, id, { operatorId: 'opr_2', at: new Date() }));
  const sent = new Map((await mails()).map((mail) => [mail.recipient, mail]));
  expect(new Set(sent.keys())).toEqual(new Set([owner.email, finance.email]));
  expect(sent.get(owner.email)?.subject).toBe(`[TEST] Settlement ${requestId} of 150.00 ETB was sent`);
  expect(sent.get(owner.email)?.text).toContain(
    'Abyssinia Coffee, 150.00 ETB, was sent to CBE, account ending in 6789.',
  );
  expect(sent.get(owner.email)?.text).toContain(`https://portal.example.et/test/settlements?open=${id}`);
  expect(sent.get(finance.email)?.subject).toBe(`[ሙከራ] ${requestId} (150.00 ብር) ወደ ባንክ ተልኳል`);
  expect(JSON.stringify([...sent.values()])).not.toContain('1000123456789');
});

test('a withdrawal that has to be confirmed is mailed to those who may confirm it, and listed by its stage', async () => {
  const owner = await portal.signedIn(scope.merchantId, 'owner');
  await portal.signedIn(scope.merchantId, 'support');
  await fund(fixture, scope, 500_000n);
  await fixture.runInTransaction(({ trx }) => setSecondPersonFrom(trx, scope.merchantId, 100_00n));
  await withdraw(fixture, scope, 99_99n);
  expect(await mails()).toEqual([]);
  const { id, reference: requestId } = await withdraw(fixture, scope, 100_00n);
  const [mail, ...others] = await mails();
  expect(others).toEqual([]);
  expect(mail).toMatchObject({
    recipient: owner.email,
    subject: `[TEST] Withdrawal ${requestId} of 100.00 ETB has to be confirmed`,
    text: expect.stringContaining(`https://portal.example.et/test/withdrawals?open=${id}`),
  });
  const list = async (stage: string) => (await owner.send('GET', `/api/checkout/withdrawal?stage=${stage}`)).body;
  const { data, pagination } = await list('AWAITING_CONFIRMATION');
  expect([data[0].withdrawalRequestId, pagination.total]).toEqual([id, 1]);
  expect((await list('AWAITING_CONFIRMATION,CREATED,UNDER_REVIEW')).pagination.total).toBe(2);
});

test('what is collected for a member who is removed, or may not confirm any more, is not mailed', async () => {
  const owner = await portal.confirmed(scope.merchantId, 'owner');
  const [removed, moved] = [
    await portal.signedIn(scope.merchantId, 'finance'),
    await portal.signedIn(scope.merchantId, 'finance'),
  ];
  await fund(fixture, scope, 500_000n);
  await fixture.runInTransaction(({ trx }) => setSecondPersonFrom(trx, scope.merchantId, 1_00n));
  await withdraw(fixture, scope, 12_50n);
  expect(await mails()).toHaveLength(3);
  const members = (await owner.send('GET', '/api/portal/team')).body.data.members as {
    email: string;
    userId: string;
  }[];
  const pathOf = ({ email }: { email: string }) =>
    `/api/portal/team/${members.find((member) => member.email === email)?.userId}`;
  expect((await owner.send('DELETE', pathOf(removed))).status).toBe(200);
  expect((await owner.send('PATCH', pathOf(moved), { body: { role: 'viewer' } })).status).toBe(200);
  expect(
    (await mails()).filter(({ subject }) => subject.includes('has to be confirmed')).map((mail) => mail.recipient),
  ).toEqual([owner.email]);
});

test('a member whose role changes gets what is collected of that which the new role confirms, and nothing else', async () => {
  const owner = await portal.confirmed(scope.merchantId, 'owner');
  const toAdmin = await portal.signedIn(scope.merchantId, 'owner');
  const toFinance = await portal.signedIn(scope.merchantId, 'owner');
  await fixture.runInTransaction(({ trx }) => setSecondPersonFrom(trx, scope.merchantId, 1_00n));
  await requestRefund(await pay(), 'R-1');
  await withdraw(fixture, scope, 12_50n);
  const { members } = (await owner.send('GET', '/api/portal/team')).body.data;
  const give = async (email: string, role: string) => {
    const { userId } = members.find((member: { email: string }) => member.email === email);
    expect((await owner.send('PATCH', `/api/portal/team/${userId}`, { body: { role } })).status).toBe(200);
  };
  await give(toAdmin.email, 'admin');
  await give(toFinance.email, 'finance');
  const of = async ({ email }: { email: string }) =>
    (await mails())
      .filter(({ recipient, subject }) => recipient === email && subject.includes('has to be confirmed'))
      .map(({ subject }) => subject.split(' ')[1]);
  expect([await of(toAdmin), await of(toFinance)]).toEqual([['Refund'], ['Withdrawal']]);
});

test('refunds that are requested within three minutes are one mail with their number and sum', async () => {
  const owner = await portal.signedIn(scope.merchantId, 'owner');
  const admin = await portal.signedIn(scope.merchantId, 'admin');
  await admin.send('PATCH', '/api/portal/profile', { body: { language: 'am' } });
  await portal.signedIn(scope.merchantId, 'finance');
  await fixture.runInTransaction(({ trx }) => setSecondPersonFrom(trx, scope.merchantId, 1_00n));
  const transactionId = await pay();
  const refund = async (reference: string) => requestRefund(transactionId, reference);
  const read = async () => new Map((await mails()).map((mail) => [mail.recipient, mail]));
  await refund('R-1');
  expect((await read()).get(owner.email)).toMatchObject({
    subject: '[TEST] Refund R-1 of 12.50 ETB has to be confirmed',
    text: expect.stringContaining(`https://portal.example.et/test/transactions/${transactionId}`),
  });
  await refund('R-2');
  await refund('R-3');
  expect(new Set((await read()).keys())).toEqual(new Set([owner.email, admin.email]));
  expect((await read()).get(owner.email)).toMatchObject({
    subject: '[TEST] 3 refunds of 37.50 ETB in all have to be confirmed',
    text: expect.stringContaining('https://portal.example.et/test/refunds?stage=AWAITING_CONFIRMATION'),
  });
  expect((await read()).get(admin.email)?.subject).toBe('[ሙከራ] 3 ተመላሽ ክፍያዎች (በድምሩ 37.50 ብር) ማረጋገጫ ይጠብቃሉ');
});

test('withdrawals that are requested within three minutes are one mail with their number and sum; later ones are another', async () => {
  const owner = await portal.signedIn(scope.merchantId, 'owner');
  const finance = await portal.signedIn(scope.merchantId, 'finance');
  await finance.send('PATCH', '/api/portal/profile', { body: { language: 'am' } });
  await fund(fixture, scope, 500_000n);
  await fixture.runInTransaction(({ trx }) => setSecondPersonFrom(trx, scope.merchantId, 1_00n));
  // Those of one time wait for each other: none is lost.
  await Promise.all(Array.from({ length: 8 }, () => withdraw(fixture, scope, 12_50n)));
  const read = async () => new Map((await mails()).map((mail) => [mail.recipient, mail]));
  expect(await mails()).toHaveLength(2);
  expect((await read()).get(owner.email)).toMatchObject({
    subject: '[TEST] 8 withdrawals of 100.00 ETB in all have to be confirmed',
    text: expect.stringContaining('https://portal.example.et/test/withdrawals?stage=AWAITING_CONFIRMATION'),
  });
  expect((await read()).get(finance.email)?.subject).toBe('[ሙከራ] 8 ወጪዎች (በድምሩ 100.00 ብር) ማረጋገጫ ይጠብቃሉ');

  const sent: Mail[] = [];
  const send = (smtp: SendMail) => {
    const deps = { db: portal.db, keyRing: KEY_RING, write: createNoticeWriter('https://portal.example.et') };
    return sendMails({ ...deps, send: smtp, log: fixture.log }, new AbortController().signal);
  };
  await send(async (mail) => void sent.push(mail));
  expect(sent).toEqual([]);
  const [due] = await rows<{ waits: number }>(
    portal.db,
    `SELECT CAST(extract(epoch FROM max(due_at) - now()) AS integer) AS waits FROM mail`,
  );
  expect(due?.waits).toBeLessThanOrEqual(180);
  await rows(portal.db, `UPDATE mail SET due_at = now()`);
  // One that is requested while its mail is being sent is in another.
  await send(async (mail) => {
    sent.push(mail);
    await withdraw(fixture, scope, 7_00n);
  });
  expect(sent).toHaveLength(2);
  const sql = `SELECT recipient, sum(CAST(notice ->> 'count' AS integer))::int AS count, count(*)::int AS mails
               FROM mail GROUP BY recipient`;
  expect(new Set(await rows(portal.db, sql))).toEqual(
    new Set([owner, finance].map(({ email: recipient }) => ({ recipient, count: 10, mails: 2 }))),
  );
});

test('a report that took longer than a moment is mailed to the person who requested it, while a member', async () => {
  const person = await portal.signedIn(scope.merchantId, 'finance');
  await portal.signedIn(scope.merchantId, 'owner');
  const { userId } = (await person.send('GET', '/api/portal/me')).body.data.user;
  const reports = await startReports(fixture);
  const generate = async (requestedBy: string, secondsAgo: number): Promise<void> => {
    const { id } = await reports.createQueued(scope, { requestedBy });
    const sql = `UPDATE report SET requested_at = now() - :secondsAgo * interval '1 second' WHERE id = :id`;
    await rows(portal.db, sql, { id, secondsAgo });
    await reports.generator()(id, () => {});
  };
  await generate(userId, 60);
  await generate(userId, 0);
  await generate('key_1', 60);
  expect((await mails()).map(({ recipient, subject }) => [recipient, subject])).toEqual([
    [person.email, '[TEST] Your report of payments, 2026-03-02 to 2026-03-02, is ready'],
  ]);
  await rows(portal.db, 'UPDATE membership SET removed_at = now() WHERE user_id = :userId', { userId });
  await generate(userId, 60);
  expect(await mails()).toHaveLength(1);
  await portal.db.transaction((trx) => setMembership(trx, { userId, ...scope, role: 'finance' }));
  await reports.close();
});

test('an endpoint that fails five times in a row is mailed to developers, admins and owners, at most once a day', async () => {
  const people = await Promise.all(
    (['owner', 'admin', 'developer'] as const).map((role) => portal.signedIn(scope.merchantId, role)),
  );
  await Promise.all((['finance', 'support'] as const).map((role) => portal.signedIn(scope.merchantId, role)));
  const body = { url: 'https://hooks.shop.example.et/in?token=planted', eventTypes: ['*'] };
  const { subscriptionId: id } = (await people[0]!.send('POST', '/api/checkout/webhooks/subscriptions', { body })).body
    .data;
  const set = (failures: number) =>
    rows(portal.db, 'UPDATE webhook_subscription SET consecutive_failures = :failures WHERE id = :id', {
      id,
      failures,
    });
  const count = async (): Promise<number> => (await mails()).length;
  await set(4);
  expect(await count()).toBe(0);
  await set(7);
  const sent = await mails();
  expect(sent.map(({ recipient }) => recipient).toSorted()).toEqual(people.map(({ email }) => email).toSorted());
  expect(sent[0]?.subject).toBe('[TEST] Webhooks to hooks.shop.example.et are failing');
  expect(sent[0]?.text).toContain('The last 7 attempts');
  expect(JSON.stringify(sent)).not.toContain('planted');
  for (const failures of [8, 0, 5, 0, 9]) await set(failures);
  expect(await count()).toBe(3);
  const sql = `UPDATE webhook_subscription SET failing_mailed_at = now() - interval '25 hours', consecutive_failures = 0 WHERE id = :id`;
  await rows(portal.db, sql, { id });
  await set(5);
  expect(await count()).toBe(6);
});

test('a local installation shows the mails, and their number to who is signed in', async () => {
  const owner = await portal.signedIn(scope.merchantId, 'owner');
  expect((await owner.send('GET', '/api/portal/me')).body.data.mailCount).toBe(0);
  const facts = `'{"kind": "endpoint.failing", "host": "shop.example.et", "failures": 5}'`;
  await rows(portal.db, `SELECT notify_members(:merchantId, 'live', '{owner}', '{}', ${facts})`, scope);
  expect((await owner.send('GET', '/api/portal/me')).body.data.mailCount).toBe(1);
  const page = await openBrowser(portal.url).send('GET', '/dev/mail');
  expect(page.text).toContain('Webhooks to shop.example.et are failing');
  expect(page.text).toContain(`${portal.url}/live/webhooks`);
});
