/** The likely mistakes, with their remedies. */
export const MISTAKES = {
  body_was_parsed:
    'The given body is not raw text or bytes. Read it before JSON parsing: express.raw({ type: "application/json" }), or await request.text().',
  body_missing: 'The body is empty: something has read the request before. Read the raw body before any body parser.',
  body_was_changed:
    'The body was decoded or parsed and serialised again, so that its bytes differ from the signed ones. Verify the raw body, and parse it afterwards.',
  body_not_json: 'The signature is right, but the body is not JSON.',
  header_missing: 'The header X-Service-Signature is missing: this is not a Meskot webhook, or a proxy removes it.',
  header_malformed:
    'X-Service-Signature is neither base64 nor hex of a SHA-256 signature: it was cut or changed in transit, or another header was passed, such as webhook-signature.',
  header_of_another_request: 'The body and the secret belong together, but X-Service-Signature is of another delivery.',
  signature_from_body:
    'The value is the "signature" field of the body. It signs the body without the field: use the header X-Service-Signature.',
  secret_missing: 'No secret was given. Is its environment variable set?',
  secret_has_extra_characters:
    'The secret has blanks, a line break or quotes around it that are not part of it. Remove them.',
  secret_prefix_missing: 'The secret lacks its beginning "whsec_". The key is the whole text as displayed.',
  wrong_secret:
    'The signature does not match. Most likely the secret is of another subscription, of the other environment (sandbox and live have different ones; a request does not show which), or has been rotated. If the secret is right, the body was changed in transit.',
  timestamp_missing:
    'toleranceSeconds needs the headers webhook-id, webhook-timestamp and webhook-signature as they were sent.',
  timestamp_outside_tolerance:
    'It was not signed within toleranceSeconds: a replay, or the clock of this machine is wrong.',
} as const;

/** The likely mistake as a code; the error's message has the remedy. */
export type VerificationErrorCode = keyof typeof MISTAKES;

type Evidence = {
  body: Buffer;
  /** The value of X-Service-Signature. */
  signature: string;
  secrets: readonly string[];
  isSignatureOf: (value: string, key: string, bytes: Buffer) => boolean;
};

const ENVELOPE = ['event', 'event_id', 'api_version', 'created_at', 'data', 'signature'].join();

/**
 * The likely cause of a signature that does not match: undoes each common mistake in turn and checks whether the signature
 * would match then. Never makes a request valid.
 */
export function diagnose({ body, signature, secrets, isSignatureOf }: Evidence): VerificationErrorCode {
  const members = membersOf(body);
  const value = signature.trim();
  if (!/^(sha256=)?([0-9a-f]{64}|[A-Za-z0-9+/]{43}=?)$/i.test(value)) return 'header_malformed';
  if (members?.['signature'] === value) return 'signature_from_body';

  for (const secret of secrets) {
    const bare = secret.trim().replace(/^(["'])(.*)\1$/, '$2');
    if (bare !== secret && isSignatureOf(signature, bare, body)) return 'secret_has_extra_characters';
    if (!bare.startsWith('whsec_') && isSignatureOf(signature, `whsec_${bare}`, body)) return 'secret_prefix_missing';
  }

  if (body.length === 0) return 'body_missing';
  const signedBy = (given: unknown, bytes: Buffer): boolean =>
    typeof given === 'string' && secrets.some((secret) => isSignatureOf(given, secret, bytes));
  const serialisedAgain = members === null ? body : Buffer.from(JSON.stringify(members));
  const asLatin1 = Buffer.from(body.toString(), 'latin1');
  const isReordered = members !== null && 'event_id' in members && Object.keys(members).join() !== ENVELOPE;
  if (isReordered || [serialisedAgain, asLatin1].some((bytes) => signedBy(signature, bytes))) return 'body_was_changed';
  return members !== null && signedBy(members['signature'], withoutSignature(body))
    ? 'header_of_another_request'
    : 'wrong_secret';
}

function membersOf(body: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** The bytes that the body's signature field signs: the envelope before the field was added at its end. */
function withoutSignature(body: Buffer): Buffer {
  const at = body.lastIndexOf(',"signature":"');
  return at < 0 ? body : Buffer.concat([body.subarray(0, at), Buffer.from('}')]);
}
