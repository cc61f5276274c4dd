import { randomBytes } from 'node:crypto';

import { createSession, deleteOldSessions } from '../../src/access/users/sessions.ts';
import { createToken, deleteOldTokens } from '../../src/access/users/tokens.ts';
import { createUser } from '../../src/access/users/users.ts';
import { DAY_MS, HOUR_MS } from '../../src/lib/dates.ts';
import { rows, type Queryable } from '../../src/lib/db.ts';
import { deleteInBatches } from '../../src/lib/delete-in-batches.ts';
import { deleteOldMails, enqueueMail } from '../../src/outbox/mail.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const KEY_RING = { currentId: 'test', keys: new Map([['test', randomBytes(32)]]) };
const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);

let database: TestDatabase;
let userId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const person = { email: 'hana@people.example', name: 'Hana', password: 'correct horse battery staple' };
  ({ id: userId } = await database.db.transaction((trx) => createUser(trx, person)));
});
afterAll(() => database.drop());

/** Deletes twice; returns how many the first time, and that nothing is left for the second one. */
const deleted = async (run: (db: Queryable) => Promise<number>) => [await run(database.db), await run(database.db)];
const change = async (sql: string, values: Record<string, unknown>) => void (await rows(database.db, sql, values));

test('sessions are deleted 30 days after they were ended, were idle for too long or expired', async () => {
  const begin = async (at: Date) => {
    const session = { userId, audience: 'portal', address: '127.0.0.1', device: 'test', at } as const;
    return (await database.db.transaction((trx) => createSession(trx, session))).sessionId;
  };
  const idle = await begin(daysAgo(30.6));
  const recent = await begin(daysAgo(30.4));
  const ended = await begin(daysAgo(29.9));
  const signedOut = await begin(new Date());
  await change('UPDATE user_session SET ended_at = :at WHERE id = :id', { id: ended, at: daysAgo(30.1) });
  await change('UPDATE user_session SET ended_at = :at WHERE id = :id', { id: signedOut, at: daysAgo(29.9) });
  expect(await deleted(deleteOldSessions)).toEqual([2, 0]);
  const left = await rows<{ id: string }>(database.db, 'SELECT id FROM user_session');
  expect(left.map(({ id }) => id).toSorted()).toEqual([recent, signedOut].toSorted());
  expect(left).not.toContainEqual({ id: idle });
});

test('tokens are deleted 30 days after they were used or expired', async () => {
  const make = async (at: Date) =>
    (await database.db.transaction((trx) => createToken(trx, { purpose: 'reset', userId }, at))).row.id;
  await make(daysAgo(30.1));
  const [used, valid] = [await make(new Date()), await make(new Date())];
  const recent = await make(new Date(daysAgo(30).getTime() + HOUR_MS));
  await change('UPDATE user_token SET used_at = :at WHERE id = :id', { id: used, at: daysAgo(31) });
  expect(await deleted(deleteOldTokens)).toEqual([2, 0]);
  const left = await rows<{ id: string }>(database.db, 'SELECT id FROM user_token');
  expect(left.map(({ id }) => id).toSorted()).toEqual([recent, valid].toSorted());
});

test('mails are deleted after 30 days, sent or given up', async () => {
  const mails = ['sent', 'given up', 'recent'];
  for (const subject of mails) {
    const mail = { recipient: 'hana@people.example', subject, text: 'Selam' };
    await database.db.transaction((trx) => enqueueMail(trx, KEY_RING, mail));
  }
  const sql = 'UPDATE mail SET created_at = :at WHERE subject = ANY (:subjects)';
  await change(sql, { at: daysAgo(30.1), subjects: ['sent', 'given up'] });
  await change(sql, { at: daysAgo(29.9), subjects: ['recent'] });
  expect(await deleted(deleteOldMails)).toEqual([2, 0]);
  expect(await rows(database.db, 'SELECT subject FROM mail')).toEqual([{ subject: 'recent' }]);
});

test('more rows than one statement deletes are deleted by several, unless the process stops', async () => {
  await rows(
    database.db,
    `INSERT INTO request_log SELECT 'req_' || n, 'mrc_1', 'sandbox', 'key_1', 'GET', '/', 200, NULL, 1, '::1', now()
     FROM generate_series(1, 20001) n`,
  );
  const all = { table: 'request_log', where: 'true' };
  const stopped = AbortSignal.abort();
  expect(await deleteInBatches(database.db, all, stopped)).toBe(10_000);
  expect(await deleteInBatches(database.db, all)).toBe(10_001);
});
