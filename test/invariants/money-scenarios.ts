import { HOUR_MS } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { AppError } from '../../src/lib/errors.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { setReviewPolicy } from '../../src/merchants/review-policy.ts';
import { createCheck, type Check } from '../../src/payouts/check.ts';
import type { RefundRow } from '../../src/payouts/refunds/queries.ts';
import { REFUND } from '../../src/payouts/refunds/refund.ts';
import type { WithdrawalRow } from '../../src/payouts/withdrawals/queries.ts';
import { WITHDRAWAL } from '../../src/payouts/withdrawals/withdrawal.ts';
import type { PayoutOutcome, ProviderOutcome, RefundOutcome } from '../../src/providers/provider.ts';
import { buildMerchant, buildFixture, type Fixture } from '../support/build.ts';
import type { TestDatabase } from '../support/database.ts';
import { linkAccount } from '../support/settlements.ts';
import { expectedOf, type Books } from './money-model.ts';
import { planPayment } from './money-payments.ts';
import { planRefund } from './money-refunds.ts';
import { planSettlement } from './money-settlements.ts';
import type { Action, Step, Story } from './money-steps.ts';
import { planWithdrawal } from './money-withdrawals.ts';

const MONDAY = new Date('2027-01-18T06:00:00.000Z');

/** A merchant with its provider, its operators, and the model beside the ledger. */
export type Scenario = {
  fixture: Fixture;
  checkPayout: Check<WithdrawalRow>;
  checkRefund: Check<RefundRow>;
  scope: MerchantScope;
  isSuspended: boolean;
  books: Books;
  /** The provider's outcomes since the step began. */
  outcomes: { orderId: string; outcome: ProviderOutcome | PayoutOutcome | RefundOutcome }[];
  /** Violations observed during the provider's requests. */
  violations: string[];
};

/** A call of a real operation, and its effect on the model. */
export type PlannedCall = {
  /** Returns whether it changed state or queried the provider. */
  call: () => Promise<boolean>;
  /** Whether it must do so; null if the model cannot predict it. */
  mustChange: boolean | null;
  /** Applies the same change to the model. */
  record: () => void;
  /** Whether a repetition may have another effect. */
  mayRepeat?: boolean;
};

export async function startScenario({ db }: TestDatabase): Promise<Scenario> {
  const fixture = buildFixture(db, { start: MONDAY });
  const scope = await buildMerchant(db);
  const { merchantId } = scope;
  await linkAccount(fixture, scope);
  // The clock moves back at times, but not before the account was linked.
  fixture.pass(HOUR_MS);
  await db.transaction((trx) =>
    setReviewPolicy(trx, { merchantId, largeAmountSantim: 200_00n, twoPersonSantim: 500_00n, perHourMax: 20 }),
  );
  const books = { payments: [], payouts: [], settlements: [], refunds: [] };
  return {
    fixture,
    checkPayout: createCheck(fixture, WITHDRAWAL),
    checkRefund: createCheck(fixture, REFUND),
    scope,
    isSuspended: false,
    books,
    outcomes: [],
    violations: [],
  };
}

/** Runs all steps; after each the balance equals the model's, and calls without a change leave no trace. */
export async function runScenario(scenario: Scenario, { begin, steps }: Story): Promise<void> {
  for (const action of begin) await runFirst(scenario, action);
  let before = await traceOf(scenario);
  for (const step of steps) {
    scenario.outcomes = [];
    const planned = plan(scenario, step);
    if (!planned) continue;
    const changed = await perform(planned);
    if (planned.mustChange !== null) expect({ step, changed }).toEqual({ step, changed: planned.mustChange });
    if (changed) planned.record();
    const after = await traceOf(scenario);
    if (!changed) expect({ step, trace: after }).toEqual({ step, trace: before });
    expectBalance(after, scenario, step);
    if (step.twice && !planned.mayRepeat) {
      if (await perform(planned)) planned.record();
      expect({ again: step, trace: await traceOf(scenario) }).toEqual({ again: step, trace: after });
    }
    expect(scenario.violations).toEqual([]);
    before = after;
  }
}

async function runFirst(scenario: Scenario, action: Action): Promise<void> {
  const planned = plan(scenario, { ...action, twice: false });
  if (!planned || !(await planned.call())) throw new Error(`no effect of ${JSON.stringify(action)}`);
  planned.record();
  scenario.outcomes.length = 0;
}

function plan(scenario: Scenario, step: Step): PlannedCall | null {
  const plans = [planPayment, planWithdrawal, planSettlement, planRefund];
  return plans.map((planOf) => planOf(scenario, step)).find((planned) => planned !== null) ?? null;
}

