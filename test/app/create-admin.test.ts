import { changeOperator, createOperator } from '../../src/access/operators.ts';
import { createAdmin } from '../../src/app/commands/database.ts';
import { rows } from '../../src/lib/db.ts';
import { listMails } from '../../src/outbox/mail.ts';
import { createNoticeWriter } from '../../src/portal/notices.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { KEY_RING } from '../support/key-ring.ts';

let database: TestDatabase;
beforeEach(async () => void (database = await createTestDatabase()));
afterEach(() => database.drop());

const config = { API_KEY_PEPPER: 'a pepper of sixteen characters', keyRing: KEY_RING, production: true };
const SMTP_URL = 'smtp://mail.example.et';
const create = (name: string, smtp: { SMTP_URL?: string } = { SMTP_URL }) =>
  createAdmin({ db: database.db, config: { ...config, ...smtp } }, { name, email: `${name}@meskot.example` });
const mailed = async () =>
  (await listMails({ db: database.db, keyRing: KEY_RING, write: createNoticeWriter('') })).map(
    ({ recipient, text }) => `${text.split(' ', 1)[0]} to ${recipient.split('@', 1)[0]}`,
  );

test('operators create --admin makes an admin with a key, audited as made from the shell and mailed to every active operator', async () => {
  const { db } = database;
  const first = await create('sara');
  expect(first).toMatchObject({ role: 'admin', active: true, secret: expect.stringMatching(/^ok_/) });
  await db.transaction(async (trx) => {
    await createOperator(trx, { name: 'abel', email: 'abel@meskot.example', role: 'viewer' });
    const { id } = await createOperator(trx, { name: 'gone', email: 'gone@meskot.example', role: 'support' });
    await changeOperator(trx, id, { active: false });
  });
  const second = await create('dawit');
  const reason = "From the server's shell";
  const sql = 'SELECT action, operator_id, reason FROM operator_audit ORDER BY occurred_at, length(action)';
  expect(await rows(db, sql)).toEqual(
    [first, second].flatMap(({ operatorId }) => [
      { action: 'operator.create', operatorId, reason },
      { action: 'operator-key.create', operatorId, reason },
    ]),
  );
  expect((await mailed()).toSorted()).toEqual(['dawit to abel', 'dawit to dawit', 'dawit to sara', 'sara to sara']);
});

test('operators create --admin is refused while two admins are active, also of several at once, and works again once one is deactivated', async () => {
  const all = await Promise.allSettled(['sara', 'dawit', 'hana', 'abel'].map((name) => create(name)));
  const made = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const refused = all.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect([made.length, refused.length]).toEqual([2, 2]);
  const [gone] = made;
  for (const error of refused) {
    expect(error).toMatchObject({ code: 'INVALID_STATE' });
    expect(error.message).toMatch(/^2 admins are active, who create operators: \w+ \(opr_\w+\), \w+ \(opr_\w+\)\. /);
  }
  await database.db.transaction((trx) => changeOperator(trx, gone?.operatorId ?? '', { active: false }));
  expect(await create('tigist')).toMatchObject({ active: true });
  await expect(create('late')).rejects.toMatchObject({ code: 'INVALID_STATE' });
});

test('operators create --admin leaves no mail that nothing would send where production has no mail server', async () => {
  await create('sara', {});
  expect(await mailed()).toEqual([]);
});
