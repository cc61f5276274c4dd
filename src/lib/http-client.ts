import { Agent, request } from 'undici';

import { readBody } from './body.ts';

export type HttpRequest = {
  method: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  body?: string;
  /** The whole call's limit, from connecting to the last byte: `AbortSignal.timeout(timeoutMs)`. */
  signal: AbortSignal;
};

/** The result of a call: a response of any status, or none. */
type HttpResult =
  | { kind: 'response'; status: number; text: string }
  | { kind: 'failed'; reason: 'timeout' | 'network' | 'too-large'; message: string };

export type HttpClient = {
  /** Never throws for failures of the server or the network; does not follow redirects. */
  send: (call: HttpRequest) => Promise<HttpResult>;
  close: () => Promise<void>;
};

/** A client for configured addresses (providers), with one connection pool. Not for addresses that merchants give. */
export function createHttpClient({ bodyBytesMax = 65_536, connectionsMax = 64 } = {}): HttpClient {
  const agent = new Agent({ connections: connectionsMax, connect: { timeout: 2_000 } });
  return {
    async send({ url, method, headers, body, signal }) {
      try {
        const response = await request(url, {
          method,
          signal,
          dispatcher: agent,
          headers: headers ?? {},
          body: body ?? null,
        });
        const bytes = await readBody(response.body, bodyBytesMax);
        if (bytes === null) return { kind: 'failed', reason: 'too-large', message: `more than ${bodyBytesMax} bytes` };
        return { kind: 'response', status: response.statusCode, text: bytes.toString() };
      } catch (error) {
        return failure(error, signal);
      }
    },
    close: () => agent.destroy(),
  };
}

function failure(error: unknown, signal: AbortSignal): HttpResult {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : String(error);
  if (signal.aborted || /TIMEOUT/.test(code))
    return { kind: 'failed', reason: 'timeout', message: 'no response in time' };
  return { kind: 'failed', reason: 'network', message: code };
}
