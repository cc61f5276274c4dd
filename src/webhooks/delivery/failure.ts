/** Why an attempt failed. Ours are `interrupted`: the process that was sending died; and `internal_error`: a defect. */
export type FailureCode =
  | 'http_status'
  | 'timeout'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'connection_reset'
  | 'address_not_allowed'
  | 'interrupted'
  | 'internal_error';

/** What the merchant reads in the log: no addresses that names resolved to, nothing of our network. */
export type Failure = { code: FailureCode; message: string };

/** How far a request has come. */
export type Phase = 'dns' | 'connect' | 'tls' | 'open';

const WAITED_FOR: Readonly<Record<Phase, string>> = {
  dns: 'the host name was still being resolved',
  connect: 'the connection was not open yet',
  tls: 'the TLS handshake was not finished',
  open: 'the request was sent, but no status line came',
};

const TLS_REASONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate chain ends in a self-signed certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate chain is incomplete: the intermediate certificate is not sent',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate chain is incomplete or its authority is not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name',
};

/** In a message of OpenSSL's, which has no other words: "…:SSL routines:ssl3_get_record:wrong version number:…". */
const OPENSSL_REASON = /SSL routines:\w*:([\w ]+)/;
const MESSAGE_CHARACTERS_MAX = 300;

/** The clock ran out, and what it was waiting for. */
export function timeoutFailure(phase: Phase, timeoutMs: number): Failure {
  return { code: 'timeout', message: `No answer within ${timeoutMs / 1000} s: ${WAITED_FOR[phase]}.` };
}

/** A status outside 200–299. */
export function unexpectedStatus(status: number): Failure {
  const why =
    status >= 300 && status < 400 ? 'redirects are not followed' : 'only 200 to 299 says that it was received';
  return { code: 'http_status', message: `The endpoint answered ${status}; ${why}.` };
}

/** What an error of the network means, by how far the connection had come. Only its code or OpenSSL's reason is quoted, never its text. */
export function failureOf(error: NodeJS.ErrnoException, at: { phase: Phase; host: string }): Failure {
  const code = error.code ?? error.name;
  if (error.name === 'EgressRejected') {
    return {
      code: 'address_not_allowed',
      message: `Nothing was sent: ${at.host} does not resolve to public addresses only.`,
    };
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
    return { code: 'connection_reset', message: 'The answer has more than 32 KiB of headers.' };
  if (code.startsWith('HPE_')) return { code: 'connection_reset', message: 'The answer is not valid HTTP/1.1.' };
  return { code: 'connection_reset', message: `The connection was closed before a status line came (${code}).` };
}
