import type { HttpResponse } from '../support/http.ts';
import { createMerchantWithEverything, type Merchant } from './belongings.ts';
import { readOperations, type Operation } from './contract.ts';
import { pathWith, validBody, validQuery } from './samples.ts';
import { startWalls, type Walls } from './world.ts';

const FAR_DAYS = ['0000-01-01', '0001-01-01', '0001-01-02', '1899-12-31', '2200-01-01', '9999-12-31'];
const DAY_FIELDS = ['startDate', 'endDate', 'date', 'day', 'creditedOn'];

let walls: Walls;
let merchant: Merchant;
let operatorKey: string;
let operations: Operation[];

beforeAll(async () => {
  walls = await startWalls();
  merchant = await createMerchantWithEverything(walls, 'FAR');
  operatorKey = await walls.newOperatorKey();
  operations = await readOperations(walls);
}, 60_000);
afterAll(() => walls.close(), 60_000);

function send(operation: Operation, query: string, body?: unknown): Promise<HttpResponse> {
  const ids = Object.fromEntries(Object.entries(merchant.ids).map(([name, [id = '']]) => [name, id]));
  const key = operation.by === 'operator' ? operatorKey : merchant.key;
  return walls.send(operation.method, pathWith(operation, ids) + query, { key, ...(body !== undefined && { body }) });
}

const cursorOf = (at: string): string => Buffer.from(`2 ${at} evt_01JD0000000000000000000000`).toString('base64url');

test('a day of a far year is a 400 with a clear sentence, in every parameter and field for days', async () => {
  const found: string[] = [];
  let asked = 0;
  const note = (what: string, { status, body }: HttpResponse): void => {
    asked += 1;
    const isClear = /must be (?:a date )?from \d{4}-01-01 to \d{4}-12-31/.test(body?.message ?? '');
    if (status !== 400 || !isClear) found.push(`${what}: ${status} ${body?.message}`);
  };
  for (const operation of operations) {
    for (const day of FAR_DAYS) {
      for (const name of operation.queryNames.filter((one) => DAY_FIELDS.includes(one))) {
        const query = validQuery(operation, { [name]: day });
        note(`${operation.operationId} ?${name}=${day}`, await send(operation, query, validBody(operation)));
      }
      for (const name of operation.bodyNames.filter((one) => DAY_FIELDS.includes(one))) {
        const body = { ...validBody(operation), [name]: day };
        note(`${operation.operationId} ${name} ${day}`, await send(operation, '', body));
      }
    }
  }
  expect(found).toEqual([]);
  expect(asked).toBeGreaterThan(100);
}, 60_000);

test('a cursor to a far year is a 400 on every list', async () => {
  const lists = operations.filter(({ queryNames }) => queryNames.includes('cursor'));
  const found: string[] = [];
  for (const operation of lists) {
    for (const at of [...FAR_DAYS.map((day) => `${day} 00:00:00+00`), `${'9'.repeat(18)}`]) {
      const { status, body } = await send(operation, validQuery(operation, { cursor: cursorOf(at) }));
      const isSequence = status === 200 && !at.includes('-');
      if (!isSequence && (status !== 400 || !body.message.includes('cursor must be a nextCursor'))) {
        found.push(`${operation.operationId} ${at}: ${status} ${body.message}`);
      }
    }
  }
  expect(found).toEqual([]);
  expect(lists.length).toBeGreaterThan(10);
}, 60_000);

test('more parameters than any route has are a 400, so that none is hidden behind others', async () => {
  const found: string[] = [];
  for (const operation of operations) {
    for (const many of ['&'.repeat(1_000), 'limit=1&'.repeat(200)]) {
      const query = `${validQuery(operation) || '?'}&${many}merchantId=mrc_none`;
      const { status, body } = await send(operation, query, validBody(operation));
      if (status !== 400) found.push(`${operation.operationId}: ${status} ${body?.message}`);
    }
  }
  expect(found).toEqual([]);
}, 60_000);
