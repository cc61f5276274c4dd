import { EVENT_TYPE_NAMES, EVENT_TYPES, listEventTypes } from '../../src/webhooks/catalogue.ts';
import { EVENT_ALIASES } from '../../src/webhooks/record.ts';

test('the seed names these event types', () => {
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

test.each(EVENT_TYPE_NAMES)('the example of %s is what its schema says', (name) => {
  const { data, example } = EVENT_TYPES[name];
  expect(data.safeParse(example).error).toBeUndefined();
  expect(data.safeParse({ ...example, unknown: 1 }).success).toBe(false);
});

test('the catalogue marks exactly those types as aliases that are recorded as such', () => {
  const aliases = listEventTypes()
    .filter(({ alias }) => alias)
    .map(({ event }) => event);
  expect(aliases).toEqual(Object.values(EVENT_ALIASES));
});

test('every entry carries a JSON Schema that refuses unknown members', () => {
  for (const { schema } of listEventTypes()) {
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(schema['required']).toEqual(expect.arrayContaining(['object', 'environment', 'merchantId', 'version']));
  }
});
