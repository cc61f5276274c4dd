import { ABYSSINIA } from '../../../src/demo/seed/demo.ts';
import { planPayments } from '../../../src/demo/seed/plan.ts';
import { addisDay } from '../../../src/lib/dates.ts';

describe('the plan of the demo data', () => {
  const plan = (until: string) => planPayments({ ...ABYSSINIA.plan, until: new Date(until) });
  const friday = plan('2026-10-16T12:00:00.000Z');
  const on = (day: string) => friday.filter((one) => addisDay(one.createdAt) === day).length;
  const share = (count: number) => (100 * count) / friday.length;

  test('is the same for the same seed and has the same size whenever it ends', () => {
    expect(plan('2026-10-16T12:00:00.000Z')).toEqual(friday);
    expect(plan('2027-02-02T01:00:00.000Z')).toHaveLength(friday.length);
  });

  test('covers 90 days until its end, and has every order number once', () => {
    expect(addisDay(friday[0]?.createdAt ?? new Date(0))).toBe('2026-07-18');
    expect(addisDay(friday.at(-1)?.createdAt ?? new Date(0))).toBe('2026-10-16');
    expect(new Set(friday.map((one) => one.session.checkoutOrderNo)).size).toBe(3_000);
  });

  test('is quiet on holidays and Sundays, and busy at lunch', () => {
    expect(on('2026-09-11')).toBeLessThan(on('2026-09-18') / 3);
    expect(on('2026-10-11')).toBeLessThan(on('2026-10-12') / 1.5);
    const over = friday.filter((one) => one.scenario !== 'stillOpen');
    const atHour = (hour: number) => over.filter((one) => (one.createdAt.getUTCHours() + 3) % 24 === hour).length;
    expect(atHour(12)).toBeGreaterThan(2 * atHour(16));
    expect(atHour(3)).toBe(0);
  });

  test('has the shares of channels, session types and customer names of real shops', () => {
    const channels = friday.map((one) => one.channel);
    expect(Math.abs(share(channels.filter((one) => one === 'TELEBIRR').length) - 60)).toBeLessThan(3);
    expect(Math.abs(share(channels.filter((one) => one === 'CBE_BIRR').length) - 30)).toBeLessThan(3);
    const sessions = friday.map((one) => one.session);
    expect(Math.abs(share(sessions.filter((one) => one.type === 'QRCODE').length) - 20)).toBeLessThan(3);
    const names = sessions.map((one) => one.customerName);
    expect(share(names.filter((name) => name === undefined).length)).toBeGreaterThan(5);
    expect(share(names.filter((name) => name && /\p{Script=Ethiopic}/u.test(name)).length)).toBeGreaterThan(20);
    expect(share(names.filter((name) => name && /^[A-Z]/.test(name)).length)).toBeGreaterThan(20);
  });
});
