import { planMoves } from '../../../src/demo/seed/payout-plan.ts';
import { addisDay, DAY_MS, inAddis } from '../../../src/lib/dates.ts';

const plan = (until: Date) => planMoves({ seed: 1, days: 90, payments: 3_000, until });

test.each(Array.from({ length: 7 }, (_, day) => new Date(Date.parse('2026-10-12T12:00:00.000Z') + day * DAY_MS)))(
  'a plan that ends at %s stays within its days, in order, and the bank answers on a Wednesday',
  (until) => {
    const moves = plan(until);
    const times = moves.map(({ createdAt }) => createdAt.getTime());
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times[0]).toBeGreaterThan(until.getTime() - 90 * DAY_MS);
    expect(times.at(-1)).toBeLessThan(until.getTime());
    const answers = moves.filter(({ move }) => move === 'bankResults');
    expect(answers.length).toBeGreaterThan(5);
    expect(new Set(answers.map(({ createdAt }) => inAddis(createdAt).getUTCDay()))).toEqual(new Set([3]));
    for (const { requestId, createdAt } of answers) {
      const asked = moves.find((one) => one.move === 'settle' && one.requestId === requestId);
      expect(asked && addisDay(asked.createdAt) < addisDay(createdAt)).toBe(true);
    }
  },
);
