import { createKey, revokeKey, type NewKey } from '../../src/access/api-keys.ts';
import { createKeyAuthenticator } from '../../src/access/authenticate.ts';
import { hashKey, generateKey, readKey } from '../../src/access/key-format.ts';
import { rows } from '../../src/lib/db.ts';
import type { AppError } from '../../src/lib/errors.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createMerchant, setMerchantStatus } from '../../src/merchants/operations.ts';
import { itemRoutes } from '../http/routes.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, testServerDeps } from '../support/http.ts';

const PEPPER = 'a pepper of sixteen characters';
const START = new Date('2026-06-01T09:00:00Z');

let database: TestDatabase;
let merchantId: string;
let nowMs = START.getTime();
const clock = () => new Date(nowMs);

beforeAll(async () => {
  database = await createTestDatabase();
  merchantId = (await database.db.transaction((trx) => createMerchant(trx, { name: 'Coffee' }))).id;
});
afterAll(() => database.drop());
beforeEach(() => {
  nowMs = START.getTime();
});

const make = (input: Partial<NewKey> = {}) =>
  database.db.transaction((trx) =>
    createKey({ trx, pepper: PEPPER, clock }, { merchantId, environment: 'sandbox', kind: 'secret', ...input }),
  );
const revoke = (keyId: string) => database.db.transaction((trx) => revokeKey({ trx, clock }, keyId));

