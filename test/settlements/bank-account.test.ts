import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { rejectBankAccount, verifyBankAccount } from '../../src/settlements/bank-account/account.ts';
import { bankAccountRoutes } from '../../src/settlements/bank-account/routes.ts';
import { settlementRoutes } from '../../src/settlements/routes.ts';
import { buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { ACCOUNT } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';

const FRIDAY = new Date('2027-01-15T09:00:00.000Z');
const HOUR_MS = 3_600_000;

let database: TestDatabase;
let fixture: Fixture;
let scope: MerchantScope;
let server: TestServer;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  fixture = buildFixture(database.db, { start: FRIDAY });
  scope = await buildFreeMerchant(fixture);
  await fund(fixture, scope, 1_000_00n);
  const { db, clock } = fixture;
  const routes = [...settlementRoutes({ db, clock }), ...bankAccountRoutes({ db, clock })];
  const deps = testServerDeps(db, { routes, clock, runInTransaction: fixture.runInTransaction });
  server = await startTestServer(deps, stubKey(scope.merchantId));
});
afterEach(async () => {
  await server.close();
  await expectLedgerHolds(database.db);
});

const get = async (path: string) => server.send('GET', `/api/checkout/${path}`);
const post = async (path: string, body: object = {}) => server.send('POST', `/api/checkout/${path}`, { body });
const link = async (changes: object = {}, key?: string) =>
  server.send('PUT', '/api/checkout/bank-account', { body: { ...ACCOUNT, ...changes }, ...(key && { key }) });
const operator = () => ({ operatorId: 'opr_1', at: fixture.clock() });

