import type { LookupAddress } from 'node:dns';
import http, { type Agent, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { callbackify } from 'node:util';

import {
  createEgressAgents,
  createResolve,
  targetOf,
  vettedAddresses,
  type EgressAgentOptions,
  type EgressGuard,
  type Resolve,
} from '../egress/egress.ts';
import { failureOf, timeoutFailure, unexpectedStatus, type Failure, type Phase } from './failure.ts';

type SendRequest = { url: string; headers: Record<string, string>; body: Buffer };

/** Milliseconds; null for a skipped phase (a reused connection), and for one that was not reached. */
type Timings = Record<'dnsMs' | 'connectMs' | 'tlsMs' | 'firstByteMs', number | null>;
const NO_TIMINGS: Timings = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null };

/** The result of one POST. */
export type SendResult = {
  /** A status line of 200–299 arrived in time. */
  ok: boolean;
  httpStatus: number | null;
  /** For the merchant; never contains an address that a name resolved to. */
  failure: Failure | null;
  /** Until the status line or the failure. */
  durationMs: number;
  timings: Timings;
  /** At most 64, in lower case. */
  responseHeaders: Record<string, string>;
  /** At most 16 KiB of the body as clean text. */
  responseExcerpt: string;
};

export type SenderOptions = EgressAgentOptions & {
  guard: EgressGuard;
  /** One timeout over DNS, connect, TLS, sending and the status line; 3,000 unless given. */
  timeoutMs?: number;
  /** Resolves names in place of the machine's name servers. */
  resolve?: Resolve;
};

export type Sender = ReturnType<typeof createSender>;

const HEADER_BYTES_MAX = 32_768;
const EXCERPT_BYTES_MAX = 16_384;
const EXCERPT_MS_MAX = 1_000;
const HEADERS_MAX = 64;
const HEADER_NAME_CHARACTERS_MAX = 128;
const HEADER_VALUE_CHARACTERS_MAX = 512;
/** With a larger share of unreadable characters a body is not stored as text. */
const UNREADABLE_SHARE_MAX = 0.1;

/**
 * Sends webhooks over connections that are kept alive. Follows no redirects, decompresses nothing, and reads at most 16 KiB
 * of the body for at most 1 s; the body never changes the result.
 */
export function createSender(options: SenderOptions) {
  const { guard, timeoutMs = 3_000, resolve = createResolve() } = options;
  const agents = createEgressAgents(options, true);
  const fresh = createEgressAgents(options, false);
  const sending = new Set<Promise<SendResult>>();

  const post = async (request: SendRequest, url: URL): Promise<SendResult> => {
    const startedAt = performance.now();
    const addresses = async () => vettedAddresses(url, { guard, resolve });
    let exchange = new Exchange({ request, url, addresses, agent: agents.agentFor(url) });
    // In a busy process a status may have arrived in time and not be read yet when the timer fires: it is read first.
    const timer = setTimeout(() => setImmediate(() => exchange.timeOut(timeoutMs)), timeoutMs);
    let response = await exchange.response;
    if (exchange.wasClosedWhileIdle(response)) {
      exchange = new Exchange({ request, url, addresses, agent: fresh.agentFor(url) });
      response = await exchange.response;
    }
    clearTimeout(timer);
    const timings = { ...exchange.timings };
    const durationMs = Math.round(performance.now() - startedAt);
    if ('failure' in response) return { ...unsentResult(response.failure), durationMs, timings };
    const { statusCode: httpStatus = 0, headers } = response;
    const ok = httpStatus >= 200 && httpStatus < 300;
    return {
      ok,
      httpStatus,
      failure: ok ? null : unexpectedStatus(httpStatus),
      durationMs,
      timings,
      responseHeaders: headersToStore(headers),
      responseExcerpt: excerptOf(await readBeginning(response), headers),
    };
  };

  return {
    /** Makes one POST. Errors of the receiver or the network are results; throws for an invalid URL or header. */
    send: (request: SendRequest): Promise<SendResult> => {
      const url = new URL(request.url);
      const rejection = guard.rejection(url);
      if (rejection !== null) {
        const message = `Nothing was sent: the URL ${rejection}.`;
        return Promise.resolve(unsentResult({ code: 'address_not_allowed', message }));
      }
      const result = post(request, url).finally(() => sending.delete(result));
      sending.add(result);
      return result;
    },
    /** Waits for running sends (at most 4 s), then closes the connections. */
    close: async (): Promise<void> => {
      await Promise.allSettled(sending);
      agents.close();
    },
  };
}

/** The result without a status line. */
export function unsentResult(failure: Failure): SendResult {
  return {
    ok: false,
    httpStatus: null,
    failure,
    durationMs: 0,
    timings: NO_TIMINGS,
    responseHeaders: {},
    responseExcerpt: '',
  };
}

type Job = { request: SendRequest; url: URL; addresses: () => Promise<LookupAddress[]>; agent: Agent };

/** One request over one connection, until its status line. */
class Exchange {
  /** The response with its body unread, or the failure. */
  readonly response: Promise<IncomingMessage | { failure: Failure; error?: NodeJS.ErrnoException }>;
  readonly timings: Timings = { ...NO_TIMINGS };
  readonly #request: ClientRequest;
  #complete: (response: Awaited<Exchange['response']>) => void = () => {};
  #isComplete = false;
  #phase: Phase;
  #phaseSince = performance.now();
  #bytesReadBefore = 0;