/** False if the call is rejected with an `AppError` or has no effect. Other errors are bugs. */
async function perform(planned: PlannedCall): Promise<boolean> {
  try {
    return await planned.call();
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

type Balances = Pick<ReturnType<typeof expectedOf>, 'available' | 'reserved' | 'fees' | 'settled'>;
type Trace = { rows: string; enqueued: number } & { [key in keyof Balances]: bigint | null };

function expectBalance(trace: Trace, { books }: Scenario, step: Step): void {
  const { rows: _, enqueued: __, ...found } = trace;
  const { available, reserved, fees, settled } = expectedOf(books);
  // A merchant without any movement has no balance.
  if (found.available === null && available === 0n) return;
  expect({ step, ...found }).toEqual({ step, available, reserved, fees, settled });
}

/** A hash of all rows of the merchant, without the times of provider queries: equal if nothing has changed. */
async function traceOf({ fixture, scope }: Scenario): Promise<Trace> {
  const [trace] = await rows<Omit<Trace, 'enqueued'>>(
    fixture.db,
    `WITH payouts AS (SELECT * FROM payout WHERE merchant_id = :merchantId),
          paid AS (SELECT * FROM transaction WHERE merchant_id = :merchantId),
          tries AS (SELECT a.* FROM payment_attempt a WHERE a.transaction_id IN (SELECT id FROM paid)),
          settled AS (SELECT * FROM settlement WHERE merchant_id = :merchantId),
          taken AS (SELECT * FROM bank_receipt WHERE payout_id IN (SELECT id FROM payouts)),
          ids AS (SELECT id FROM payouts UNION ALL SELECT id FROM paid UNION ALL SELECT id FROM settled UNION ALL SELECT id FROM taken)
     SELECT md5(string_agg(line, ' ' ORDER BY line)) AS rows, max(available_santim) AS available,
            max(reserved_santim) AS reserved, max(fees_santim) AS fees, max(settled_santim) AS settled
     FROM (
       SELECT (to_jsonb(o) - 'lease_until' - 'last_checked_at')::text AS line FROM payouts o
       UNION ALL SELECT to_jsonb(p)::text FROM paid p
       UNION ALL SELECT (to_jsonb(a) - 'lease_until' - 'last_checked_at')::text FROM tries a
       UNION ALL SELECT to_jsonb(s)::text FROM settled s
       UNION ALL SELECT to_jsonb(t)::text FROM taken t
       UNION ALL SELECT to_jsonb(s)::text FROM checkout_session s WHERE s.transaction_id IN (SELECT id FROM paid)
       UNION ALL SELECT to_jsonb(l)::text FROM timeline l WHERE l.resource_id IN (SELECT id FROM ids)
       UNION ALL SELECT to_jsonb(l)::text FROM payout_approval l WHERE l.payout_id IN (SELECT id FROM payouts)
       UNION ALL SELECT to_jsonb(c)::text FROM payout_case c WHERE c.payout_id IN (SELECT id FROM payouts)
       UNION ALL SELECT to_jsonb(l)::text FROM payout_resolution l WHERE l.payout_id IN (SELECT id FROM payouts)
       UNION ALL SELECT e.id FROM webhook_event e WHERE e.merchant_id = :merchantId AND e.environment = 'sandbox'
       UNION ALL SELECT j.posting_key || j.kind FROM ledger_journal j WHERE j.resource_id IN (SELECT id FROM ids)
       UNION ALL SELECT to_jsonb(b)::text FROM ledger_balance b WHERE b.merchant_id = :merchantId
       UNION ALL SELECT m.status FROM merchant m WHERE m.id = :merchantId) each
     LEFT JOIN ledger_balance ON merchant_id = :merchantId`,
    { ...scope },
  );
  if (!trace) throw new Error('the merchant is gone');
  return { ...trace, enqueued: fixture.enqueued.length };
}

/**
 * Asserts at the end that each row has the model's status, and each account the model's balance, with entries in order
 * of time.
 */
export async function expectBooks(scenario: Scenario): Promise<void> {
  const { fixture, scope, books } = scenario;
  await expectOrderOfTime(scenario);
  const found = await rows<{ id: string; status: string }>(
    fixture.db,
    `SELECT id, status FROM payout WHERE merchant_id = :merchantId
     UNION ALL SELECT id, status FROM settlement WHERE merchant_id = :merchantId`,
    { ...scope },
  );
  const enqueued = [...books.payouts, ...books.settlements, ...books.refunds].map(({ id, status }) => ({ id, status }));
  const byId = (one: { id: string }, other: { id: string }): number => (one.id < other.id ? -1 : 1);
  expect(found.toSorted(byId)).toEqual(enqueued.toSorted(byId));
  const accounts = await rows<{ kind: string; santim: bigint }>(
    fixture.db,
    `SELECT a.kind, CAST(sum(e.amount_santim) AS bigint) AS santim
     FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
     WHERE j.merchant_id = :merchantId OR j.resource_id IN (
       SELECT m.id FROM bank_receipt m JOIN payout p ON p.id = m.payout_id WHERE p.merchant_id = :merchantId)
     GROUP BY a.kind`,
    { ...scope },
  );
  const of = (kind: string): bigint => accounts.find((account) => account.kind === kind)?.santim ?? 0n;
  const expected = expectedOf(books);
  expect({
    available: of('AVAILABLE'),
    reserved: of('RESERVED'),
    fees: of('FEE_REVENUE') + of('TAX_PAYABLE'),
    settled: of('BANK'),
    suspense: of('SUSPENSE'),
    providerOwes: -of('CHANNEL_CLEARING'),
  }).toEqual(expected);
}

/** Each entry has the time of its posting, or the latest time before it if the clock was behind. */
async function expectOrderOfTime({ fixture, scope }: Scenario): Promise<void> {
  const outOfOrder = await rows(
    fixture.db,
    `SELECT * FROM (
       SELECT j.posting_key, e.effective_at, max(j.effective_at) OVER (ORDER BY e.sequence) AS expected
       FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id
       WHERE j.merchant_id = :merchantId AND e.sequence IS NOT NULL) each
     WHERE effective_at <> expected`,
    { merchantId: scope.merchantId },
  );
  expect(outOfOrder).toEqual([]);
}
