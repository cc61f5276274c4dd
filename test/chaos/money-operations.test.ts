import fc from 'fast-check';

import { ledgerChecks } from '../../src/app/ledger-invariants.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { expectBooks, newPlay, playAll, type Play } from '../invariants/money-scenarios.ts';
import { anyStory, type Story } from '../invariants/money-steps.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** MONEY_STORIES=2000 tells more of them; MONEY_SEED tells those of a failed run again. */
const STORIES = Number(process.env['MONEY_STORIES'] ?? 200);
const SEED = process.env['MONEY_SEED'];
/** The whole ledger is looked at this often: its questions are about all merchants at once. */
const STORIES_PER_VERIFY = 50;
/** Room for a busy machine, and for making a failed story short. */
const TIME_LIMIT_MS = 60_000 + STORIES * 600;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Whatever else must hold of the ledger does; what does not is shown with the stories that it is of. */
async function expectLedgerHolds(recent: readonly { play: Play; story: Story }[]): Promise<void> {
  const broken = await verifyLedger(database.db, ledgerChecks);
  const about = broken.map((one) => one.about).join('; ');
  const idsOf = ({ scope, books: { payments, outs, settlements } }: Play): string[] => [
    scope.merchantId,
    ...payments.flatMap(({ transactionId, attempts }) => [transactionId, ...attempts.map(({ id }) => id)]),
    ...[...outs, ...settlements].map(({ id }) => id),
  ];
  const concerned = recent.filter(({ play }) => idsOf(play).some((id) => about.includes(id)));
  const stories = concerned.map(({ story }) => JSON.stringify(story));
  expect({ broken, stories }).toEqual({ broken: [], stories: [] });
}

/** What became of things, for the last question: whether the stories were of anything. */
function endsOf({ books }: Play): string[] {
  const came = books.payments.flatMap(({ attempts }) => attempts.map((one) => `payment ${one.came?.as ?? 'unpaid'}`));
  const outs = books.outs.map(({ status }) => `withdrawal ${status}`);
  return [...came, ...outs, ...books.settlements.map(({ status }) => `settlement ${status}`)];
}

test(
  'whatever merchants, providers, banks and operators do in whatever order, all money is where the books say',
  async () => {
    const reached = new Set<string>();
    let recent: { play: Play; story: Story }[] = [];
    // What a failed story has left behind stays: those after it, which make it short, are judged by the books alone.
    let hasFailed = false;
    await fc.assert(
      fc.asyncProperty(anyStory, async (story) => {
        const hadFailed = hasFailed;
        hasFailed = true;
        const play = await newPlay(database);
        await playAll(play, story);
        await expectBooks(play);
        for (const end of endsOf(play)) reached.add(end);
        recent.push({ play, story });
        if (!hadFailed && recent.length === STORIES_PER_VERIFY) {
          await expectLedgerHolds(recent);
          recent = [];
        }
        hasFailed = hadFailed;
      }),
      {
        numRuns: STORIES,
        // Else the first words of each list are told more often than the others.
        unbiased: true,
        ...(SEED && { seed: Number(SEED) }),
        interruptAfterTimeLimit: TIME_LIMIT_MS,
        markInterruptAsFailure: true,
      },
    );
    await expectLedgerHolds(recent);
    const kinds = ['payment EXACT', 'payment HELD', 'payment SECOND', 'settlement COMPLETED', 'settlement FAILED'];
    const ends = ['withdrawal SUCCESS', 'withdrawal FAILED', 'withdrawal REVERSED'];
    expect([...reached]).toEqual(expect.arrayContaining([...kinds, ...ends]));
  },
  TIME_LIMIT_MS + 30_000,
);
