import fc from 'fast-check';
import { z } from 'zod';

import { toPage, pageOffset, pageQuery, readDayRange, readPage, statusParam } from '../../src/lib/pagination.ts';

const Query = z.strictObject(pageQuery);
const NOW = new Date('2025-06-15T22:30:00.000Z');

test('a list begins with page 1 of 20', () => {
  expect(readPage(Query.parse({}))).toEqual({ page: 1, limit: 20, after: null });
  expect(pageOffset(readPage(Query.parse({ page: '3', pageSize: '50' })))).toBe(100);
});

test.each([
  { page: '0' },
  { page: '-1' },
  { page: '1.5' },
  { page: ' 1' },
  { page: '' },
  { limit: '101' },
  { limit: '0x10' },
])('the list parameter %j is rejected and quoted', (query) => {
  const issue = Query.safeParse(query).error?.issues[0];
  expect(issue?.message).toContain(`got ${JSON.stringify(Object.values(query)[0])}`);
});

test('a cursor brings back the exact position it was made of', () => {
  const id = fc.stringMatching(/^[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}$/);
  const micros = fc.integer({ min: 0, max: 999_999 }).map((value) => String(value).padStart(6, '0'));
  const day = fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(id, micros, day, (lastId, fraction, date) => {
      const position = `${date.toISOString().slice(0, 19).replace('T', ' ')}.${fraction}+00`;
      const read = [
        { id: lastId, position },
        { id: 'one too many', position },
      ];
      const { rows, pagination } = toPage({ page: 4, limit: 1, after: null }, 9, read);
      expect(rows).toHaveLength(1);
      expect(readPage(Query.parse({ cursor: pagination.nextCursor, limit: '1' }))).toEqual({
        page: 5,
        limit: 1,
        after: { at: position, id: lastId },
      });
    }),
  );
});

test('no text at all makes a cursor that is not one', () => {
  const odd = ['1 2025-02-30 00:00:00+00', '1 2025-01-01 25:00:00+00', "1 ' OR 1=1 --"].map((text) =>
    Buffer.from(`${text} evt_01JD0000000000000000000000`).toString('base64url'),
  );
  for (const cursor of odd) expect(Query.safeParse({ cursor }).success).toBe(false);
  fc.assert(fc.property(fc.string(), (cursor) => !Query.safeParse({ cursor }).success));
});

test('the last page has no next cursor, also when it is full', () => {
  const read = [{ id: 'evt_1', position: '2025-01-01 00:00:00+00' }];
  const { pagination } = toPage({ page: 2, limit: 1, after: null }, 2, read);
  expect(pagination).toEqual({ total: 2, page: 2, limit: 1, totalPages: 2, nextCursor: null });
});

test('page and cursor together, or two different limits, are rejected', () => {
  const cursor = { page: 2, after: { at: '2025-01-01 00:00:00+00', id: 'evt_1' } };
  expect(() => readPage({ page: 1, cursor })).toThrow('not both');
  expect(() => readPage({ limit: 5, pageSize: 6 })).toThrow('pageSize');
  expect(readPage({ limit: 5, pageSize: 5 }).limit).toBe(5);
});

test('a status is one value, a comma list without repeats, or ALL', () => {
  const status = statusParam(['SUCCESS', 'FAILED']);
  expect(status.parse('FAILED')).toEqual(['FAILED']);
  expect(status.parse('FAILED,SUCCESS,FAILED')).toEqual(['FAILED', 'SUCCESS']);
  expect(status.parse('ALL')).toBeNull();
  for (const text of ['', 'failed', 'FAILED,', 'FAILED,ALL', 'BROKEN']) {
    expect(status.safeParse(text).error?.issues[0]?.message).toContain('one of SUCCESS, FAILED');
  }
});

test('today and the default range follow the calendar of Addis Ababa', () => {
  // 22:30 UTC on the 15th is half past one on the 16th there.
  expect(readDayRange({}, NOW)).toEqual({
    startDate: '2025-05-18',
    endDate: '2025-06-16',
    from: new Date('2025-05-17T21:00:00.000Z'),
    until: new Date('2025-06-16T21:00:00.000Z'),
  });
});

test('93 days apart are allowed, 94 and the wrong order are not', () => {
  expect(readDayRange({ startDate: '2025-01-01', endDate: '2025-04-04' }, NOW).startDate).toBe('2025-01-01');
  expect(() => readDayRange({ startDate: '2025-01-01', endDate: '2025-04-05' }, NOW)).toThrow(
    expect.objectContaining({ code: 'DATE_RANGE_TOO_WIDE' }),
  );
  expect(() => readDayRange({ startDate: '2025-01-02', endDate: '2025-01-01' }, NOW)).toThrow(
    expect.objectContaining({ code: 'INVALID_DATE_RANGE' }),
  );
});
