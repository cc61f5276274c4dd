import type { HttpResponse } from '../support/http.ts';
import { validBody, validQuery } from './samples.ts';
import { startWalk, type Walk } from './walk.ts';

const FAR_DAYS = ['0000-01-01', '0001-01-01', '0001-01-02', '1899-12-31', '2200-01-01', '9999-12-31'];
const DAY_FIELDS = ['startDate', 'endDate', 'date', 'day', 'creditedOn'];

let walk: Walk;

beforeAll(async () => {
  walk = await startWalk('FAR');
}, 180_000);
afterAll(() => walk.service.close(), 180_000);

const cursorOf = (at: string): string => Buffer.from(`2 ${at} evt_01JD0000000000000000000000`).toString('base64url');

test('a date in a far year gets a 400 that names the allowed years, in every date parameter and field', async () => {
  const found: string[] = [];
  let requests = 0;
  const check = (what: string, { status, body }: HttpResponse): void => {
    requests += 1;
    const isClear = /must be (?:a date )?from \d{4}-01-01 to \d{4}-12-31/.test(body?.message ?? '');
    if (status !== 400 || !isClear) found.push(`${what}: ${status} ${body?.message}`);
  };
  for (const operation of walk.operations) {
    for (const day of FAR_DAYS) {
      for (const name of operation.queryNames.filter((one) => DAY_FIELDS.includes(one))) {
        const query = validQuery(operation, { [name]: day });
        check(
          `${operation.operationId} ?${name}=${day}`,
          await walk.send(operation, { query, body: validBody(operation) }),
        );
      }
      for (const name of operation.bodyNames.filter((one) => DAY_FIELDS.includes(one))) {
        const body = { ...validBody(operation), [name]: day };
        check(`${operation.operationId} ${name} ${day}`, await walk.send(operation, { body }));
      }
    }
  }
  expect(found).toEqual([]);
  expect(requests).toBeGreaterThan(100);
}, 180_000);

test('a cursor to a far year gets a 400 from every list', async () => {
  const lists = walk.operations.filter(({ queryNames }) => queryNames.includes('cursor'));
  const found: string[] = [];
  for (const operation of lists) {
    for (const at of [...FAR_DAYS.map((day) => `${day} 00:00:00+00`), `${'9'.repeat(18)}`]) {
      const { status, body } = await walk.send(operation, { query: validQuery(operation, { cursor: cursorOf(at) }) });
      const isSequence = status === 200 && !at.includes('-');
      if (!isSequence && (status !== 400 || !body.message.includes('cursor must be the nextCursor'))) {
        found.push(`${operation.operationId} ${at}: ${status} ${body.message}`);
      }
    }
  }
  expect(found).toEqual([]);
  expect(lists.length).toBeGreaterThan(10);
}, 180_000);

test('hundreds of query parameters get a 400 from every route, so that none is hidden behind others', async () => {
  const found: string[] = [];
  for (const operation of walk.operations) {
    for (const many of ['&'.repeat(1_000), 'limit=1&'.repeat(200)]) {
      const query = `${validQuery(operation) || '?'}&${many}merchantId=mrc_none`;
      const { status, body } = await walk.send(operation, { query, body: validBody(operation) });
      if (status !== 400) found.push(`${operation.operationId}: ${status} ${body?.message}`);
    }
  }
  expect(found).toEqual([]);
}, 180_000);
