import type { HttpResponse } from '../support/http.ts';
import type { Operation } from './contract.ts';
import { validBody, validQuery } from './samples.ts';
import { startWalk, type Walk } from './walk.ts';

const DIGITS = '251911777666';

/** Values sent in place of a field, of every type; no response may repeat one. */
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
 * Fields whose invalid values errors may repeat, by their last name: days, references, ids, amounts, and enumerated
 * values. All others are private; a new field is private until it is listed here.
 */
const PUBLIC = new Set(
  [
    'startDate endDate date day creditedOn validFrom startsAt endsAt days overlapHours overlapSeconds status kycStatus currency channel',
    'environment type kind format period locale role event eventTypes include direction outcome decision as state waiting action',
    'scopes account transactionThrough signatureEncoding businessType region bankCode channels enabled active force',
    'confirmed all amount paidAmount minAmount maxAmount min max daily fixed basisPoints taxBasisPoints returnedOnRefund largeAmount',
    'twoPersonAmount perHourMax expectedMonthlyVolume tier submission page limit pageSize cursor wait expiresInMinutes',
    'checkoutOrderNo requestId merchantId subscriptionId resourceId eventId ipRanges sort held late interval by waiting dryRun keyId method route statusClass',
    'stage receiverHost minAgeMinutes allDays ratePerSecond sandboxReceiver inline',
    // A reference, and a choice.
    'createRefund.reference returnFee',
    // Names of public holidays.
    'opsAddHoliday.name opsAddHoliday.nameAm opsChangeHoliday.name opsChangeHoliday.nameAm',
  ].flatMap((line) => line.split(' ')),
);

let walk: Walk;

beforeAll(async () => {
  walk = await startWalk('PRIVATE');
}, 60_000);
afterAll(() => walk.service.close(), 60_000);

function isPublic({ operationId }: Operation, field: string): boolean {
  const name = field.split('.').findLast((part) => !/^(?:\d+|x)$/.test(part)) ?? field;
  return PUBLIC.has(name) || PUBLIC.has(`${operationId}.${name}`);
}

/** The text of an error that repeats the sent value; null if it does not. */
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
  const sent = new Set<string>();
  for (const operation of walk.operations) {
    for (const field of operation.bodyFields) {
      if (isPublic(operation, field)) continue;
      sent.add(field.split('.').at(-1) ?? '');
      for (const [what, value] of Object.entries(PLANTED)) {
        const body = withValue(validBody(operation), field.split('.'), value);
        const text = repeated(await walk.send(operation, { body }));
        if (text) found.push(`${operation.operationId} ${field} ${what}: ${text}`);
      }
    }
  }
  expect(found).toEqual([]);
  expect([...sent]).toEqual(
    expect.arrayContaining(['customerPhone', 'phone', 'accountNumber', 'accountName', 'tin', 'metadata', 'headers']),
  );
}, 60_000);

test('no error repeats the value of a private query parameter', async () => {
  const found: string[] = [];
  for (const operation of walk.operations) {
    for (const name of operation.queryNames.filter((one) => !isPublic(operation, one))) {
      for (const value of [`${DIGITS}\u0000`, `${DIGITS}\n`, DIGITS.repeat(100), `${DIGITS}&${name}=${DIGITS}`]) {
        const query = validQuery(operation, { [name]: value })
          .replaceAll('%26', '&')
          .replaceAll('%3D', '=');
        const text = repeated(await walk.send(operation, { query }));
        if (text) found.push(`${operation.operationId} ${name}: ${text}`);
      }
    }
  }
  expect(found).toEqual([]);
}, 60_000);
