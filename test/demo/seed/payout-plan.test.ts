import { payoutItems } from '../../../src/demo/seed/payouts.ts';
import { addisDay, DAY_MS, inAddis } from '../../../src/lib/dates.ts';

const plan = (until: Date) =>
  payoutItems({ days: 90, payments: 3_000, until }).toSorted(
    (a, b) => a.completedAt.getTime() - b.completedAt.getTime(),
  );

test.each(Array.from({ length: 7 }, (_, day) => new Date(Date.parse('2026-10-12T12:00:00.000Z') + day * DAY_MS)))(
  'the payouts planned until %s are within 90 days, with bank results on Wednesdays after their requests',
  (until) => {
    const payouts = plan(until);
    const times = payouts.map(({ completedAt }) => completedAt.getTime());
    expect(times[0]).toBeGreaterThan(until.getTime() - 90 * DAY_MS);
    expect(times.at(-1)).toBeLessThan(until.getTime());
    // Sales of more than a week pay for the first settlement.
    const first = payouts.find(({ key }) => key === 'BANK-001');
    expect(first?.completedAt.getTime()).toBeGreaterThan(until.getTime() - 82 * DAY_MS);
    const results = payouts.filter(({ key }) => key.endsWith(' result'));
    expect(results.length).toBeGreaterThan(5);
    expect(new Set(results.map(({ completedAt }) => inAddis(completedAt).getUTCDay()))).toEqual(new Set([3]));
    for (const { key, completedAt } of results) {
      const requested = payouts.find((one) => `${one.key} result` === key);
      expect(requested && addisDay(requested.completedAt) < addisDay(completedAt)).toBe(true);
    }
  },
);
