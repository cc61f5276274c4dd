import fc from 'fast-check';

import { verifyWebhook, WebhookVerificationError, type VerifyOptions } from '../../src/sdk/index.ts';
import { newSecret, signedRequest, type SigningInput } from '../../src/webhooks/delivery/attempt.ts';

const SECRET = newSecret();
const ENVELOPE = {
  event: 'payment.succeeded',
  event_id: 'evt_1',
  api_version: 'v1.0',
  created_at: '2025-01-01T00:00:00.000Z',
  data: { object: 'transaction', amount: 100.5, customerName: 'አበበ ቢቂላ', note: 'a/b' },
};

function delivery(tx: Partial<SigningInput> = {}) {
  const request = signedRequest({
    payload: Buffer.from(JSON.stringify(ENVELOPE)),
    eventId: 'evt_1',
    attemptAt: new Date('2025-01-01T00:00:00.000Z'),
    secret: SECRET,
    previousSecret: null,
    encoding: 'base64',
    customHeaders: {},
    ...tx,
  });
  return { ...request, text: request.body.toString() };
}

/** The error of the verification. */
function reasonOf(...args: Parameters<typeof verifyWebhook>): string {
  try {
    verifyWebhook(...args);
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.reason;
    throw error;
  }
  return 'verified';
}

describe('a signed delivery', () => {
  test('verifies as text and as bytes, in base64 and in hex', () => {
    for (const encoding of ['base64', 'hex'] as const) {
      const { body, text, headers } = delivery({ encoding });
      expect(verifyWebhook(text, headers, SECRET)).toMatchObject({ event: 'payment.succeeded', event_id: 'evt_1' });
      expect(verifyWebhook(body, headers, SECRET)).toMatchObject({ data: { customerName: 'አበበ ቢቂላ' } });
      expect(verifyWebhook(new Uint8Array(body), headers, SECRET)).toMatchObject({ event_id: 'evt_1' });
    }
  });

  test('verifies with headers of Node and of fetch, in any letter case, with or without sha256=', () => {
    const { text, headers } = delivery();
    const value = headers['X-Service-Signature'] ?? '';
    expect(reasonOf(text, new Headers(headers), SECRET)).toBe('verified');
    expect(reasonOf(text, { 'x-service-signature': value }, SECRET)).toBe('verified');
    expect(reasonOf(text, { 'X-SERVICE-SIGNATURE': [value] }, SECRET)).toBe('verified');
    expect(reasonOf(text, { 'x-service-signature': value.replace('sha256=', '') }, SECRET)).toBe('verified');
  });

  test('verifies with any of several secrets', () => {
    const { text, headers } = delivery();
    expect(reasonOf(text, headers, [newSecret(), SECRET])).toBe('verified');
    expect(reasonOf(text, headers, { secret: [SECRET] })).toBe('verified');
  });

  test('verifies with the old secret during the overlap of a rotation', () => {
    const previousSecret = newSecret();
    const { text, headers } = delivery({ previousSecret });
    expect(reasonOf(text, headers, previousSecret)).toBe('verified');
    expect(reasonOf(text, headers, SECRET)).toBe('verified');
  });

  test('never verifies after a byte of it is changed', () => {
    const { body, headers } = delivery();
    fc.assert(
      fc.property(fc.nat(body.length - 1), fc.integer({ min: 1, max: 255 }), (at, tx) => {
        const changed = Buffer.from(body);
        changed[at] = (changed[at] ?? 0) ^ tx;
        expect(reasonOf(changed, headers, SECRET)).not.toBe('verified');
      }),
    );
  });

  test('never verifies with a signature of another length or alphabet', () => {
    const { text } = delivery();
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(reasonOf(text, { 'x-service-signature': value }, SECRET)).not.toBe('verified');
      }),
    );
  });
});

