import { countUnderOlderPeppers, createKey, createOperatorKey } from '../../src/access/api-keys.ts';
import { createKeyAuthenticator } from '../../src/access/authenticate.ts';
import { hashKey } from '../../src/access/key-format.ts';
import { createOperator } from '../../src/access/operators.ts';
import { rows } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createMerchant } from '../../src/merchants/operations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const [OLD, NEW] = ['the pepper of last year, in 29', 'the pepper of this year, in 29'];
const clock = () => new Date();
const log = createLogger('silent', 'test');

let database: TestDatabase;
let merchantId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  merchantId = (await database.db.transaction((trx) => createMerchant(trx, { name: 'Coffee' }))).id;
});
afterAll(() => database.drop());

/** A process with these peppers, which remembers no key yet. */
const processWith = (...peppers: [string, ...string[]]) => {
  const keys = createKeyAuthenticator({ db: database.db, peppers, clock, log });
  return {
    codeOf: async (secret: string): Promise<string> =>
      keys.authenticateKey(secret, '127.0.0.1').then(
        () => 'ok',
        (error: { code: string }) => error.code,
      ),
    flush: keys.flush,
  };
};
const newKey = async (): Promise<string> => {
  const scope = { merchantId, environment: 'sandbox', kind: 'secret' } as const;
  return (await database.db.transaction((trx) => createKey({ trx, pepper: OLD, clock }, scope))).secret;
};

test('a key under an older pepper authenticates and is hashed anew, after which the old pepper may go', async () => {
  const secret = await newKey();
  expect(await processWith(NEW).codeOf(secret)).toBe('INVALID_API_KEY');
  expect(await countUnderOlderPeppers(database.db, NEW)).toEqual({ all: 1, older: 1 });
  const rotating = processWith(NEW, OLD);
  expect(await rotating.codeOf(secret)).toBe('ok');
  await rotating.flush();
  expect(await rotating.codeOf(secret)).toBe('ok');
  expect(await countUnderOlderPeppers(database.db, NEW)).toEqual({ all: 1, older: 0 });
  expect(await processWith(NEW).codeOf(secret)).toBe('ok');
  expect(await processWith(OLD).codeOf(secret)).toBe('INVALID_API_KEY');
});

test('while processes list the peppers in either order, each takes keys of both', async () => {
  const secret = await newKey();
  const preparing = processWith(OLD, NEW);
  expect(await preparing.codeOf(secret)).toBe('ok');
  const rotated = processWith(NEW, OLD);
  expect(await rotated.codeOf(secret)).toBe('ok');
  await rotated.flush();
  const late = processWith(OLD, NEW);
  expect(await late.codeOf(secret)).toBe('ok');
  await late.flush();
  expect(await rotated.codeOf(secret)).toBe('ok');
});

test('a key without a recorded pepper is tried with each one, and a wrong key fails with all', async () => {
  const secret = await newKey();
  await rows(database.db, 'UPDATE api_key SET pepper_id = NULL WHERE secret_hash = :hash', {
    hash: hashKey(OLD, secret),
  });
  const rotating = processWith(NEW, OLD);
  expect(await rotating.codeOf(secret)).toBe('ok');
  const other = await newKey();
  await rows(database.db, `UPDATE api_key SET secret_hash = :hash, pepper_id = NULL WHERE secret_hash = :was`, {
    hash: hashKey('a pepper that nobody has listed', other),
    was: hashKey(OLD, other),
  });
  expect(await rotating.codeOf(other)).toBe('INVALID_API_KEY');
  await rotating.flush();
});

test('expired and revoked keys do not count as keys under an older pepper', async () => {
  const before = await countUnderOlderPeppers(database.db, NEW);
  for (const column of ['expires_at', 'revoked_at']) {
    const secretHash = hashKey(OLD, await newKey());
    await rows(
      database.db,
      `UPDATE api_key SET ${column} = now() - interval '1 second' WHERE secret_hash = :secretHash`,
      {
        secretHash,
      },
    );
  }
  expect(await countUnderOlderPeppers(database.db, NEW)).toEqual(before);
});

test("an operator's key is hashed anew as well", async () => {
  const secret = await database.db.transaction(async (trx) => {
    const { id } = await createOperator(trx, { name: 'Sara', email: 'sara@example.et', role: 'admin' });
    return (await createOperatorKey({ trx, pepper: OLD, clock }, { operatorId: id })).secret;
  });
  const rotating = processWith(NEW, OLD);
  expect(await rotating.codeOf(secret)).toBe('ok');
  await rotating.flush();
  expect(await processWith(NEW).codeOf(secret)).toBe('ok');
});
