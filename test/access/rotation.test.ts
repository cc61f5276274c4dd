import { createKey, listKeys, revokeKey, rotateKey, type NewKey } from '../../src/access/api-keys.ts';
import { createKeyAuthenticator } from '../../src/access/authenticate.ts';
import { HOUR_MS } from '../../src/lib/dates.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { buildMerchant } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const START = new Date('2026-06-01T09:00:00Z');

let database: TestDatabase;
let scope: MerchantScope;
let nowMs = START.getTime();
const clock = () => new Date(nowMs);
const pepper = 'a pepper of sixteen characters';

beforeAll(async () => {
  database = await createTestDatabase();
  scope = await buildMerchant(database.db);
});
afterAll(() => database.drop());
beforeEach(() => {
  nowMs = START.getTime();
});

const make = (input: Partial<NewKey> = {}) =>
  database.db.transaction((trx) => createKey({ trx, pepper, clock }, { ...scope, kind: 'secret', ...input }));
const rotate = (keyId: string, overlapHours?: number) =>
  database.db.transaction((trx) =>
    rotateKey({ trx, pepper, clock }, { keyId, ...(overlapHours !== undefined && { overlapHours }) }),
  );

/** The result of a process without a cache for a key: its kind, or the error. */
async function codeOf(key: string): Promise<string> {
  const keys = createKeyAuthenticator({
    db: database.db,
    peppers: [pepper],
    clock,
    log: createLogger('silent', 'test'),
  });
  try {
    return (await keys.authenticateKey(key, '127.0.0.1')).kind;
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await keys.flush();
  }
}

describe('rotation', () => {
  test('both keys work during the overlap, only the new one after it', async () => {
    const old = await make({ kind: 'restricted', scopes: ['checkout:read'], ipRanges: ['127.0.0.0/8'], name: 'shop' });
    const next = await rotate(old.key.id);
    expect(next.key).toMatchObject({ scopes: ['checkout:read'], ipRanges: ['127.0.0.0/8'], name: 'shop' });
    nowMs += 24 * HOUR_MS - 1;
    expect(await codeOf(old.secret)).toBe('key');
    expect(await codeOf(next.secret)).toBe('key');
    nowMs += 1;
    expect(await codeOf(old.secret)).toBe('API_KEY_EXPIRED');
    expect(await codeOf(next.secret)).toBe('key');
  });

  test('without overlap the old key ends at once', async () => {
    const old = await make();
    await rotate(old.key.id, 0);
    expect(await codeOf(old.secret)).toBe('API_KEY_EXPIRED');
  });

  test('never extends the old key, and gives the new one the same lifetime', async () => {
    const old = await make({ expiresAt: new Date(START.getTime() + HOUR_MS) });
    nowMs += HOUR_MS / 2;
    const next = await rotate(old.key.id, 168);
    const [row] = await listKeys(database.db, { id: old.key.id });
    expect(row?.expiresAt).toEqual(new Date(START.getTime() + HOUR_MS));
    expect(row?.rotatedTo).toBe(next.key.id);
    expect(next.key.expiresAt).toEqual(new Date(nowMs + HOUR_MS));
  });

  test('of a key that has ended or was rotated already is rejected', async () => {
    const [revoked, rotated] = [await make(), await make()];
    await database.db.transaction((trx) => revokeKey({ trx, clock }, revoked.key.id));
    await rotate(rotated.key.id);
    await expect(rotate(revoked.key.id)).rejects.toMatchObject({ code: 'INVALID_STATE' });
    await expect(rotate(rotated.key.id)).rejects.toMatchObject({ code: 'INVALID_STATE' });
    await expect(rotate('key_none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('ten concurrent rotations create one new key', async () => {
    const old = await make();
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => rotate(old.key.id)));
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  });
});
