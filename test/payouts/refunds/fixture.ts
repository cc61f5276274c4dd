import { readBalance } from '../../../src/ledger/balance.ts';
import { rows } from '../../../src/lib/db.ts';
import type { Santim } from '../../../src/lib/money.ts';
import type { MerchantScope } from '../../../src/lib/scope.ts';
import { setSecondPersonFrom } from '../../../src/merchants/operations.ts';
import { transactionRoutes } from '../../../src/payments/transaction-routes.ts';
import { createCheck, type Check } from '../../../src/payouts/check.ts';
import type { RefundRow } from '../../../src/payouts/refunds/queries.ts';
import { REFUND } from '../../../src/payouts/refunds/refund.ts';
import { refundRoutes } from '../../../src/payouts/refunds/routes.ts';
import type { Resolution } from '../../../src/payouts/resolution.ts';
import { resolvePayout, type Resolved } from '../../../src/payouts/resolve.ts';
import type { RefundOutcome } from '../../../src/providers/provider.ts';
import { buildAttempt, buildFixture, buildMerchant, buildSession, PAID, type Fixture } from '../../support/build.ts';
import { createTestDatabase, returnFeesOnRefund, type TestDatabase } from '../../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type HttpResponse } from '../../support/http.ts';
import { expectLedgerHolds } from '../../support/ledger.ts';

export const CHECK = { minIntervalMs: 0, notifyWorkflow: true };
export const TAKEN: RefundOutcome = { kind: 'accepted', providerReference: null, providerCode: 'REFUNDING' };
export const UNKNOWN: RefundOutcome = { kind: 'unknown', reason: 'timeout', message: 'no answer in 2 s' };
export const NOT_THERE: RefundOutcome = { kind: 'not-found', providerCode: 'NO_SUCH' };
export const DECLINED: RefundOutcome = {
  kind: 'declined',
  failure: { code: 'DECLINED', message: 'The provider declined the refund.', providerCode: 'E1', retryable: false },
};
export const returned = (amountSantim: Santim, providerReference = 'BACK-1'): RefundOutcome => ({
  kind: 'succeeded',
  providerReference,
  amountSantim,
  currency: 'ETB',
  providerCode: 'REFUND_SUCCESS',
});

export const COMPLETED: Resolution = {
  outcome: 'COMPLETED',
  providerReference: 'LATE-1',
  reason: 'It is on the statement',
};
export const FAILED: Resolution = {
  outcome: 'FAILED',
  providerReference: 'CASE-1',
  reason: 'The payer has none of it',
};

/** Refunds over HTTP by a merchant with a payment of 200 birr, with a provider whose replies a test sets. */
export type RefundFixture = Fixture & {
  checkRefund: Check<RefundRow>;
  /** The merchant of the running test, which pays the default fees: 2.5 % and 15 % tax on it. */
  scope: MerchantScope;
  /** Its payment of 200 birr: fee 5, tax 0.75. */
  transactionId: string;
  /** Before each test. */
  newMerchant: () => Promise<void>;
  /** Another paid transaction of this merchant. */
  pay: (amountSantim: Santim) => Promise<string>;
  send: (method: string, path: string, body?: object) => Promise<HttpResponse>;
  /** Requests a refund of that payment; each has its own reference. */
  request: (body?: object, transactionId?: string) => Promise<HttpResponse>;
  /** The id of a refund that was requested. */
  requested: (body?: object) => Promise<string>;
  // A test's expectations describe the response; a type would repeat them.
  // oxlint-disable-next-line typescript/no-explicit-any
  read: (refundId: string) => Promise<any>;
  /** Checks the refund once for each of these replies, as after a verified callback. */
  report: (refundId: string, ...outcomes: RefundOutcome[]) => Promise<void>;
  resolve: (refundId: string, resolution: Resolution, operatorId?: string) => Promise<Resolved<RefundRow>>;
  secondPersonFrom: (santim: Santim | null) => Promise<void>;
  /** Available and reserved. */
  balance: () => Promise<[Santim, Santim]>;
  events: (refundId: string) => Promise<string[]>;
};

/**
 * A fixture for all tests of the calling file: a merchant for each test, and a ledger checked after each; by default on a
 * database of its own.
 */
export function useRefundFixture(openDatabase = createRefundDatabase): RefundFixture {
  const own = {} as RefundFixture;
  let close = async (): Promise<void> => {};
  beforeAll(async () => {
    close = await buildInto(own, await openDatabase());
  });
  beforeEach(() => own.newMerchant());
  afterEach(() => expectLedgerHolds(own.db));
  afterAll(() => close());
  return own;
}

/** Where refunds give the fee back. */
export async function createRefundDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await returnFeesOnRefund(database);
  return database;
}

async function buildInto(own: RefundFixture, database: TestDatabase): Promise<() => Promise<void>> {
  const { db } = database;
  const fixture = buildFixture(db, { clock: () => new Date('2026-03-02T09:00:00.000Z') });
  const checkRefund = createCheck(fixture, REFUND);
  const routes = [...refundRoutes(fixture), ...transactionRoutes(fixture)];
  const { clock, runInTransaction } = fixture;
  const server = await startTestServer(testServerDeps(db, { routes, clock, runInTransaction }), stubKey('mrc_none'));
  let references = 0;
  Object.assign(own, {
    ...fixture,
    checkRefund,
    newMerchant: async () => {
      own.scope = await buildMerchant(db);
      own.transactionId = await own.pay(200_00n);
      fixture.provider.returnsForRefunds(TAKEN);
      fixture.provider.refundQueries.length = 0;
    },
    pay: async (amountSantim) => {
      const { sessionId, transactionId } = await buildSession(fixture, own.scope, { amountSantim });
      const attemptId = await buildAttempt(fixture, { ...own.scope, sessionId });
      fixture.provider.returns({ ...PAID, amountSantim });
      await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
      return transactionId;
    },
    send: (method, path, body) =>
      server.send(method, path, { key: stubKey(own.scope.merchantId), ...(body !== undefined && { body }) }),
    request: (body = {}, transactionId = own.transactionId) => {
      references += 1;
      const path = `/api/checkout/txns/${transactionId}/refunds`;
      return own.send('POST', path, { reference: `R-${references}`, ...body });
    },
    requested: async (body) => {
      const { status, body: answer } = await own.request(body);
      expect([status, answer.error]).toEqual([202, undefined]);
      return answer.data.refundId;
    },
    read: async (refundId) => (await own.send('GET', `/api/checkout/refunds/${refundId}`)).body.data,
    report: async (refundId, ...outcomes) => {
      fixture.provider.returnsForRefunds(...outcomes);
      for (const _ of outcomes) await checkRefund(refundId, { ...CHECK, proof: true });
    },
    resolve: (refundId, resolution, operatorId = 'opr_1') =>
      fixture.runInTransaction((tx) =>
        resolvePayout(tx, REFUND, { id: refundId, ...resolution, operatorId, at: clock() }),
      ),
    secondPersonFrom: (santim) => db.transaction((trx) => setSecondPersonFrom(trx, own.scope.merchantId, santim)),
    balance: async () => {
      const { availableSantim, reservedSantim } = await readBalance(db, own.scope);
      return [availableSantim, reservedSantim];
    },
    events: async (id) => {
      const sql = 'SELECT event FROM webhook_event WHERE resource_id = :id ORDER BY event';
      return (await rows<{ event: string }>(db, sql, { id })).map(({ event }) => event);
    },
  } satisfies Partial<RefundFixture>);
  return async () => {
    await server.close();
    await database.drop();
  };
}