/** A process of its own: nothing remembered. */
function newProcess() {
  const keys = createKeyAuthenticator({
    db: database.db,
    peppers: [PEPPER],
    clock,
    log: createLogger('silent', 'test'),
  });
  const codeOf = async (key: string, ip = '127.0.0.1') => {
    try {
      return (await keys.authenticateKey(key, ip)).kind;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  return { ...keys, codeOf };
}

const verify = (id: string) =>
  rows(
    database.db,
    `INSERT INTO kyc_application (merchant_id, environment, status, tier) VALUES (:id, 'live', 'APPROVED', 1)`,
    { id },
  );
const payInSandbox = (id: string) =>
  rows(
    database.db,
    `INSERT INTO transaction (id, session_id, merchant_id, environment, checkout_order_no, amount_santim, currency, type,
       status, created_at)
     VALUES (:id, :id, :id, 'sandbox', :id, 100, 'ETB', 'API', 'SUCCESS', now())`,
    { id },
  );

async function countQueries(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const listen = (): void => void (count += 1);
  database.db.events.on('statement', listen);
  await work();
  database.db.events.off('statement', listen);
  return count;
}

test('a key counts as known after its first correct use, a guess with its id never does', async () => {
  const { secret } = await make();
  const process = newProcess();
  expect(process.isKnownKey(secret)).toBe(false);
  await process.authenticateKey(secret, '127.0.0.1');
  expect(process.isKnownKey(secret)).toBe(true);
  expect(process.isKnownKey((await make()).secret)).toBe(false);
  expect(process.isKnownKey('sk_test_nonsense')).toBe(false);
  await process.flush();
});

describe('the format of a key', () => {
  test.each([
    ['secret', 'sandbox', 'sk_test_'],
    ['secret', 'live', 'sk_live_'],
    ['restricted', 'sandbox', 'rk_test_'],
    ['restricted', 'live', 'rk_live_'],
  ] as const)('the text of a %s %s key has the prefix %s and its id', (kind, environment, head) => {
    const id = newId('key');
    const key = generateKey({ id, kind, environment });
    expect(key.startsWith(head + id.slice(4))).toBe(true);
    expect(key).toMatch(/^[a-z]{2}_[a-z]{4}_[0-9A-Za-z]{75}$/);
    expect(readKey(key)).toEqual({ id, kind, environment });
  });

  test('any mistyped character of a key is detected without the database', async () => {
    const key = generateKey({ id: newId('key'), kind: 'secret', environment: 'sandbox' });
    for (let index = 0; index < key.length; index += 1) {
      const other = key[index] === 'A' ? 'B' : 'A';
      expect(readKey(key.slice(0, index) + other + key.slice(index + 1))).toBeNull();
    }
    for (const text of ['', key.slice(1), `${key}A`, `${key}\n`, ` ${key}`, key.toLowerCase()]) {
      expect(readKey(text)).toBeNull();
    }
    const { codeOf } = newProcess();
    expect(await countQueries(() => codeOf(`${key.slice(0, -1)}!`))).toBe(0);
  });

  test('the database contains only a keyed hash of a key', async () => {
    const { key, secret } = await make();
    const [row] = await database.db.knex()('api_key').where({ id: key.id });
    expect(row.secretHash.equals(hashKey(PEPPER, secret))).toBe(true);
    expect(row.prefix).toBe(secret.slice(0, 12));
    const everything = JSON.stringify(row, (_, value) =>
      value?.type === 'Buffer' ? Buffer.from(value).toString() : value,
    );
    expect(everything).not.toContain(secret.slice(34));
    expect(hashKey('another pepper', secret).equals(row.secretHash)).toBe(false);
  });
});

describe('authentication with a key', () => {
  test('a secret key gives access to its merchant and environment with all scopes', async () => {
    const { key, secret } = await make();
    const caller = await newProcess().authenticateKey(secret, '127.0.0.1');
    expect(caller).toMatchObject({ kind: 'key', merchantId, environment: 'sandbox', keyId: key.id });
    expect(caller).toHaveProperty('scopes', expect.arrayContaining(['webhooks:write']));
  });

  test('a restricted key has only its own scopes', async () => {
    const { secret } = await make({ kind: 'restricted', scopes: ['checkout:read'] });
    expect(await newProcess().authenticateKey(secret, '127.0.0.1')).toHaveProperty('scopes', ['checkout:read']);
  });

  test('a cached key needs no query', async () => {
    const { secret } = await make();
    const { codeOf, flush } = newProcess();
    await codeOf(secret);
    await flush();
    expect(
      await countQueries(async () => {
        for (let i = 0; i < 20; i += 1) await codeOf(secret);
      }),
    ).toBe(0);
  });

  test('concurrent requests with one key load it once', async () => {
    const { key, secret } = await make();
    await database.db.knex()('api_key').where({ id: key.id }).update({ last_used_at: START });
    const { codeOf } = newProcess();
    expect(await countQueries(() => Promise.all(Array.from({ length: 50 }, () => codeOf(secret))))).toBe(1);
  });

  test('a revoked key is rejected within 5 s by a process that has cached it', async () => {
    const { key, secret } = await make();
    const { codeOf } = newProcess();
    expect(await codeOf(secret)).toBe('key');
    await revoke(key.id);
    nowMs += 5_000;
    expect(await codeOf(secret)).toBe('API_KEY_REVOKED');
  });

  test('the error names revocation or expiry only if the secret is correct', async () => {
    const { key } = await make();
    const guessed = generateKey({ id: key.id, kind: 'secret', environment: 'sandbox' });
    await revoke(key.id);
    expect(await newProcess().codeOf(guessed)).toBe('INVALID_API_KEY');
    expect(await newProcess().codeOf(generateKey({ id: newId('key'), kind: 'secret', environment: 'sandbox' }))).toBe(
      'INVALID_API_KEY',
    );
  });

  test('a key expires to the millisecond, cached or not', async () => {
    const { secret } = await make({ expiresAt: new Date(START.getTime() + 1_000) });
    const { codeOf } = newProcess();
    nowMs += 999;
    expect(await codeOf(secret)).toBe('key');
    nowMs += 1;
    expect(await codeOf(secret)).toBe('API_KEY_EXPIRED');
  });

  test('a key with address ranges is accepted from these only', async () => {
    const { secret } = await make({ ipRanges: ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7'] });
    const { codeOf } = newProcess();
    for (const ip of ['203.0.113.9', '::ffff:203.0.113.9', '2001:db8::1', '198.51.100.7']) {
      expect(await codeOf(secret, ip)).toBe('key');
    }
    for (const ip of ['203.0.114.1', '2001:db9::1', '198.51.100.8', 'nonsense', '']) {
      expect(await codeOf(secret, ip)).toBe('IP_NOT_ALLOWED');
    }
  });

  test.each([
    [false, false, ['kyc', 'sandboxPayment']],
    [false, true, ['kyc']],
    [true, false, ['sandboxPayment']],
    [true, true, []],
  ])('a live key with verification %s and sandbox payment %s has the unmet requirements %j', async (...facts) => {
    const [isVerified, hasPaid, unmetRequirements] = facts;
    const other = await database.db.transaction((trx) => createMerchant(trx, { name: 'Other' }));
    if (isVerified) await verify(other.id);
    if (hasPaid) await payInSandbox(other.id);
    const { secret } = await make({ merchantId: other.id, environment: 'live' });
    const { authenticateKey } = newProcess();
    const refused = await authenticateKey(secret, '127.0.0.1', 'transactions:read').then(
      () => [],
      (error: AppError) => error.details.map(({ field }) => field),
    );
    expect(refused).toEqual(unmetRequirements);
    for (const scope of ['kyc:write', 'bank:write'] as const) {
      expect(await authenticateKey(secret, '127.0.0.1', scope)).toMatchObject({ environment: 'live' });
    }
  });

  test('a cached live key needs no query, with or without unmet requirements', async () => {
    const other = await database.db.transaction((trx) => createMerchant(trx, { name: 'Other' }));
    const { secret } = await make({ merchantId: other.id, environment: 'live' });
    const { authenticateKey, codeOf, flush } = newProcess();
    await authenticateKey(secret, '127.0.0.1', 'kyc:write');
    await flush();
    expect(
      await countQueries(async () => {
        for (let i = 0; i < 20; i += 1) expect(await codeOf(secret)).toBe('KYC_REQUIRED');
      }),
    ).toBe(0);
  });

  test('a key of a suspended merchant gets MERCHANT_SUSPENDED', async () => {
    const other = await database.db.transaction((trx) => createMerchant(trx, { name: 'Other' }));
    const { secret } = await make({ merchantId: other.id });
    await database.db.transaction((trx) => setMerchantStatus(trx, other.id, 'SUSPENDED'));
    expect(await newProcess().codeOf(secret)).toBe('MERCHANT_SUSPENDED');
    await database.db.transaction((trx) => setMerchantStatus(trx, other.id, 'ACTIVE'));
    expect(await newProcess().codeOf(secret)).toBe('key');
  });

  test('the last use of a key is recorded at most once a minute', async () => {
    const { key, secret } = await make();
    const { codeOf, flush } = newProcess();
    const lastUsed = async () => {
      await flush();
      return (await database.db.knex()('api_key').where({ id: key.id }).first()).lastUsedAt as Date;
    };
    await codeOf(secret);
    expect(await lastUsed()).toEqual(START);
    nowMs += 59_000;
    await codeOf(secret);
    expect(await lastUsed()).toEqual(START);
    nowMs += 1_000;
    await codeOf(secret);
    expect(await lastUsed()).toEqual(clock());
  });
});

test.each([[{ scopes: ['checkout:read'] }], [{ kind: 'restricted' }], [{ environment: null }]])(
  'a key with %j is not stored',
  async (input) => {
    await expect(make(input as Partial<NewKey>)).rejects.toThrow('violates check constraint');
  },
);

test('over HTTP both headers accept a key, and an unverified live key gets an error that names KYC', async () => {
  const keys = newProcess();
  const deps = testServerDeps(database.db, { routes: itemRoutes({ runs: 0 }), authenticateKey: keys.authenticateKey });
  const http = await startTestServer(deps);
  const { secret } = await make();
  const another = await make();
  const live = await make({ environment: 'live' });
  const path = '/api/items?startDate=2026-01-31&status=OPEN';
  const bearer = { authorization: `Bearer ${secret}` };
  expect((await http.send('GET', path, { key: secret })).status).toBe(200);
  expect((await http.send('GET', path, { headers: bearer })).status).toBe(200);
  expect((await http.send('GET', path, { key: secret, headers: bearer })).status).toBe(200);
  expect((await http.send('GET', path, { key: another.secret, headers: bearer })).body.error.code).toBe(
    'INVALID_API_KEY',
  );
  const refused = await http.send('GET', path, { key: live.secret });
  expect(refused.status).toBe(403);
  expect(refused.body.error.code).toBe('KYC_REQUIRED');
  await keys.flush();
  await http.close();
});
