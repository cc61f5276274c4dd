import type { HttpResponse } from '../support/http.ts';
import { createMerchantWithEverything, type Merchant } from './belongings.ts';
import { readOperations, type Operation } from './contract.ts';
import { pathWith, validBody, validQuery } from './samples.ts';
import { startWalls, type Walls } from './world.ts';

const DIGITS = '251911777666';

/** What stands in place of a field's value, of every type; none of it may come back. */
const PLANTED: Record<string, unknown> = {
  'a number': Number(DIGITS),
  'a negative number': -Number(DIGITS),
  'a text with a control character': `${DIGITS}\u0001`,
  'a long text': DIGITS.repeat(2_000),
  'a list': [DIGITS],
  'a list of numbers': [Number(DIGITS)],
  'an object': { note: DIGITS },
  'an object in a list': [{ a: { b: Number(DIGITS) } }],
};

/**
 * Fields whose wrong values errors may repeat, by their last name: days, references, ids, amounts, and words of a list.
 * All others are private; a new field is private until it stands here.
 */
const PUBLIC = new Set(
  [
    'startDate endDate date day creditedOn validFrom days overlapHours overlapSeconds status kycStatus currency channel',
    'environment type kind format period locale role event eventTypes include direction outcome as state waiting action',
    'scopes account transactionThrough signatureEncoding businessType region bankCode channels enabled active force',
    'confirmed all amount paidAmount minAmount maxAmount min max daily fixed basisPoints taxBasisPoints largeAmount',
    'twoPersonAmount perHourMax expectedMonthlyVolume tier submission page limit pageSize cursor wait expiresInMinutes',
    'checkoutOrderNo requestId merchantId subscriptionId resourceId eventId ipRanges',
    // Of a public holiday.
    'opsAddHoliday.name opsAddHoliday.nameAm opsChangeHoliday.name opsChangeHoliday.nameAm',
  ].flatMap((line) => line.split(' ')),
);

let walls: Walls;
let merchant: Merchant;
let operatorKey: string;
let operations: Operation[];

beforeAll(async () => {
  walls = await startWalls();
  merchant = await createMerchantWithEverything(walls, 'PRIVATE');
  operatorKey = await walls.newOperatorKey();
  operations = await readOperations(walls);
}, 60_000);
afterAll(() => walls.close(), 60_000);

const keyOf = ({ by }: Operation): string => (by === 'operator' ? operatorKey : merchant.key);
const ids = (): Record<string, string> =>
  Object.fromEntries(Object.entries(merchant.ids).map(([name, [id = '']]) => [name, id]));

function isPublic({ operationId }: Operation, field: string): boolean {
  const name = field.split('.').findLast((part) => !/^(?:\d+|x)$/.test(part)) ?? field;
  return PUBLIC.has(name) || PUBLIC.has(`${operationId}.${name}`);
}

/** What an answer repeats of what was planted; null when it repeats nothing. */
function repeated({ status, text }: HttpResponse): string | null {
  return status >= 400 && text.includes(DIGITS.slice(3)) ? text.slice(0, 300) : null;
}

/** A copy of the body with the value at the path. */
function withValue(body: unknown, [name = '', ...rest]: string[], value: unknown): unknown {
  const inner = (body as Record<string, unknown> | undefined)?.[name];
  const changed = rest.length === 0 ? value : withValue(inner, rest, value);
  return /^\d+$/.test(name) ? [changed] : { ...(body as object | undefined), [name]: changed };
}

test('no error repeats the value of a private field of a body, whatever its type', async () => {
  const found: string[] = [];
  const asked = new Set<string>();
  for (const operation of operations) {
    for (const field of operation.bodyFields) {
      if (isPublic(operation, field)) continue;
      asked.add(field.split('.').at(-1) ?? '');
      for (const [what, value] of Object.entries(PLANTED)) {
        const body = withValue(validBody(operation), field.split('.'), value);
        const answer = await walls.send(operation.method, pathWith(operation, ids()), { key: keyOf(operation), body });
        const text = repeated(answer);
        if (text) found.push(`${operation.operationId} ${field} ${what}: ${text}`);
      }
    }
  }
  expect(found).toEqual([]);
  expect([...asked]).toEqual(
    expect.arrayContaining(['customerPhone', 'phone', 'accountNumber', 'accountName', 'tin', 'metadata', 'headers']),
  );
}, 60_000);

test('no error repeats the value of a private query parameter', async () => {
  const found: string[] = [];
  for (const operation of operations) {
    const path = pathWith(operation, ids());
    for (const name of operation.queryNames.filter((one) => !isPublic(operation, one))) {
      for (const value of [`${DIGITS}\u0000`, `${DIGITS}\n`, DIGITS.repeat(100), `${DIGITS}&${name}=${DIGITS}`]) {
        const query = validQuery(operation, { [name]: value })
          .replaceAll('%26', '&')
          .replaceAll('%3D', '=');
        const text = repeated(await walls.send(operation.method, path + query, { key: keyOf(operation) }));
        if (text) found.push(`${operation.operationId} ${name}: ${text}`);
      }
    }
  }
  expect(found).toEqual([]);
}, 60_000);
