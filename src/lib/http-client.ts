import { Agent, request } from 'undici';

import { readBody } from './body.ts';

export type HttpRequest = {
  method: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  body?: string | null;
  /** The whole call's limit, from connecting to the last byte: `AbortSignal.timeout(timeoutMs)`. */
  signal: AbortSignal;
};

/** The result of a call: a response of any status, or none. */
export type HttpResult =
  /** retryAfterMs: from its Retry-After, if it has one. */
  | { kind: 'response'; status: number; text: string; retryAfterMs?: number }
  /** rate-limit: not sent at all, by a client with a limit. */
  | { kind: 'failed'; reason: 'timeout' | 'network' | 'too-large' | 'rate-limit'; message: string };

const BODY_BYTES_MAX = 65_536;
const CONNECTIONS_MAX = 64;

export type HttpClient = ReturnType<typeof createHttpClient>;

/** A client for configured addresses (providers), with one connection pool. Not for addresses that merchants give. */
export function createHttpClient() {
  const agent = new Agent({ connections: CONNECTIONS_MAX, connect: { timeout: 2_000 } });
  return {
    /** Never throws for failures of the server or the network; does not follow redirects. */
    send: async ({ url, method, headers = {}, body = null, signal }: HttpRequest): Promise<HttpResult> => {
      try {
        const response = await request(url, { method, signal, dispatcher: agent, headers, body });
        const bytes = await readBody(response.body, BODY_BYTES_MAX);
        if (bytes === null)
          return { kind: 'failed', reason: 'too-large', message: `more than ${BODY_BYTES_MAX} bytes` };
        const retryAfterMs = readRetryAfter(response.headers);
        const wait = retryAfterMs > 0 ? { retryAfterMs } : {};
        return { kind: 'response', status: response.statusCode, text: bytes.toString(), ...wait };
      } catch (error) {
        return failure(error, signal);
      }
    },
    close: (): Promise<void> => agent.destroy(),
  };
}

/** Seconds, or a date by the server's own clock; NaN or at most 0 without a wait. */
function readRetryAfter({ date, 'retry-after': after }: Record<string, string | string[] | undefined>): number {
  return /^\d+$/.test(String(after)) ? Number(after) * 1_000 : Date.parse(String(after)) - Date.parse(String(date));
}

function failure(error: unknown, signal: AbortSignal): HttpResult {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : String(error);
  if (signal.aborted || /TIMEOUT/.test(code))
    return { kind: 'failed', reason: 'timeout', message: 'no response in time' };
  return { kind: 'failed', reason: 'network', message: code };
}