describe('the linked bank account', () => {
  test('is verified at once in the sandbox, and has only its last four digits in responses', async () => {
    expect((await get('bank-account')).status).toBe(404);
    const { status, body } = await link();
    expect({ status, data: body.data }).toEqual({
      status: 200,
      data: {
        bankAccountId: expect.stringMatching(/^bac_/),
        bankCode: 'CBE',
        bankName: 'Commercial Bank of Ethiopia',
        accountNumber: '*********6789',
        accountName: 'Abyssinia Coffee PLC',
        status: 'VERIFIED',
        environment: 'sandbox',
        linkedAt: FRIDAY.toISOString(),
        usableFrom: FRIDAY.toISOString(),
        verifiedAt: FRIDAY.toISOString(),
      },
    });
    expect((await get('bank-account')).body.data).toEqual(body.data);
    fixture.pass(HOUR_MS);
    expect((await link()).body.data).toEqual(body.data);
  });

  test('is required for a settlement', async () => {
    const { status, body } = await post('settlement', { requestId: 'S-1', amount: 100 });
    expect({ status, code: body.error.code, message: body.message }).toEqual({
      status: 422,
      code: 'BANK_ACCOUNT_NOT_VERIFIED',
      message:
        'Settlements go to the linked bank account: none is linked yet; link one in the portal, or with PUT /api/checkout/bank-account.',
    });
  });

  test('is used at once after a change in the sandbox, while an open settlement keeps the account of its request', async () => {
    await link();
    const { settlementId } = (await post('settlement', { requestId: 'S-1', amount: 100 })).body.data;
    const changed = await link({ accountNumber: '01320123456', bankCode: 'AWASH' });
    expect(changed.body.data).toMatchObject({ status: 'VERIFIED', usableFrom: FRIDAY.toISOString() });
    expect((await get(`settlement/${settlementId}`)).body.data.bankAccount).toMatchObject({
      bankCode: 'CBE',
      accountNumber: '*********6789',
    });
    const { body } = await post('settlement', { requestId: 'S-2', amount: 100 });
    expect(body.data.bankAccount).toMatchObject({ bankCode: 'AWASH', accountNumber: '*******3456' });
    const history = await rows(
      database.db,
      'SELECT bank_code FROM bank_account WHERE merchant_id = :merchantId ORDER BY created_at, replaced_at NULLS LAST',
      { merchantId: scope.merchantId },
    );
    expect(history).toEqual([{ bankCode: 'CBE' }, { bankCode: 'AWASH' }]);
  });

  describe('of live', () => {
    let live: MerchantScope;
    let key: string;
    beforeEach(() => {
      live = { ...scope, environment: 'live' };
      key = stubKey(scope.merchantId, 'live');
    });
    const askLive = async () =>
      server.send('POST', '/api/checkout/settlement', { key, body: { requestId: 'S-1', amount: 100 } });
    const linkLive = async (changes: object = {}): Promise<string> =>
      (await link(changes, key)).body.data.bankAccountId;
    const verify = async (bankAccountId: string) =>
      fixture.runInTransaction((tx) => verifyBankAccount(tx, live, { ...operator(), bankAccountId }));
    const reject = async (bankAccountId: string, reason: string) =>
      fixture.runInTransaction((tx) => rejectBankAccount(tx, live, { ...operator(), bankAccountId, reason }));

    test.each([['still verified'], ['rejected after it was verified']])(
      'in the place of one that is %s it holds settlements for 48 h',
      async (which) => {
        const before = await linkLive();
        await verify(before);
        if (which !== 'still verified') await reject(before, 'Sold.');
        const after = await linkLive({ accountNumber: '01320123456', bankCode: 'AWASH' });
        await verify(after);
        const usableFrom = new Date(FRIDAY.getTime() + 48 * HOUR_MS).toISOString();
        fixture.pass(48 * HOUR_MS - 1);
        const early = await askLive();
        expect([early.status, early.body.error.code]).toEqual([422, 'BANK_ACCOUNT_NOT_VERIFIED']);
        expect(early.body.message).toContain(`can be used from ${usableFrom} on`);
        fixture.pass(1);
        expect((await askLive()).body.error.code).toBe('INSUFFICIENT_BALANCE');
      },
    );

    test('is usable once it is verified, without a hold, if only the sandbox had a verified account before', async () => {
      expect((await link()).body.data.status).toBe('VERIFIED');
      await verify(await linkLive({ accountNumber: '01320123456', bankCode: 'AWASH' }));
      expect((await askLive()).body.error.code).toBe('INSUFFICIENT_BALANCE');
    });

    test('that was verified can be rejected later, and is then unusable for settlements', async () => {
      const bankAccountId = await linkLive();
      await verify(bankAccountId);
      expect((await askLive()).body.error.code).toBe('INSUFFICIENT_BALANCE');
      const reason = 'The owner has changed.';
      expect(await reject(bankAccountId, reason)).toMatchObject({ changed: true, before: 'VERIFIED' });
      expect(await reject(bankAccountId, reason)).toMatchObject({ changed: false });
      await expect(reject(bankAccountId, 'Another one.')).rejects.toMatchObject({ code: 'INVALID_STATE' });
      const refused = await askLive();
      expect([refused.status, refused.body.error.code]).toEqual([422, 'BANK_ACCOUNT_NOT_VERIFIED']);
      expect(refused.body.message).toContain(`was rejected (${reason}); link another one`);
    });

    test('is not verified by the operator who invited to the key that linked it', async () => {
      const keyId = (
        await rows<{ id: string }>(
          database.db,
          `INSERT INTO api_key (id, merchant_id, environment, kind, prefix, secret_hash, created_by)
         VALUES (:id, :merchantId, 'live', 'secret', '', '', 'opr_1') RETURNING id`,
          { id: newId('key'), merchantId: scope.merchantId },
        )
      )[0]?.id;
      const bankAccountId = await linkLive();
      await rows(database.db, 'UPDATE bank_account SET requested_by = :keyId WHERE id = :bankAccountId', {
        keyId,
        bankAccountId,
      });
      await expect(verify(bankAccountId)).rejects.toMatchObject({
        code: 'INVALID_STATE',
        message: expect.stringContaining(`was linked with the key ${keyId}, to which you invited the merchant`),
      });
      const other = { operatorId: 'opr_2', at: fixture.clock(), bankAccountId };
      expect(await fixture.runInTransaction((tx) => verifyBankAccount(tx, live, other))).toMatchObject({
        changed: true,
      });
    });
  });

  test('of live is pending until an operator verifies it or rejects it with a reason', async () => {
    const live: MerchantScope = { ...scope, environment: 'live' };
    const key = stubKey(scope.merchantId, 'live');
    const askLive = async () =>
      server.send('POST', '/api/checkout/settlement', { key, body: { requestId: 'S-1', amount: 100 } });
    const { bankAccountId, status } = (await link({}, key)).body.data;
    expect(status).toBe('PENDING');
    expect((await askLive()).body.message).toContain('is not verified yet');
    const reason = 'The name is another one.';
    await fixture.runInTransaction((tx) => rejectBankAccount(tx, live, { ...operator(), bankAccountId, reason }));
    expect((await askLive()).body.message).toContain(`was rejected (${reason}); link another one`);
    await expect(
      fixture.runInTransaction((tx) => verifyBankAccount(tx, live, { ...operator(), bankAccountId })),
    ).rejects.toMatchObject({ code: 'INVALID_STATE' });

    const next = (await link({}, key)).body.data;
    expect(next).toMatchObject({ status: 'PENDING' });
    await expect(
      fixture.runInTransaction((tx) => verifyBankAccount(tx, live, { ...operator(), bankAccountId })),
    ).rejects.toMatchObject({ code: 'INVALID_STATE', message: expect.stringContaining('linked another') });
    const looked = { ...operator(), bankAccountId: next.bankAccountId };
    const { account, changed } = await fixture.runInTransaction((tx) => verifyBankAccount(tx, live, looked));
    expect({ account, changed }).toMatchObject({ account: { status: 'VERIFIED', decidedBy: 'opr_1' }, changed: true });
    const again = await fixture.runInTransaction((tx) => verifyBankAccount(tx, live, looked));
    expect(again).toMatchObject({ account, changed: false });
    expect((await askLive()).body.error.code).toBe('INSUFFICIENT_BALANCE');
  });

  test.each([
    [{ bankCode: 'NONE' }, 'bankCode'],
    [{ accountNumber: '123' }, 'accountNumber'],
    [{ accountNumber: '10001234 6789' }, 'accountNumber'],
    [{ accountName: '' }, 'accountName'],
    [{ accountName: 'a\nb' }, 'accountName'],
    [{ iban: '1' }, 'iban'],
  ])('with %j is rejected, naming the field', async (changes, field) => {
    const { status, body } = await link(changes);
    expect({ status, field: body.error.details[0].field }).toEqual({ status: 400, field });
  });
});