describe('the error names the likely mistake', () => {
  const { text, body, headers } = delivery();
  const signature = headers['X-Service-Signature'] ?? '';

  test.each([
    ['an object in place of the body', JSON.parse(text), 'body_was_parsed'],
    ['no body at all', undefined, 'body_missing'],
    ['a body that was read before', '', 'body_missing'],
    ['JSON with blanks, as Python writes it', text.replaceAll('":', '": '), 'body_was_changed'],
    ['JSON that is indented', JSON.stringify(JSON.parse(text), null, 2), 'body_was_changed'],
    ['JSON with escaped slashes, as PHP writes it', text.replace('a/b', 'a\\/b'), 'body_was_changed'],
    ['JSON with escaped letters', text.replaceAll('አ', '\\u12a0'), 'body_was_changed'],
    ['JSON with sorted members', JSON.stringify({ api_version: 'v1.0', ...JSON.parse(text) }), 'body_was_changed'],
    ['a line break at the end', `${text}\n`, 'body_was_changed'],
    ['bytes decoded as Latin-1', body.toString('latin1'), 'body_was_changed'],
    ['another amount', text.replace('100.5', '900.5'), 'wrong_secret'],
    ['something else', 'hello', 'wrong_secret'],
  ])('verifying %s as the body fails with its reason', (_mistake, rawBody, reason) => {
    expect(reasonOf(rawBody, headers, SECRET)).toBe(reason);
  });

  test.each([
    ['a secret with a line break', `${SECRET}\n`, 'secret_has_extra_characters'],
    ['a secret in quotes', `"${SECRET}"`, 'secret_has_extra_characters'],
    ['a secret without whsec_', SECRET.slice('whsec_'.length), 'secret_prefix_missing'],
    ['an unset secret', undefined as unknown as string, 'secret_missing'],
    ['no secret', null as unknown as string, 'secret_missing'],
    ['an empty secret', '', 'secret_missing'],
    ['an empty list of secrets', [], 'secret_missing'],
    ['the secret of another subscription or environment', newSecret(), 'wrong_secret'],
  ])('verifying with %s fails with its reason', (_mistake, secret, reason) => {
    expect(reasonOf(text, headers, secret)).toBe(reason);
  });

  test.each([
    ['no header', {}, 'header_missing'],
    [
      'the field of the body in place of the header',
      { 'x-service-signature': JSON.parse(text).signature },
      'signature_from_body',
    ],
    ['the header of Standard Webhooks', { 'x-service-signature': headers['webhook-signature'] }, 'header_malformed'],
    ['a header that was cut', { 'x-service-signature': signature.slice(0, -4) }, 'header_malformed'],
    [
      'the header of another delivery',
      {
        'x-service-signature': delivery({ payload: Buffer.from('{"event_id":"evt_2"}') }).headers[
          'X-Service-Signature'
        ],
      },
      'header_of_another_request',
    ],
  ])('verifying with %s fails with its reason', (_mistake, changed, reason) => {
    expect(reasonOf(text, changed, SECRET)).toBe(reason);
  });

  test('the error for a wrong secret explains that a request does not show its environment', () => {
    expect(() => verifyWebhook(text, headers, newSecret())).toThrow(
      /sandbox and live .* a request does not show which/,
    );
  });

  test('no error message contains the secret or a valid signature', () => {
    for (const secret of [`${SECRET} `, SECRET.slice(6)]) {
      expect(() => verifyWebhook(text, headers, secret)).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining(SECRET.slice(6)) }),
      );
    }
  });
});

describe('a tolerance for the age of a delivery', () => {
  const { text, headers } = delivery();
  const at = (seconds: number): VerifyOptions => ({
    secret: SECRET,
    toleranceSeconds: 300,
    now: new Date(Date.parse('2025-01-01T00:00:00.000Z') + seconds * 1_000),
  });

  test('accepts deliveries signed within it, and rejects older ones and those from the future', () => {
    expect(reasonOf(text, headers, at(299))).toBe('verified');
    expect(reasonOf(text, headers, at(-299))).toBe('verified');
    expect(reasonOf(text, headers, at(301))).toBe('timestamp_outside_tolerance');
    expect(reasonOf(text, headers, at(-301))).toBe('timestamp_outside_tolerance');
  });

  test('rejects a changed or missing timestamp', () => {
    const now = at(10_000);
    const later = Math.floor((now.now?.getTime() ?? 0) / 1_000).toString();
    expect(reasonOf(text, { ...headers, 'webhook-timestamp': later }, now)).toBe('timestamp_missing');
    const { 'webhook-timestamp': _gone, ...without } = headers;
    expect(reasonOf(text, without, now)).toBe('timestamp_missing');
  });

  test.each([NaN, Infinity, -Infinity, -1, 86_401, 1e9, '300' as never, null as never, '' as never])(
    'of %p is rejected with the allowed values, for any delivery',
    (toleranceSeconds) => {
      const replay = { ...at(0), toleranceSeconds, now: new Date('2050-01-01T00:00:00Z') };
      expect(() => verifyWebhook(text, headers, replay)).toThrow(RangeError);
      expect(() => verifyWebhook(text, headers, replay)).toThrow('toleranceSeconds must be a number from 0 to 86400');
      expect(() => verifyWebhook('{}', {}, replay)).toThrow(RangeError);
    },
  );

  test('of 0 and of 86,400 is accepted', () => {
    expect(reasonOf(text, headers, { ...at(0), toleranceSeconds: 0 })).toBe('verified');
    expect(reasonOf(text, headers, { ...at(86_400), toleranceSeconds: 86_400 })).toBe('verified');
    expect(reasonOf(text, headers, { ...at(86_401), toleranceSeconds: 86_400 })).toBe('timestamp_outside_tolerance');
  });

  test.each([new Date(NaN), 1_735_689_600_000 as never, '2025-01-01' as never, null as never])(
    'is rejected with a current time of %p, which would accept every replay',
    (now) => {
      expect(() => verifyWebhook(text, headers, { ...at(0), now })).toThrow('now must be a valid Date');
    },
  );

  test('works with the old secret during a rotation', () => {
    const previousSecret = newSecret();
    const rotated = delivery({ previousSecret });
    expect(reasonOf(rotated.text, rotated.headers, { ...at(0), secret: previousSecret })).toBe('verified');
  });
});
