import { planPayouts } from '../../../src/demo/seed/payout-plan.ts';
import { addisDay, DAY_MS, inAddis } from '../../../src/lib/dates.ts';

const plan = (until: Date) => planPayouts({ seed: 1, days: 90, payments: 3_000, until });

test.each(Array.from({ length: 7 }, (_, day) => new Date(Date.parse('2026-10-12T12:00:00.000Z') + day * DAY_MS)))(
  'the payouts planned until %s are in order, within 90 days, with bank results on Wednesdays',
  (until) => {
    const payouts = plan(until);
    const times = payouts.map(({ createdAt }) => createdAt.getTime());
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times[0]).toBeGreaterThan(until.getTime() - 90 * DAY_MS);
    expect(times.at(-1)).toBeLessThan(until.getTime());
    const results = payouts.filter(({ kind }) => kind === 'bankResult');
    expect(results.length).toBeGreaterThan(5);
    expect(new Set(results.map(({ createdAt }) => inAddis(createdAt).getUTCDay()))).toEqual(new Set([3]));
    for (const { requestId, createdAt } of results) {
      const requested = payouts.find((one) => one.kind === 'settlement' && one.requestId === requestId);
      expect(requested && addisDay(requested.createdAt) < addisDay(createdAt)).toBe(true);
    }
  },
);
