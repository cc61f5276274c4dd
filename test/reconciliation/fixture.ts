import { type Database, rows } from '../../src/lib/db.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import { parseBirr, type Santim } from '../../src/lib/money.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import type { Channel } from '../../src/merchants/channels/channel.ts';
import { createCheck, type Check } from '../../src/payouts/check.ts';
import type { RefundRow } from '../../src/payouts/refunds/queries.ts';
import { REFUND } from '../../src/payouts/refunds/refund.ts';
import { createWithdrawal } from '../../src/payouts/withdrawals/create.ts';
import type { WithdrawalRow } from '../../src/payouts/withdrawals/queries.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import type { FindProvider, StatementPage, Unknown } from '../../src/providers/provider.ts';
import { abandonRun, compareDay, type RunResult } from '../../src/reconciliation/compare.ts';
import type { Discrepancy } from '../../src/reconciliation/discrepancies.ts';
import { importNextPage, startImport, type Import } from '../../src/reconciliation/import.ts';
import { recheckOrders } from '../../src/reconciliation/recheck.ts';
import { requestRun } from '../../src/reconciliation/request.ts';
import { reconciliationId } from '../../src/reconciliation/workflow.ts';
import { buildAttempt, buildSession, buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestSimulator, type TestSimulator } from '../support/simulator.ts';
import { buildFreeMerchant } from '../support/withdrawals.ts';

export type SandboxChannel = 'TELEBIRR' | 'CBE_BIRR' | 'AWASH';
export const SANDBOX_CHANNELS: readonly SandboxChannel[] = ['TELEBIRR', 'CBE_BIRR', 'AWASH'];
/** Noon in Addis Ababa: a day that does not end while a test runs. */
export const NOON = new Date('2026-03-02T09:00:00.000Z');
export const TODAY = '2026-03-02';
export const MINUTE_MS = 60_000;

type Page = StatementPage | Unknown;
/** What becomes of a page on its way from the provider. */
type Alter = (page: Page, asked: { channel: Channel; day: string; cursor: string | null }) => Page;

/** Payments, payouts and their comparison over one simulator, no Temporal between them. */
export type ReconciliationFixture = Fixture & {
  database: TestDatabase;
  simulator: TestSimulator;
  scope: MerchantScope;
  steps: ReturnType<typeof createReconciliationSteps>;
  checkPayout: Check<WithdrawalRow>;
  checkRefund: Check<RefundRow>;
  /** Lets time pass for us and for the provider. */
  live: (ms: number) => Promise<void>;
  /** From now on what providers list arrives like this; as it is by default. */
  alterLists: (alter: Alter) => void;
  /** A payment sent to its provider, by a phone of the sandbox. */
  pay: (
    channel: SandboxChannel,
    phone?: string,
    amountSantim?: Santim,
  ) => Promise<{ attemptId: string; sessionId: string; transactionId: string }>;
  /** A withdrawal sent to its provider. */
  withdraw: (channel: SandboxChannel, phone?: string, amountSantim?: Santim) => Promise<string>;
  /** Reads, settles and compares a day, as its workflow does when nothing goes wrong. */
  compare: (channel: SandboxChannel, day?: string) => Promise<RunResult>;
  /** The open discrepancies, without their ids and times. */
  open: () => Promise<Partial<Discrepancy>[]>;
  close: () => Promise<void>;
};

/** A day and its one statement, of this channel or any. */
export const readDay = (db: Database, where: { channel?: Channel } = {}) =>
  db
    .knex()('reconciliation')
    .leftJoin('reconciliationStatement AS s', 's.reconciliationId', 'reconciliation.id')
    .where(where)
    .first('s.*', 'reconciliation.*', db.knex().raw('coalesce(reconciliation.error, s.error) AS error'));

/** The operations of the workflow, as its activities call them. */
export function createReconciliationSteps(
  deps: Fixture & { checkPayout: Check<WithdrawalRow>; checkRefund: Check<RefundRow> },
) {
  const { db, runInTransaction } = deps;
  return {
    startImport: (id: string, at: Date) => startImport(db, id, at),
    importNextPage: (run: Import) => importNextPage(deps, run),
    recheckOrders: (reconciliationId: string, after: string, at: Date) =>
      recheckOrders(deps, { reconciliationId, after, at }),
    compareDay: (reconciliationId: string, at: Date, onProgress = () => {}) =>
      compareDay(deps, { reconciliationId, at, onProgress }),
    abandonRun: (run: Import, error: string | null) => runInTransaction((tx) => abandonRun(tx, run, error)),
  };
}

