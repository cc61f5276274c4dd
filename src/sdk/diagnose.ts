import type { VerificationErrorCode } from './verify-webhook.ts';

type Evidence = {
  body: Buffer;
  /** The value of X-Service-Signature. */
  signature: string;
  secrets: readonly string[];
  isSignatureOf: (value: string, key: string, bytes: Buffer) => boolean;
};

type Diagnosis = { reason: VerificationErrorCode; message: string };

const ENVELOPE = ['event', 'event_id', 'api_version', 'created_at', 'data', 'signature'].join();

/**
 * The likely cause of a signature that does not match: undoes each common mistake in turn and checks whether the signature
 * would match then. Never makes a request valid.
 */
export function diagnose(evidence: Evidence): Diagnosis {
  return (
    headerProblem(evidence) ??
    secretProblem(evidence) ??
    bodyProblem(evidence) ?? {
      reason: 'wrong_secret',
      message:
        'The signature does not match. Most likely the secret is of another subscription, of the other environment (sandbox and live have different ones; a request does not show which), or has been rotated. If the secret is right, the body was changed in transit.',
    }
  );
}

function headerProblem({ body, signature }: Evidence): Diagnosis | null {
  const value = signature.trim();
  if (/^v\d,/.test(value)) {
    return {
      reason: 'header_malformed',
      message:
        'This is the value of webhook-signature. Pass all headers as received: the signature is in X-Service-Signature.',
    };
  }
  if (!/^(sha256=)?([0-9a-f]{64}|[A-Za-z0-9+/]{43}=?)$/i.test(value)) {
    return {
      reason: 'header_malformed',
      message:
        'X-Service-Signature is neither base64 nor hex of a SHA-256 signature: it was cut or changed in transit.',
    };
  }
  if (membersOf(body)?.['signature'] === value) {
    return {
      reason: 'signature_from_body',
      message:
        'The value is the "signature" field of the body. It signs the body without the field: use the header X-Service-Signature.',
    };
  }
  return null;
}

function secretProblem({ body, signature, secrets, isSignatureOf }: Evidence): Diagnosis | null {
  for (const secret of secrets) {
    const bare = secret.trim().replace(/^(["'])(.*)\1$/, '$2');
    if (bare !== secret && isSignatureOf(signature, bare, body)) {
      return {
        reason: 'secret_has_extra_characters',
        message: 'The secret has blanks, a line break or quotes around it that are not part of it. Remove them.',
      };
    }
    if (!bare.startsWith('whsec_') && isSignatureOf(signature, `whsec_${bare}`, body)) {
      return {
        reason: 'secret_prefix_missing',
        message: 'The secret lacks its beginning "whsec_". The key is the whole text as displayed.',
      };
    }
  }
  return null;
}

function bodyProblem({ body, signature, secrets, isSignatureOf }: Evidence): Diagnosis | null {
  if (body.length === 0) {
    return {
      reason: 'body_missing',
      message: 'The body is empty: something has read the request before. Read the raw body before any body parser.',
    };
  }
  const signedBy = (value: unknown, bytes: Buffer): boolean =>
    typeof value === 'string' && secrets.some((secret) => isSignatureOf(value, secret, bytes));

  const members = membersOf(body);
  const reserialised = members === null ? body : Buffer.from(JSON.stringify(members));
  const asLatin1 = Buffer.from(body.toString(), 'latin1');
  const reordered = members !== null && 'event_id' in members && Object.keys(members).join() !== ENVELOPE;
  if (reordered || [reserialised, asLatin1].some((bytes) => signedBy(signature, bytes))) {
    return {
      reason: 'body_was_changed',
      message:
        'The body was decoded or parsed and serialised again, so that its bytes differ from the signed ones. Verify the raw body, and parse it afterwards.',
    };
  }
  if (members !== null && signedBy(members['signature'], withoutSignature(body))) {
    return {
      reason: 'header_of_another_request',
      message: 'The body and the secret belong together, but X-Service-Signature is of another delivery.',
    };
  }
  return null;
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
