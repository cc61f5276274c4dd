import type { HttpResponse } from '../support/http.ts';
import { createMerchantWithEverything, type Merchant } from './belongings.ts';
import { readOperations, type Operation } from './contract.ts';
import { readRows } from './rows.ts';
import { pathWith, validBody } from './samples.ts';
import { startWalls, type Walls } from './world.ts';

/** As JSON text: much of it cannot be written by JSON.stringify. */
const HOSTILE: Record<string, string> = {
  'a NUL': '"a\\u0000b"',
  'half a surrogate pair': '"a\\ud800b"',
  'a number beyond all': '1e400',
  'minus zero': '-0',
  'three decimals': '1.005',
  'a number that is not exact': '9007199254740993',
  'a negative number': '-1',
  '10,000 characters': JSON.stringify('x'.repeat(10_000)),
  'a list of a text': '["a"]',
  'a prototype': '{"__proto__":{"admin":true}}',
  'a constructor': '{"constructor":{"prototype":{"admin":true}}}',
  'deep nesting': '['.repeat(200) + ']'.repeat(200),
  null: 'null',
};

/** What may be said: 0 by another name (no overlap), and that a holiday has no name in Amharic. */
const HARMLESS = new Set(['rotateWebhookSecret overlapSeconds minus zero', 'opsAddHoliday nameAm null']);

const HOSTILE_BODIES = [
  'null',
  '[]',
  '"text"',
  '1',
  '{',
  '{}{}',
  '\ufeff{',
  '{"__proto__":{"admin":true}}',
  '[[[[[[]]]]]]',
];

let walls: Walls;
let merchant: Merchant;
let operatorKey: string;
let changing: Operation[];

beforeAll(async () => {
  walls = await startWalls();
  merchant = await createMerchantWithEverything(walls, 'ODD');
  operatorKey = await walls.newOperatorKey();
  changing = (await readOperations(walls)).filter(({ method }) => method !== 'GET');
}, 60_000);
afterAll(() => walls.close(), 60_000);

function send(operation: Operation, body: string): Promise<HttpResponse> {
  const ids = Object.fromEntries(Object.entries(merchant.ids).map(([name, [id = '']]) => [name, id]));
  const key = operation.by === 'operator' ? operatorKey : merchant.key;
  return walls.send(operation.method, pathWith(operation, ids), { key, body });
}

/** What is wrong with the answer to a request that must be refused; null when nothing is. */
function unfit({ status, body }: HttpResponse): string | null {
  if (status < 400 || status > 499) return `answered ${status}`;
  if (!/^[A-Z_]+$/.test(body?.error?.code ?? '')) return 'has no code';
  if (!/\w+ \w+ \w+/.test(body.message)) return `says only ${body.message}`;
  return body.message.length < 1_500 ? null : `says ${body.message.length} characters`;
}

test('no odd value in any field of any body is more than a 4xx with a code and a sentence, and none changes a row', async () => {
  const before = await readRows(walls.world.db);
  const accepted: string[] = [];
  let asked = 0;
  for (const operation of changing) {
    for (const field of operation.bodyNames) {
      for (const [what, json] of Object.entries(HOSTILE)) {
        const name = `${operation.operationId} ${field} ${what}`;
        if (HARMLESS.has(name)) continue;
        asked += 1;
        const { [field]: _, ...others } = { ...validBody(operation) } as Record<string, unknown>;
        const rest = JSON.stringify(others).slice(1, -1);
        const problem = unfit(await send(operation, `{${rest}${rest && ','}${JSON.stringify(field)}:${json}}`));
        if (problem) accepted.push(`${name}: ${problem}`);
      }
    }
  }
  expect(accepted).toEqual([]);
  expect(asked).toBeGreaterThan(400);
  expect(await readRows(walls.world.db)).toEqual(before);
}, 60_000);

test('no odd body of any route is more than a 4xx with a code and a sentence, and none changes a row', async () => {
  const before = await readRows(walls.world.db);
  const accepted: string[] = [];
  for (const operation of changing) {
    for (const body of HOSTILE_BODIES) {
      const problem = unfit(await send(operation, body));
      if (problem) accepted.push(`${operation.name} with ${body}: ${problem}`);
    }
  }
  expect(accepted).toEqual([]);
  expect(await readRows(walls.world.db)).toEqual(before);
}, 60_000);
