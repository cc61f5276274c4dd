import { findMistake, type Pasted } from '../../portal/merchant/events/signature.ts';
import { verifyWebhook, WebhookVerificationError } from '../../src/sdk/index.ts';
import { newSecret, signedRequest } from '../../src/webhooks/delivery/attempt.ts';

const SECRET = newSecret();
const PAYLOAD =
  '{"event":"payment.succeeded","event_id":"evt_1","api_version":"v1.0","created_at":"","data":{"a":"ቡና"}}';

/** A delivery as it is sent. */
function delivered(encoding: 'base64' | 'hex', secret = SECRET, payload = PAYLOAD): Pasted {
  const { body, headers } = signedRequest({
    payload: Buffer.from(payload),
    eventId: 'evt_1',
    attemptAt: new Date(0),
    secret,
    previousSecret: null,
    encoding,
    customHeaders: {},
  });
  return { body: body.toString(), signature: headers['X-Service-Signature'] ?? '', secret };
}

/** What the SDK finds for the same delivery. */
function findingOfSdk({ body, signature, secret }: Pasted): string {
  try {
    verifyWebhook(body, { 'x-service-signature': signature }, secret);
    return 'valid';
  } catch (error) {
    return error instanceof WebhookVerificationError ? error.reason : String(error);
  }
}

const good = delivered('base64');
const CASES: Record<string, Pasted> = {
  valid: good,
  'valid, in hex': delivered('hex'),
  'a header that was cut': { ...good, signature: good.signature.slice(0, 30) },
  'the signature of the body': { ...good, signature: JSON.parse(good.body).signature },
  'a secret with quotes': { ...good, secret: `"${SECRET}"` },
  'a secret with a line break': { ...good, secret: `${SECRET}\n` },
  'a secret without its prefix': { ...good, secret: SECRET.replace('whsec_', '') },
  'no body': { ...good, body: '' },
  'a body with other blanks': { ...good, body: JSON.stringify(JSON.parse(good.body), null, 2) },
  'the header of another delivery': {
    ...good,
    signature: delivered('base64', SECRET, PAYLOAD.replace('_1', '_2')).signature,
  },
  'the secret of another subscription': { ...good, secret: newSecret() },
};

test.each(Object.entries(CASES))('the helper of the portal finds what the SDK finds: %s', async (_name, pasted) => {
  expect(await findMistake(pasted)).toBe(findingOfSdk(pasted));
});

test('the helper takes a body that a paste has stripped of its line break for a changed one', async () => {
  expect(await findMistake({ ...good, body: `${good.body}\n` })).toBe('body_was_changed');
});
