import { TransactionData, transactionSnapshot } from '../../src/payments/events.ts';
import type { TransactionRow } from '../../src/payments/queries.ts';
import { EVENT_TYPE_NAMES, listEventTypes } from '../../src/webhooks/events/catalogue.ts';
import { EVENT_ALIASES } from '../../src/webhooks/events/record.ts';
import { EVENT_CATALOGUE } from '../support/event-catalogue.ts';

test('the catalogue has the event types of the contract', () => {
  expect(EVENT_TYPE_NAMES).toEqual(
    expect.arrayContaining([
      'checkout.completed',
      'checkout.failed',
      'checkout.canceled',
      'payment.succeeded',
      'payment.created',
      'payment.completed',
    ]),
  );
});

test.each(EVENT_TYPE_NAMES)('the example of %s matches its schema, which rejects unknown members', (name) => {
  const { data, example } = EVENT_CATALOGUE[name];
  expect(data.safeParse(example).error).toBeUndefined();
  expect(data.safeParse({ ...example, unknown: 1 }).success).toBe(false);
});

test('the catalogue marks exactly those types as aliases that are recorded as aliases', () => {
  const aliases = listEventTypes(EVENT_CATALOGUE)
    .filter(({ alias }) => alias)
    .map(({ event }) => event);
  expect(aliases).toEqual(Object.values(EVENT_ALIASES));
});

test('every catalogue entry has a JSON Schema that rejects unknown members', () => {
  for (const { schema } of listEventTypes(EVENT_CATALOGUE)) {
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(schema['required']).toEqual(expect.arrayContaining(['object', 'environment', 'merchantId', 'version']));
  }
});

const justMade: TransactionRow = {
  id: 'txn_1',
  sessionId: 'cs_1',
  merchantId: 'mrc_1',
  environment: 'sandbox',
  checkoutOrderNo: 'ORDER-1',
  amountSantim: 10_050n,
  currency: 'ETB',
  type: 'API',
  status: 'PENDING',
  channel: null,
  providerReference: null,
  failure: null,
  confirmedLate: false,
  holdReason: null,
  needsReconciliation: false,
  receivedSantim: null,
  feeSantim: null,
  feeTaxSantim: null,
  refundedSantim: 0n,
  customerName: null,
  customerEmail: null,
  customerPhone: null,
  metadata: null,
  version: 1,
  createdAt: new Date('2025-06-15T12:00:00.000Z'),
  completedAt: null,
};
const wellKnown: TransactionRow = {
  ...justMade,
  status: 'SUCCESS',
  channel: 'AWASH',
  receivedSantim: 10_150n,
  feeSantim: 254n,
  feeTaxSantim: 38n,
  providerReference: 'AW-1',
  failure: { code: 'DECLINED', message: 'The customer said no', providerCode: 'E1', retryable: true },
  confirmedLate: true,
  holdReason: 'WRONG_AMOUNT',
  customerName: 'Abebe Bikila',
  customerEmail: 'abebe@example.com',
  customerPhone: '251911000000',
  metadata: { table: '7' },
  completedAt: new Date('2025-06-15T12:01:00.000Z'),
};

test.each([justMade, wellKnown])(
  'the event payload of a transaction matches the schema of the catalogue: $status',
  (row) => {
    expect(TransactionData.safeParse(transactionSnapshot(row)).error).toBeUndefined();
  },
);
