import { createRegistry, measureRow } from '../../src/http/metrics.ts';
import { rows } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import { enqueueMail, sendMails, UNSENT_MAILS, type Mail } from '../../src/outbox/mail.ts';
import { createNoticeWriter } from '../../src/portal/notices.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
const keyRing = { currentId: 'test', keys: new Map([['test', Buffer.alloc(32, 7)]]) };
const MAIL = { recipient: 'hana@people.example', subject: 'Hello', text: 'The planted-token is in the text.' };

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const deps = (send: (mail: Mail) => Promise<void>) => ({
  db: database.db,
  keyRing,
  write: createNoticeWriter('https://portal.example.et'),
  send,
  log: createLogger('silent', 'test'),
});
const running = new AbortController().signal;

test('a mail is sent once, by one of several processes, and its text is deleted then', async () => {
  const sent: Mail[] = [];
  await database.db.transaction((trx) => enqueueMail(trx, keyRing, MAIL));
  const stored = await rows<{ text: string }>(database.db, 'SELECT m::text AS text FROM mail m');
  expect(stored[0]?.text).not.toContain(Buffer.from('planted-token').toString('hex'));
  const send = async (mail: Mail): Promise<void> => void sent.push(mail);
  await Promise.all([1, 2, 3].map(() => sendMails(deps(send), running)));
  expect(sent).toMatchObject([MAIL]);
  expect(await rows(database.db, 'SELECT body FROM mail')).toEqual([{ body: null }]);
});

test('a mail that the server rejects is tried again later, ten times at most', async () => {
  let tries = 0;
  await database.db.transaction((trx) => enqueueMail(trx, keyRing, MAIL));
  const fail = async (): Promise<void> => {
    tries += 1;
    throw new Error('451 try later');
  };
  await sendMails(deps(fail), running);
  await sendMails(deps(fail), running);
  expect(tries).toBe(1);
  for (let count = 0; count < 12; count += 1) {
    await rows(database.db, 'UPDATE mail SET due_at = now() WHERE sent_at IS NULL');
    await sendMails(deps(fail), running);
  }
  expect(tries).toBe(10);
});

test('the metrics of mails are the age of the oldest that waits, and the number of those that were given up', async () => {
  await rows(database.db, 'DELETE FROM mail');
  const { gauges, sql } = UNSENT_MAILS;
  const figures = async (): Promise<string[]> => {
    const registry = createRegistry('worker');
    measureRow(registry, gauges, { db: database.db, sql });
    const text = await registry.metrics();
    return Object.values(gauges).map(
      ({ name }) => new RegExp(`^${name}\\{.*\\} (\\d+)`, 'm').exec(text)?.[1] ?? 'absent',
    );
  };
  expect(await figures()).toEqual(['0', '0']);
  await database.db.transaction((trx) => enqueueMail(trx, keyRing, MAIL));
  await database.db.transaction((trx) => enqueueMail(trx, keyRing, { ...MAIL, recipient: 'sara@people.example' }));
  await rows(database.db, `UPDATE mail SET created_at = now() - interval '1 hour'`);
  await rows(database.db, `UPDATE mail SET tries = 10 WHERE recipient = 'sara@people.example'`);
  expect(await figures()).toEqual(['3600', '1']);
});
