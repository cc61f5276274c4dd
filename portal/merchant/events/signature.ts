const encoder = new TextEncoder();

/** The likely mistake of a receiver, by what a pasted delivery shows; `valid`: none. As the SDK's verifyWebhook finds it. */
export type Finding =
  | 'valid'
  | 'header_malformed'
  | 'signature_from_body'
  | 'secret_has_extra_characters'
  | 'secret_prefix_missing'
  | 'body_missing'
  | 'body_was_changed'
  | 'header_of_another_request'
  | 'wrong_secret';

export type Pasted = { body: string; signature: string; secret: string };

const ENVELOPE = ['event', 'event_id', 'api_version', 'created_at', 'data', 'signature'].join();
const SIGNATURE = /^(?:sha256=)?(?:[0-9a-f]{64}|[A-Za-z0-9+/]{43}=?)$/i;

/** Finds the mistake by undoing each common one in turn. Everything stays in the browser. */
export async function findMistake({ body, signature, secret }: Pasted): Promise<Finding> {
  const value = signature.trim();
  const bare = secret.trim().replace(/^(["'])(.*)\1$/, '$2');
  const bytes = encoder.encode(body);
  const members = membersOf(body);
  if (!SIGNATURE.test(value)) return 'header_malformed';
  if (members?.['signature'] === value) return 'signature_from_body';
  if (await isSignatureOf(value, secret, bytes)) return 'valid';
  if (bare !== secret && (await isSignatureOf(value, bare, bytes))) return 'secret_has_extra_characters';
  if (!bare.startsWith('whsec_') && (await isSignatureOf(value, `whsec_${bare}`, bytes)))
    return 'secret_prefix_missing';
  if (body.trim() === '') return 'body_missing';
  // A paste may have lost or gained what stands around the body.
  const variants = [body.trim(), `${body}\n`, body.replaceAll('\n', '\r\n'), JSON.stringify(members)];
  for (const variant of variants) {
    if (await isSignatureOf(value, bare, encoder.encode(variant))) return 'body_was_changed';
  }
  const isReordered = members !== null && 'event_id' in members && Object.keys(members).join() !== ENVELOPE;
  if (isReordered) return 'body_was_changed';
  const inner = members?.['signature'];
  const isOfSecret =
    typeof inner === 'string' && (await isSignatureOf(inner, bare, encoder.encode(withoutSignature(body))));
  return isOfSecret ? 'header_of_another_request' : 'wrong_secret';
}

/** Whether a header's value, base64 or hex, with `sha256=` or without, is the secret's signature of these bytes. */
async function isSignatureOf(value: string, secret: string, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
  if (secret === '') return false;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes));
  const text = value.replace(/^sha256=/i, '');
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const base64 = btoa(String.fromCharCode(...digest));
  return text.toLowerCase() === hex || text.replace(/=$/, '') === base64.replace(/=$/, '');
}

function membersOf(body: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** The text that the body's signature field signs: the envelope before the field was added at its end. */
function withoutSignature(body: string): string {
  const at = body.lastIndexOf(',"signature":"');
  return at < 0 ? body : `${body.slice(0, at)}}`;
}
