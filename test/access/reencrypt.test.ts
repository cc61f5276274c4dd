import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { acceptSecondFactor, beginTwoFactor } from '../../src/access/users/totp.ts';
import { createUser, findUser } from '../../src/access/users/users.ts';
import { reencryptAll } from '../../src/app/commands/database.ts';
import { createIdempotency } from '../../src/http/idempotency.ts';
import { encrypt, decrypt, type KeyRing } from '../../src/lib/crypto.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { enqueueMail, listMails } from '../../src/outbox/mail.ts';
import { createNoticeWriter } from '../../src/portal/notices.ts';
import { codeOf } from '../portal/console.ts';
import { PASSWORD } from '../portal/portal.ts';
import { KEY_RING } from '../support/key-ring.ts';
import { createFixture, type Fixture } from '../webhooks/fixture.ts';

const NEXT: KeyRing = { currentId: 'next', keys: new Map([['next', randomBytes(32)], ...KEY_RING.keys]) };
const ONLY_NEXT: KeyRing = { currentId: 'next', keys: new Map([...NEXT.keys].filter(([id]) => id === 'next')) };
const ANSWERS = 1_100;

let fixture: Fixture;
let scope: MerchantScope;
let folder: string;
beforeAll(async () => {
  fixture = await createFixture();
  scope = await fixture.newMerchant();
  folder = await mkdtemp(join(tmpdir(), 'meskot-reencrypt-'));
});
afterAll(async () => {
  await fixture.drop();
  await rm(folder, { recursive: true });
});

const lines: string[] = [];
const parts = async (keyRing: KeyRing) => {
  const config = {
    API_KEY_PEPPER: 'a pepper of sixteen characters',
    keyRing,
    files: { documents: folder, reports: folder },
  };
  return reencryptAll({ db: fixture.db, config }, (line) => lines.push(line));
};

/** An answer stored for a key, and the same key requested again. */
const answerOf = async (keyRing: KeyRing, key: string): Promise<string> => {
  const idempotency = createIdempotency({ db: fixture.db, keyRing });
  const call = { ...scope, route: 'POST /x', key, requestHash: Buffer.from('same') };
  return fixture.runInTransaction(async (tx) => {
    const first = await idempotency.find(call, tx);
    if (first) return first.text;
    const text = `answer of ${key}`;
    await idempotency.store(call, { status: 201, text }, tx);
    return text;
  });
};

test('everything is brought under the current key, once, and then the old one is not needed', async () => {
  const subscribed = await fixture.subscribe(scope, { headers: { 'x-shop': 'abyssinia' } });
  const { id } = subscribed.row;
  await rows(fixture.db, 'UPDATE webhook_subscription SET previous_secret = :sealed WHERE id = :id', {
    id,
    sealed: encrypt(KEY_RING, id, 'whsec_before'),
  });
  for (let index = 0; index < ANSWERS; index += 1) await answerOf(KEY_RING, `key ${index}`);
  const { userId, secret } = await fixture.db.transaction(async (trx) => {
    const user = await createUser(trx, { email: 'sara@shop.example', name: 'Sara', password: PASSWORD });
    const begun = await beginTwoFactor(trx, KEY_RING, user.id);
    await rows(trx, 'UPDATE user_account SET totp_enabled_at = now() WHERE id = :id', user);
    await enqueueMail(trx, KEY_RING, { recipient: user.email, subject: 'A link', text: 'https://shop.example/reset' });
    return { userId: user.id, secret: begun.secret };
  });

  expect(await parts(NEXT)).toEqual([
    { what: 'webhook subscriptions', seen: 1, reencrypted: 1, left: 0 },
    { what: 'provider credentials', seen: 0, reencrypted: 0, left: 0 },
    { what: 'KYC documents', seen: 0, reencrypted: 0, left: 0 },
    { what: 'authenticator apps', seen: 1, reencrypted: 1, left: 0 },
    { what: 'mails', seen: 1, reencrypted: 1, left: 0 },
    { what: 'stored answers', seen: ANSWERS, reencrypted: ANSWERS, left: 0 },
    { what: 'API keys', seen: 0, reencrypted: 0, left: 0 },
  ]);
  const [row] = await rows<{ secret: Buffer; previousSecret: Buffer; headers: Buffer }>(
    fixture.db,
    'SELECT secret, previous_secret, headers FROM webhook_subscription WHERE id = :id',
    { id },
  );
  const opened = [row?.secret, row?.previousSecret, row?.headers].map((one) => one && decrypt(ONLY_NEXT, id, one));
  expect(opened).toEqual([subscribed.secret, 'whsec_before', '{"x-shop":"abyssinia"}']);
  expect(await answerOf(ONLY_NEXT, 'key 7')).toBe('answer of key 7');
  const user = await findUser(fixture.db, userId);
  const entered = { user, code: codeOf(secret), at: new Date() };
  expect(await fixture.db.transaction((trx) => acceptSecondFactor(trx, ONLY_NEXT, entered))).toBe(true);
  const mails = await listMails({ db: fixture.db, keyRing: ONLY_NEXT, write: createNoticeWriter('') });
  expect(mails).toMatchObject([{ text: 'https://shop.example/reset' }]);

  const again = await parts(ONLY_NEXT);
  expect(again.map(({ reencrypted }) => reencrypted)).toEqual(again.map(() => 0));
});

test('what is cut off is gone on with: half of it under one key and half under another ends under the current one', async () => {
  const [a, b] = [await fixture.subscribe(scope), await fixture.subscribe(scope)];
  await rows(fixture.db, 'UPDATE webhook_subscription SET secret = :sealed WHERE id = :id', {
    id: a.row.id,
    sealed: encrypt(NEXT, a.row.id, a.secret),
  });
  const [subscriptions] = await parts(NEXT);
  expect(subscriptions).toMatchObject({ reencrypted: 1, left: 0 });
  for (const { row, secret } of [a, b]) {
    const [stored] = await rows<{ secret: Buffer }>(
      fixture.db,
      'SELECT secret FROM webhook_subscription WHERE id = :id',
      { id: row.id },
    );
    expect(stored && decrypt(ONLY_NEXT, row.id, stored.secret)).toBe(secret);
  }
});

test('what no listed key opens is named and left as it is, and the rest is done', async () => {
  const lost: KeyRing = { currentId: 'lost', keys: new Map([['lost', randomBytes(32)]]) };
  const [bad, good] = [await fixture.subscribe(scope), await fixture.subscribe(scope)];
  const sealed = encrypt(lost, bad.row.id, bad.secret);
  await rows(fixture.db, 'UPDATE webhook_subscription SET secret = :sealed WHERE id = :id', { id: bad.row.id, sealed });
  lines.length = 0;
  await expect(parts(NEXT)).rejects.toMatchObject({
    code: 'INVALID_STATE',
    message: expect.stringContaining(`webhook subscriptions: ${bad.row.id}`),
  });
  expect(lines).toContainEqual(expect.stringMatching(/^webhook subscriptions: \d+ seen, \d+ encrypted anew, 1 left$/));
  const stored = await rows<{ id: string; secret: Buffer }>(
    fixture.db,
    'SELECT id, secret FROM webhook_subscription',
    {},
  );
  expect(stored.find(({ id }) => id === bad.row.id)?.secret).toEqual(sealed);
  const other = stored.find(({ id }) => id === good.row.id);
  expect(other && decrypt(ONLY_NEXT, other.id, other.secret)).toBe(good.secret);
});
