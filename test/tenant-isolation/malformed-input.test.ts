import type { HttpResponse } from '../support/http.ts';
import type { Operation } from './contract.ts';
import { readRows } from './rows.ts';
import { validBody } from './samples.ts';
import { startWalk, type Walk } from './walk.ts';

/** JSON text, since JSON.stringify cannot write most of it. */
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

/** Valid values: zero seconds of overlap, and a holiday without an Amharic name. */
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

let walk: Walk;

beforeAll(async () => {
  walk = await startWalk('ODD');
}, 180_000);
afterAll(() => walk.service.close(), 180_000);

const changing = (): Operation[] => walk.operations.filter(({ method }) => method !== 'GET');

/** The problem of the response to a request that must be rejected; null if there is none. */
function problemOf({ status, body }: HttpResponse): string | null {
  if (status < 400 || status > 499) return `status ${status}`;
  if (!/^[A-Z_]+$/.test(body?.error?.code ?? '')) return 'has no code';
  if (!/\w+ \w+ \w+/.test(body.message)) return `the message is only ${body.message}`;
  return body.message.length < 1_500 ? null : `the message has ${body.message.length} characters`;
}

test('a malformed value in any body field gets a 4xx with a code and a message, and changes no row', async () => {
  const before = await readRows(walk.service.fixture.db);
  const accepted: string[] = [];
  let requests = 0;
  for (const operation of changing()) {
    for (const field of operation.bodyNames) {
      for (const [what, json] of Object.entries(HOSTILE)) {
        const name = `${operation.operationId} ${field} ${what}`;
        if (HARMLESS.has(name)) continue;
        requests += 1;
        const { [field]: _, ...others } = { ...validBody(operation) } as Record<string, unknown>;
        const rest = JSON.stringify(others).slice(1, -1);
        const problem = problemOf(
          await walk.send(operation, { body: `{${rest}${rest && ','}${JSON.stringify(field)}:${json}}` }),
        );
        if (problem) accepted.push(`${name}: ${problem}`);
      }
    }
  }
  expect(accepted).toEqual([]);
  expect(requests).toBeGreaterThan(400);
  expect(await readRows(walk.service.fixture.db)).toEqual(before);
}, 180_000);

test('a malformed body gets a 4xx with a code and a message from every route, and changes no row', async () => {
  const before = await readRows(walk.service.fixture.db);
  const accepted: string[] = [];
  for (const operation of changing()) {
    for (const body of HOSTILE_BODIES) {
      const problem = problemOf(await walk.send(operation, { body }));
      if (problem) accepted.push(`${operation.name} with ${body}: ${problem}`);
    }
  }
  expect(accepted).toEqual([]);
  expect(await readRows(walk.service.fixture.db)).toEqual(before);
}, 180_000);
