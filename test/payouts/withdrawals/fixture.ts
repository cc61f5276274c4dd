import { readBalance } from '../../../src/ledger/balance.ts';
import { rows } from '../../../src/lib/db.ts';
import type { Santim } from '../../../src/lib/money.ts';
import type { MerchantScope } from '../../../src/lib/scope.ts';
import { createCheck, type Check } from '../../../src/payouts/check.ts';
import type { Resolution } from '../../../src/payouts/resolution.ts';
import { resolvePayout, type Resolved } from '../../../src/payouts/resolve.ts';
import type { WithdrawalRow } from '../../../src/payouts/withdrawals/queries.ts';
import { autoDecide } from '../../../src/payouts/withdrawals/review.ts';
import { withdrawalRoutes } from '../../../src/payouts/withdrawals/routes.ts';
import { WITHDRAWAL } from '../../../src/payouts/withdrawals/withdrawal.ts';
import { buildFixture, type Fixture } from '../../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type HttpResponse } from '../../support/http.ts';
import { expectLedgerHolds } from '../../support/ledger.ts';
import { buildFreeMerchant, fund, TAKEN } from '../../support/withdrawals.ts';

export const PATH = '/api/checkout/withdrawal';
export const CHECK = { minIntervalMs: 0, notifyWorkflow: true };

/** What the merchant of a test has, in santim. */
export const FUNDED = 1_000_00n;
/** What 100 birr take with 5 birr and 15 % tax on them, in santim. */
export const TOTAL = 105_75n;

export const COMPLETED: Resolution = {
  outcome: 'COMPLETED',
  providerReference: 'OUT-9',
  reason: 'The receipt says so',
};
export const FAILED: Resolution = {
  outcome: 'FAILED',
  providerReference: 'CASE-7',
  reason: 'The provider never paid it',
};

/** Withdrawals over HTTP by a merchant that has 1,000 birr, with a provider whose replies a test sets. */
export type WithdrawalFixture = Fixture & {
  checkPayout: Check<WithdrawalRow>;
  /** The merchant of the running test. */
  scope: MerchantScope;
  send: (method: string, path: string, body?: object | string) => Promise<HttpResponse>;
  /** The body of a request for 100 birr, or with changes; each has its own requestId. */
  body: (changes?: object) => Record<string, unknown>;
  request: (changes?: object) => Promise<HttpResponse>;
  /** A requested withdrawal that the sandbox has reviewed. */
  ready: (changes?: object) => Promise<string>;
  // A test's expectations describe the response; a type would repeat them.
  // oxlint-disable-next-line typescript/no-explicit-any
  read: (id: string) => Promise<any>;
  /** Available and reserved. */
  balance: () => Promise<[Santim, Santim]>;
  /** Checks the withdrawal once for each of these replies, as after a verified callback. */
  report: (id: string, ...outcomes: Parameters<Fixture['provider']['returnsForPayouts']>) => Promise<void>;
  /** Resolves it as an operator, under a provider reference of its own: OUT-9-wd_…. */
  resolve: (id: string, resolution: Resolution, operatorId?: string) => Promise<Resolved<WithdrawalRow>>;
  /** What the channel holds of the merchant. */
  clearing: () => Promise<Santim>;
  /** In alphabetical order, because events of one transaction have no order. */
  events: (id: string) => Promise<string[]>;
  /** Before each test. */
  newMerchant: () => Promise<void>;
  /** After each test. */
  expectLedgerHolds: () => Promise<void>;
  close: () => Promise<void>;
};

/**
 * A fixture for all tests of the calling file or `describe`: a merchant for each test, and a ledger checked after each; by
 * default on a database of its own.
 */
export function useWithdrawalFixture(openDatabase = () => createTestDatabase()): WithdrawalFixture {
  const fixture = {} as WithdrawalFixture;
  beforeAll(async () => buildInto(fixture, await openDatabase()));
  beforeEach(() => fixture.newMerchant());
  afterEach(() => fixture.expectLedgerHolds());
  afterAll(() => fixture.close());
  return fixture;
}

async function buildInto(own: WithdrawalFixture, database: TestDatabase): Promise<void> {
  const { db } = database;
  const fixture = buildFixture(db, { clock: () => new Date('2026-03-02T09:00:00.000Z') });
  const checkPayout = createCheck(fixture, WITHDRAWAL);
  const deps = testServerDeps(db, {
    routes: withdrawalRoutes({ ...fixture, checkPayout }),
    clock: fixture.clock,
    runInTransaction: fixture.runInTransaction,
  });
  const server = await startTestServer(deps, stubKey('mrc_none'));
  let requests = 0;
  Object.assign(own, {
    ...fixture,
    checkPayout,
    scope: await buildFreeMerchant(fixture),
    send: (method, path, body) =>
      server.send(method, path, { key: stubKey(own.scope.merchantId), ...(body !== undefined && { body }) }),
    body: (changes = {}) => ({
      requestId: `W-${(requests += 1)}`,
      amount: 100,
      channel: 'TELEBIRR',
      destination: { phone: '0911000001', accountName: 'Abebe Bikila' },
      ...changes,
    }),
    request: (changes) => own.send('POST', PATH, own.body(changes)),
    ready: async (changes) => {
      const { body, status } = await own.request(changes);
      expect(status).toBe(202);
      const id: string = body.data.withdrawalRequestId;
      await autoDecide(fixture, id, fixture.clock());
      return id;
    },
    read: async (id) => (await own.send('GET', `${PATH}/${id}`)).body.data,
    report: async (id, ...outcomes) => {
      fixture.provider.returnsForPayouts(...outcomes);
      for (const _ of outcomes) await checkPayout(id, { ...CHECK, proof: true });
    },
    resolve: (id, resolution, operatorId = 'opr_1') => {
      const providerReference = `${resolution.providerReference}-${id}`;
      const decision = { ...resolution, providerReference, operatorId, at: fixture.clock() };
      return fixture.runInTransaction((tx) => resolvePayout(tx, WITHDRAWAL, { id, ...decision }));
    },
    balance: async () => {
      const { availableSantim, reservedSantim } = await readBalance(db, own.scope);
      return [availableSantim, reservedSantim];
    },
    clearing: async () => {
      const [sum] = await rows<{ santim: bigint }>(
        db,
        `SELECT CAST(coalesce(-sum(e.amount_santim), 0) AS bigint) AS santim FROM ledger_entry e
         JOIN ledger_account a ON a.id = e.account_id JOIN ledger_journal j ON j.id = e.journal_id
         WHERE a.kind = 'CHANNEL_CLEARING' AND j.merchant_id = :merchantId`,
        own.scope,
      );
      return sum?.santim ?? 0n;
    },
    events: async (id) => {
      const found = await rows<{ event: string }>(
        db,
        'SELECT event FROM webhook_event WHERE resource_id = :id ORDER BY event',
        { id },
      );
      return found.map(({ event }) => event);
    },
    newMerchant: async () => {
      own.scope = await buildFreeMerchant(fixture);
      await fund(fixture, own.scope, FUNDED);
      fixture.provider.returnsForPayouts(TAKEN);
      fixture.provider.payoutQueries.length = 0;
    },
    expectLedgerHolds: () => expectLedgerHolds(db),
    close: async () => {
      await server.close();
      await database.drop();
    },
  } satisfies WithdrawalFixture);
}