  /** Throws for an invalid header. */
  constructor({ request, url, addresses, agent }: Job) {
    const isSecure = url.protocol === 'https:';
    const target = targetOf(url);
    this.#phase = target.isAddress ? 'connect' : 'dns';
    this.response = new Promise((resolve) => {
      this.#complete = (response) => {
        this.#isComplete = true;
        resolve(response);
      };
    });
    this.#request = (isSecure ? https : http).request(url, {
      method: 'POST',
      agent,
      headers: request.headers,
      maxHeaderSize: HEADER_BYTES_MAX,
      // SNI is the name without a full stop at its end.
      ...(isSecure && !target.isAddress && { servername: target.host }),
      lookup: callbackify(async (_host: string, _options: object) => {
        const found = await addresses();
        this.#enter('connect', 'dnsMs');
        return found;
      }),
    });
    this.#request.on('socket', (socket) => this.#watch(socket, isSecure));
    this.#request.on('response', (response) => {
      this.#enter('open', 'firstByteMs');
      this.#complete(response);
    });
    this.#request.on('error', (error: NodeJS.ErrnoException) => {
      this.#complete({ failure: failureOf(error, { phase: this.#phase, host: url.hostname }), error });
    });
    this.#request.on('upgrade', (_response, socket) => {
      socket.destroy();
      this.#complete({ failure: unexpectedStatus(101) });
    });
    this.#request.end(request.body);
  }

  timeOut(timeoutMs: number): void {
    if (this.#isComplete) return;
    this.#complete({ failure: timeoutFailure(this.#phase, timeoutMs) });
    this.#request.destroy();
  }

  /** Receivers close idle connections, often just as the next request is written. */
  wasClosedWhileIdle(response: Awaited<Exchange['response']>): boolean {
    const { reusedSocket, socket } = this.#request;
    const isReset = 'failure' in response && /^(ECONNRESET|EPIPE)$/.test(response.error?.code ?? '');
    return isReset && reusedSocket && socket?.bytesRead === this.#bytesReadBefore;
  }

  #watch(socket: Socket, isSecure: boolean): void {
    this.#bytesReadBefore = socket.bytesRead;
    if (this.#request.reusedSocket) return this.#enter('open');
    const connected = (): void => this.#enter(isSecure ? 'tls' : 'open', 'connectMs');
    if (socket.connecting) socket.once('connect', connected);
    else connected();
    if (isSecure) socket.once('secureConnect', () => this.#enter('open', 'tlsMs'));
  }

  /** @param timing of the phase that ends. */
  #enter(phase: Phase, timing?: keyof Timings): void {
    const now = performance.now();
    if (timing) this.timings[timing] = Math.round((now - this.#phaseSince) * 10) / 10;
    this.#phase = phase;
    this.#phaseSince = now;
  }
}

/** The first 16 KiB of the body that arrive within 1 s. The rest is not read: the connection is closed. */
async function readBeginning(response: IncomingMessage): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  let bytesLeft = EXCERPT_BYTES_MAX;
  const timer = setTimeout(() => response.destroy(), EXCERPT_MS_MAX);
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk.subarray(0, bytesLeft));
    if (chunk.length > bytesLeft) response.destroy();
    bytesLeft = Math.max(bytesLeft - chunk.length, 0);
  });
  if (!response.closed) await new Promise((resolve) => response.once('close', resolve));
  clearTimeout(timer);
  return chunks;
}

/** The response headers to store: at most 64, each cut to 512 characters, without control characters. */
function headersToStore(headers: IncomingHttpHeaders): Record<string, string> {
  const received = Object.entries(headers).filter(([name]) => name !== '__proto__');
  const stored = received.map(([name, value]) => [
    clean(name.slice(0, HEADER_NAME_CHARACTERS_MAX)),
    clean([value].flat().join(', ').slice(0, HEADER_VALUE_CHARACTERS_MAX)),
  ]);
  return Object.fromEntries(stored.slice(0, HEADERS_MAX)) as Record<string, string>;
}

/** The beginning of a body as text that PostgreSQL accepts; of a compressed or binary one only its size. */
function excerptOf(chunks: readonly Buffer[], headers: IncomingHttpHeaders): string {
  const [first] = chunks;
  if (first === undefined) return '';
  const bytes = chunks.length === 1 ? first : Buffer.concat(chunks);
  const encoding = String(headers['content-encoding'] ?? 'identity');
  if (encoding !== 'identity') return clean(`(${bytes.length} bytes in ${encoding.slice(0, 40)}, not decoded)`);
  // As a stream, so that a character cut in two at the end is left out rather than replaced.
  const text = new TextDecoder().decode(bytes, { stream: true });
  const unreadable = text.match(/[\0\uFFFD]/g)?.length ?? 0;
  if (unreadable > text.length * UNREADABLE_SHARE_MAX) return `(${bytes.length} bytes, not text)`;
  return clean(text);
}

/** Without halves of characters, and without control characters but tab and line breaks. */
function clean(text: string): string {
  return text.replace(/\p{Cs}|[^\P{Cc}\t\n\r]/gu, '');
}
