import fc from 'fast-check';

import { ledgerChecks } from '../../src/app/ledger-invariants.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { expectBooks, startScenario, runScenario, type Scenario } from '../invariants/money-scenarios.ts';
import { anyStory, type Story } from '../invariants/money-steps.ts';
import { createTestDatabase, returnFeesOnRefund, type TestDatabase } from '../support/database.ts';

/** MONEY_STORIES=2000 runs more stories; MONEY_SEED repeats those of a failed run. */
const STORIES = Number(process.env['MONEY_STORIES'] ?? 200);
const SEED = process.env['MONEY_SEED'];
/** The ledger is verified after this many stories, since its invariants cover all merchants at once. */
const STORIES_PER_VERIFY = 50;
/** Time for a busy machine, and for shrinking a failed story. */
const TIME_LIMIT_MS = 60_000 + STORIES * 600;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await returnFeesOnRefund(database);
});
afterAll(() => database.drop());

/** Asserts all ledger invariants; a violation is shown with the stories of its merchants. */
async function expectLedgerHolds(recent: readonly { scenario: Scenario; story: Story }[]): Promise<void> {
  const broken = await verifyLedger(database.db, ledgerChecks);
  const about = broken.map((one) => one.about).join('; ');
  const idsOf = ({ scope, books: { payments, payouts, settlements, refunds } }: Scenario): string[] => [
    scope.merchantId,
    ...payments.flatMap(({ transactionId, attempts }) => [transactionId, ...attempts.map(({ id }) => id)]),
    ...[...payouts, ...settlements, ...refunds].map(({ id }) => id),
  ];
  const concerned = recent.filter(({ scenario }) => idsOf(scenario).some((id) => about.includes(id)));
  const stories = concerned.map(({ story }) => JSON.stringify(story));
  expect({ broken, stories }).toEqual({ broken: [], stories: [] });
}

/** The final statuses, to assert that the stories reached all of them. */
function endsOf({ books }: Scenario): string[] {
  const received = books.payments.flatMap(({ attempts }) =>
    attempts.map((one) => `payment ${one.received?.as ?? 'unpaid'}`),
  );
  const payouts = books.payouts.map(({ status }) => `withdrawal ${status}`);
  const refunds = books.refunds.map(({ status }) => `refund ${status}`);
  return [...received, ...payouts, ...refunds, ...books.settlements.map(({ status }) => `settlement ${status}`)];
}

test(
  'after random actions of merchants, providers, banks and operators, all balances and statuses equal the model',
  async () => {
    const reached = new Set<string>();
    let recent: { scenario: Scenario; story: Story }[] = [];
    // Rows of a failed story remain: the stories that shrink it are judged by the model only.
    let hasFailed = false;
    await fc.assert(
      fc.asyncProperty(anyStory, async (story) => {
        const hadFailed = hasFailed;
        hasFailed = true;
        const scenario = await startScenario(database);
        await runScenario(scenario, story);
        await expectBooks(scenario);
        for (const end of endsOf(scenario)) reached.add(end);
        recent.push({ scenario, story });
        if (!hadFailed && recent.length === STORIES_PER_VERIFY) {
          await expectLedgerHolds(recent);
          recent = [];
        }
        hasFailed = hadFailed;
      }),
      {
        numRuns: STORIES,
        // The bias of fast-check would prefer the first values of each list.
        unbiased: true,
        ...(SEED && { seed: Number(SEED) }),
        interruptAfterTimeLimit: TIME_LIMIT_MS,
        markInterruptAsFailure: true,
      },
    );
    await expectLedgerHolds(recent);
    const kinds = ['payment EXACT', 'payment HELD', 'payment SECOND', 'settlement COMPLETED', 'settlement FAILED'];
    const ends = ['withdrawal SUCCESS', 'withdrawal FAILED', 'withdrawal REVERSED', 'refund SUCCESS', 'refund FAILED'];
    expect([...reached]).toEqual(expect.arrayContaining([...kinds, ...ends]));
  },
  TIME_LIMIT_MS + 30_000,
);
