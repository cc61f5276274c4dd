/** Why an attempt failed. Causes in this service: `interrupted`, the sending process died; `internal_error`, a defect. */
export const FAILURE_CODES = [
  'http_status',
  'timeout',
  'dns',
  'connect',
  'tls',
  'connection_reset',
  'address_not_allowed',
  'interrupted',
  'internal_error',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/** For the merchant, in the log of an event. Contains no resolved address and nothing about our network. */
export type Failure = { code: FailureCode; message: string };

export type Phase = 'dns' | 'connect' | 'tls' | 'open';

const UNFINISHED: Readonly<Record<Phase, string>> = {
  dns: 'the host name was not resolved yet',
  connect: 'the connection was not open yet',
  tls: 'the TLS handshake was not finished',
  open: 'the request was sent, but no status line came',
};

export const TLS_REASONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate chain ends in a self-signed certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate chain is incomplete: the intermediate certificate is not sent',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate chain is incomplete or its authority is not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name',
};

/** The reason in an OpenSSL message such as "…:SSL routines:ssl3_get_record:wrong version number:…". */
const OPENSSL_REASON = /SSL routines:\w*:([\w ]+)/;
const MESSAGE_CHARACTERS_MAX = 300;

/** The failure when the timeout ends this phase. */
export function timeoutFailure(phase: Phase, timeoutMs: number): Failure {
  return { code: 'timeout', message: `No response within ${timeoutMs / 1000} s: ${UNFINISHED[phase]}.` };
}

/** The failure for a status outside 200–299. */
export function unexpectedStatus(status: number): Failure {
  const why = status >= 300 && status < 400 ? 'redirects are not followed' : 'only 200 to 299 confirms the receipt';
  return { code: 'http_status', message: `The endpoint returned ${status}; ${why}.` };
}

/** The failure for a network error in the given phase. Quotes only the error's code or OpenSSL's reason, never its text. */
export function failureOf(error: NodeJS.ErrnoException, at: { phase: Phase; host: string }): Failure {
  const code = error.code ?? error.name;
  if (error.name === 'EgressRejected') {
    const message = `Nothing was sent: ${at.host} does not resolve to public addresses only.`;
    return { code: 'address_not_allowed', message };
  }
  if (at.phase === 'dns') return { code: 'dns', message: `The host name ${at.host} could not be resolved (${code}).` };
  if (at.phase === 'connect') return { code: 'connect', message: `No connection to ${at.host} was made (${code}).` };
  if (at.phase === 'tls') {
    const detail = OPENSSL_REASON.exec(error.message.slice(0, MESSAGE_CHARACTERS_MAX))?.[1];
    const known = detail === 'wrong version number' ? 'the port does not speak TLS' : TLS_REASONS[code];
    const reason = known ?? 'the TLS handshake failed';
    return { code: 'tls', message: `No secure connection to ${at.host}: ${reason} (${detail ?? code}).` };
  }
  if (code === 'HPE_HEADER_OVERFLOW')
    return { code: 'connection_reset', message: 'The response has more than 32 KiB of headers.' };
  if (code.startsWith('HPE_')) return { code: 'connection_reset', message: 'The response is not valid HTTP/1.1.' };
  return { code: 'connection_reset', message: `The connection was closed before a status line came (${code}).` };
}
