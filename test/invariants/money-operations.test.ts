import fc from 'fast-check';

import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { expectBooks, newPlay, playAll, type Play } from './money-play.ts';
import { anyStory } from './money-steps.ts';

/** MONEY_STORIES=2000 tells more of them; MONEY_SEED tells those of a failed run again. */
const STORIES = Number(process.env['MONEY_STORIES'] ?? 200);
const SEED = process.env['MONEY_SEED'];
/** The whole ledger is looked at this often: its questions are about all merchants at once. */
const STORIES_PER_VERIFY = 25;
/** Room for a busy machine, and for making a failed story short. */
const TIME_LIMIT_MS = 60_000 + STORIES * 600;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

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
    let told = 0;
    await fc.assert(
      fc.asyncProperty(anyStory, async (story) => {
        const play = await newPlay(database);
        await playAll(play, story);
        await expectBooks(play);
        told += 1;
        if (told % STORIES_PER_VERIFY === 0) await expectLedgerHolds(database.db);
        for (const end of endsOf(play)) reached.add(end);
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
    await expectLedgerHolds(database.db);
    const kinds = ['payment EXACT', 'payment HELD', 'settlement COMPLETED', 'settlement FAILED'];
    const ends = ['withdrawal SUCCESS', 'withdrawal FAILED', 'withdrawal REVERSED'];
    expect([...reached]).toEqual(expect.arrayContaining([...kinds, ...ends]));
  },
  TIME_LIMIT_MS + 30_000,
);