export async function createReconciliationFixture(): Promise<ReconciliationFixture> {
  const startedMs = Date.now();
  const database = await createTestDatabase();
  const clock = () => new Date(NOON.getTime() + Date.now() - startedMs);
  const simulator = await startTestSimulator({ clock });
  const http = createHttpClient();
  let alter: Alter = (page) => page;
  const find = createFindProvider({ http, clock, simulatorUrl: simulator.url, timeoutMs: 10_000 });
  const findProvider: FindProvider = (channel, environment) => {
    const provider = find(channel, environment);
    const statement = async (day: string, cursor: string | null): Promise<Page> =>
      alter((await provider?.statement(day, cursor)) ?? NOBODY, { channel, day, cursor });
    return provider && { ...provider, statement };
  };
  const fixture = buildFixture(database.db, { clock, findProvider, baseUrl: 'http://127.0.0.1:9' });
  const checkPayout = createCheck(fixture, WITHDRAWAL);
  const checkRefund = createCheck(fixture, REFUND);
  const steps = createReconciliationSteps({ ...fixture, checkPayout, checkRefund });
  const scope = await buildFreeMerchant(fixture);
  let requests = 0;
  return {
    ...fixture,
    database,
    simulator,
    scope,
    steps,
    checkPayout,
    checkRefund,
    live: async (ms) => {
      fixture.pass(ms);
      await simulator.advance(ms);
    },
    alterLists: (next) => void (alter = next),
    pay: async (channel, phone = '0911000007', amountSantim = 100_50n) => {
      const session = await buildSession(fixture, scope, { amountSantim });
      const attemptId = await buildAttempt(fixture, { ...scope, sessionId: session.sessionId }, { channel, phone });
      await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
      return { ...session, attemptId };
    },
    withdraw: async (channel, phone = '0911000007', amountSantim = 20_00n) => {
      requests += 1;
      const destination = { kind: 'phone', phone: phone.replace(/^0/, '251'), accountName: 'Abebe Bikila' } as const;
      const wanted = { requestId: `OUT-${requests}`, amountSantim, channel, destination, requestedBy: 'key_test' };
      const { row } = await fixture.runInTransaction((tx) => createWithdrawal({ ...fixture, tx }, scope, wanted));
      await rows(database.db, "UPDATE payout SET stage = 'CREATED' WHERE id = :id", { id: row.id });
      await checkPayout(row.id, { minIntervalMs: 0, notifyWorkflow: false });
      return row.id;
    },
    compare: async (channel, day = TODAY) => {
      const id = reconciliationId({ environment: 'sandbox', channel, day });
      await fixture.runInTransaction((tx) => requestRun(tx, fixture, { day, channel }));
      const reading = await steps.startImport(id, fixture.clock());
      for (;;) {
        const page = await steps.importNextPage(reading);
        if (page.kind === 'unknown') throw new Error(`the statement is not available: ${page.reason}`);
        if (page.kind === 'end') break;
      }
      for (let after: string | null = ''; after !== null;) {
        after = (await steps.recheckOrders(id, after, fixture.clock())).after;
      }
      return steps.compareDay(id, fixture.clock());
    },
    open: async () =>
      rows(
        database.db,
        `SELECT channel, CAST(day AS text) AS day, kind, type, order_id, order_status, booked_santim, listed_santim
         FROM reconciliation_discrepancy WHERE closed_at IS NULL ORDER BY order_id, type`,
      ),
    close: async () => {
      await Promise.all([simulator.close(), http.close()]);
      await database.drop();
    },
  };
}

const NOBODY: Unknown = { kind: 'unknown', reason: 'network', message: 'nobody' };

/** What each provider owes, by the ledger and by the simulator itself, which knows nothing of its transfers to the bank. */
export async function expectClearingAgrees(
  { db, simulator }: { db: Database; simulator: Pick<TestSimulator, 'totalsOf'> },
  transferred: Partial<Record<SandboxChannel, Santim>> = {},
): Promise<void> {
  const found = await rows<{ channel: SandboxChannel; owes: Santim }>(
    db,
    `SELECT a.channel, CAST(-sum(e.amount_santim) AS bigint) AS owes FROM ledger_entry e
     JOIN ledger_account a ON a.id = e.account_id WHERE a.kind = 'CHANNEL_CLEARING' GROUP BY a.channel`,
  );
  for (const channel of SANDBOX_CHANNELS) {
    const { unpaid } = await simulator.totalsOf(channel);
    const sign = unpaid.startsWith('-') ? -1n : 1n;
    const booked = found.find((one) => one.channel === channel)?.owes ?? 0n;
    const owes = sign * (parseBirr(unpaid.replace('-', '')) ?? 0n) - (transferred[channel] ?? 0n);
    expect({ channel, owes: booked }).toEqual({ channel, owes });
  }
}
