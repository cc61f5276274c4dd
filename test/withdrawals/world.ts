import { readBalance } from '../../src/ledger/balance.ts';
import { rows } from '../../src/lib/db.ts';
import type { Santim } from '../../src/lib/money.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { autoDecide } from '../../src/withdrawals/review.ts';
import { withdrawalRoutes } from '../../src/withdrawals/routes.ts';
import { createCheckPayout, type CheckPayout } from '../../src/withdrawals/sync.ts';
import { buildWorld, type World } from '../support/build.ts';
import { createTestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type HttpResponse } from '../support/http.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { buildFreeMerchant, fund, TAKEN } from '../support/withdrawals.ts';

export const PATH = '/api/checkout/withdrawal';
export const CHECK = { minIntervalMs: 0, notifyWorkflow: true };

/** Withdrawals over HTTP, by a merchant that has 1,000 birr, with a provider that answers by a script. */
export type WithdrawalWorld = World & {
  checkPayout: CheckPayout;
  /** Of the test that runs. */
  scope: MerchantScope;
  send: (method: string, path: string, body?: object | string) => Promise<HttpResponse>;
  /** What is sent to ask for 100 birr, unless said otherwise; each under a requestId of its own. */
  body: (changes?: object) => Record<string, unknown>;
  ask: (changes?: object) => Promise<HttpResponse>;
  /** Asked for and through its review. */
  ready: (changes?: object) => Promise<string>;
  // A test says with its expectations what an answer is; a type would say it twice.
  // oxlint-disable-next-line typescript/no-explicit-any
  read: (id: string) => Promise<any>;
  /** Available and reserved. */
  balance: () => Promise<[Santim, Santim]>;
  /** In alphabetical order, for those of one change have none. */
  events: (id: string) => Promise<string[]>;
  /** Before each test: another merchant. */
  newMerchant: () => Promise<void>;
  /** After each test. */
  expectLedgerHolds: () => Promise<void>;
  close: () => Promise<void>;
};

export async function createWithdrawalWorld(): Promise<WithdrawalWorld> {
  const database = await createTestDatabase();
  const { db } = database;
  const world = buildWorld(db, { clock: () => new Date('2026-03-02T09:00:00.000Z') });
  const checkPayout = createCheckPayout(world);
  const deps = testServerDeps(db, {
    routes: withdrawalRoutes({ ...world, checkPayout }),
    clock: world.clock,
    runInTransaction: world.runInTransaction,
  });
  const server = await startTestServer(deps, stubKey('mrc_none'));
  let requests = 0;
  const own: WithdrawalWorld = {
    ...world,
    checkPayout,
    scope: await buildFreeMerchant(world),
    send: (method, path, body) =>
      server.send(method, path, { key: stubKey(own.scope.merchantId), ...(body !== undefined && { body }) }),
    body: (changes = {}) => ({
      requestId: `W-${(requests += 1)}`,
      amount: 100,
      channel: 'TELEBIRR',
      destination: { phone: '0911000001', accountName: 'Abebe Bikila' },
      ...changes,
    }),
    ask: (changes) => own.send('POST', PATH, own.body(changes)),
    ready: async (changes) => {
      const { body, status } = await own.ask(changes);
      expect(status).toBe(202);
      const id: string = body.data.withdrawalRequestId;
      await autoDecide(world, id, world.clock());
      return id;
    },
    read: async (id) => (await own.send('GET', `${PATH}/${id}`)).body.data,
    balance: async () => {
      const { availableSantim, reservedSantim } = await readBalance(db, own.scope);
      return [availableSantim, reservedSantim];
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
      own.scope = await buildFreeMerchant(world);
      await fund(world, own.scope, 1_000_00n);
      world.provider.returnsForPayouts(TAKEN);
      world.provider.payoutQueries.length = 0;
    },
    expectLedgerHolds: () => expectLedgerHolds(db),
    close: async () => {
      await server.close();
      await database.drop();
    },
  };
  return own;
}
