import { rangeOf } from '../../src/reports/period.ts';
import { upTo } from '../../src/reports/sources/source.ts';

const FILTER = {
  merchantId: 'mrc_1',
  environment: 'sandbox',
  range: rangeOf({ startDate: '2026-03-02', endDate: '2026-03-03' }),
  statuses: null,
  channel: null,
} as const;

const endAfter = (at: string): string => upTo(FILTER, { at, id: 'txn_1' }).range.until.toISOString();

test('the range of a page ends just after the position where the one before has ended', () => {
  expect(endAfter('2026-03-02 09:00:00.123456+00')).toBe('2026-03-02T09:00:01.000Z');
  expect(endAfter('2026-03-02 09:00:00+00')).toBe('2026-03-02T09:00:01.000Z');
});

test('it never ends after the range itself, and the first page has all of it', () => {
  expect(endAfter('2026-03-03 20:59:59.999999+00')).toBe('2026-03-03T21:00:00.000Z');
  expect(endAfter('2026-03-03 21:00:00+00')).toBe('2026-03-03T21:00:00.000Z');
  expect(upTo(FILTER, null)).toBe(FILTER);
});
