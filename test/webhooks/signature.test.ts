import { createHmac } from 'node:crypto';

import { verify as verifyHex } from '@octokit/webhooks-methods';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';

import { newSecret, signedRequest, type SigningInput } from '../../src/webhooks/delivery/attempt.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const PAYLOAD =
  '{"event":"payment.succeeded","event_id":"evt_1","api_version":"v1.0","created_at":"2025-01-01T00:00:00.000Z","data":{"amount":100.5}}';

function sign(tx: Partial<SigningInput> = {}) {
  return signedRequest({
    payload: Buffer.from(PAYLOAD),
    eventId: 'evt_1',
    attemptAt: new Date(),
    secret: SECRET,
    previousSecret: null,
    encoding: 'base64',
    customHeaders: {},
    ...tx,
  });
}

describe('the published signature vectors', () => {
  test('the body is the stored bytes with the signature field as the last member', () => {
    const field = 'sha256=Bh7EduDHVqcJlyNK9f4DXe2pu0uo+kCBzFeLobNUvU8=';
    expect(sign().body.toString()).toBe(`${PAYLOAD.slice(0, -1)},"signature":"${field}"}`);
  });

  test('the header signs the sent body, in base64 unless hex is configured', () => {
    expect(sign().headers['X-Service-Signature']).toBe('sha256=e9b3xNxWZZqLIKqjyVYySjs5HI0uFS73TlAx+p6Ob+k=');
    expect(sign({ encoding: 'hex' }).headers['X-Service-Signature']).toBe(
      'sha256=7bd6f7c4dc56659a8b20aaa3c956324a3b391c8d2e152ef74e5031fa9e8e6fe9',
    );
  });

  test('the field in the body stays base64 when the header is hex', () => {
    expect(sign({ encoding: 'hex' }).body.equals(sign().body)).toBe(true);
  });

  test('Standard Webhooks signs id, timestamp and body with the decoded secret', () => {
    const body = '{"test": 2432232314}';
    const known = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
    const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
    expect(new Webhook(SECRET).sign(id, new Date(1614265330 * 1000), body)).toBe(known);
    // The vector's body has no signature field, so ours is compared over the body we really send.
    const attemptAt = new Date(1614265330 * 1000);
    const ours = sign({ payload: Buffer.from(body), eventId: id, attemptAt });
    expect(ours.headers['webhook-signature']).toBe(new Webhook(SECRET).sign(id, attemptAt, ours.body.toString()));
    expect(ours.headers['webhook-timestamp']).toBe('1614265330');
  });
});

describe('verifiers from npm', () => {
  test('standardwebhooks accepts a signed request, and rejects a changed byte', () => {
    const { body, headers } = sign();
    expect(new Webhook(SECRET).verify(body, headers)).toMatchObject({ event_id: 'evt_1' });
    const changed = body.toString().replace('100.5', '900.5');
    expect(() => new Webhook(SECRET).verify(changed, headers)).toThrow('No matching signature');
  });

  test('@octokit/webhooks-methods accepts the hex form', async () => {
    const { body, headers } = sign({ encoding: 'hex' });
    await expect(verifyHex(SECRET, body.toString(), headers['X-Service-Signature'] ?? '')).resolves.toBe(true);
    await expect(verifyHex('wrong', body.toString(), headers['X-Service-Signature'] ?? '')).resolves.toBe(false);
  });

  test('any text in any script verifies with any secret', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const secret = newSecret();
        const payload = Buffer.from(JSON.stringify({ event_id: 'evt_1', data: { text } }));
        const { body, headers } = sign({ secret, payload });
        expect(new Webhook(secret).verify(body, headers)).toMatchObject({ data: { text } });
        expect(body.includes(payload.subarray(0, -1))).toBe(true);
      }),
    );
  });
});

describe('a request signed during a rotation', () => {
  const previousSecret = newSecret();

  test('verifies with both secrets while the old one still signs', () => {
    const { body, headers } = sign({ previousSecret });
    expect(new Webhook(SECRET).verify(body, headers)).toMatchObject({ event_id: 'evt_1' });
    expect(new Webhook(previousSecret).verify(body, headers)).toMatchObject({ event_id: 'evt_1' });
    const old = createHmac('sha256', previousSecret).update(body).digest('base64');
    expect(headers['X-Service-Signature-Previous']).toBe(`sha256=${old}`);
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
  });

  test('has no header for a previous secret when there is none', () => {
    expect(sign().headers).not.toHaveProperty('X-Service-Signature-Previous');
    expect(sign().headers['webhook-signature']).not.toContain(' ');
  });
});

test("a merchant's own headers are sent, but never replace the service's headers", () => {
  const { headers } = sign({ customHeaders: { 'X-Shop': 'abyssinia', 'x-service-SIGNATURE': 'forged', Host: 'x' } });
  expect(headers['X-Shop']).toBe('abyssinia');
  expect(Object.keys(headers).filter((name) => name.toLowerCase() === 'x-service-signature')).toHaveLength(1);
  expect(headers).not.toHaveProperty('Host');
});

test('a new secret is whsec_ and the base64 of 32 bytes, different each time', () => {
  expect(newSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(newSecret()).not.toBe(newSecret());
});

test('signing a payload that is not a JSON object throws', () => {
  expect(() => sign({ payload: Buffer.from('[1]') })).toThrow('must be a JSON object');
});
