import type { Dispatcher } from 'undici';

import { createConnect, createResolve, type Resolve } from '../lib/egress-connect.ts';
import { createConnections, type Connection, type Connections } from '../lib/egress-connections.ts';
import type { EgressGuard } from '../lib/egress.ts';
import { excerptOf, keptHeaders, type RawHeaders } from './answer.ts';
import { failureOf, timeoutFailure, unexpectedStatus, type Failure } from './failure.ts';

export type SendRequest = { url: string; headers: Record<string, string>; body: Buffer };

/** What became of one POST. Times are in milliseconds; a part that did not happen (a reused connection) is null. */
export type SendResult = {
  /** A status line of 200–299 came in time. */
  ok: boolean;
  httpStatus: number | null;
  /** Words for the merchant; never an address that a name resolved to. */
  failure: Failure | null;
  /** Until the verdict: the status line, or the failure. */
  durationMs: number;
  timings: { dnsMs: number | null; connectMs: number | null; tlsMs: number | null; firstByteMs: number | null };
  /** At most 64, in lower case. */
  responseHeaders: Record<string, string>;
  /** At most 16 KiB of the answer as clean text. */
  responseExcerpt: string;
};

export type SenderOptions = {
  guard: EgressGuard;
  proxyUrl?: string | undefined;
  /** One clock over DNS, connect, TLS, sending and the status line; 3,000 unless said. */
  timeoutMs?: number;
  /** Connections kept open between sends, over all receivers; 256 unless said. */
  idleConnectionsMax?: number;
  /** Name resolution other than the machine's name servers. */
  resolve?: Resolve;
  /** Certificate authorities trusted in place of the machine's, as PEM. */
  trustedCa?: string;
};

export type Sender = {
  /** Makes one POST. Never rejects for what a receiver or the network does; throws when asked for the impossible. */
  send: (request: SendRequest) => Promise<SendResult>;
  /** Lets what is being sent end (at most 4 s), then closes the connections. */
  close: () => Promise<void>;
};

/**
 * Sends webhooks over connections of its own, kept alive. Follows no redirects, decompresses nothing, and reads at most
 * 16 KiB for at most 1 s after the status, which never changes the verdict.
 */
export function createSender(options: SenderOptions): Sender {
  const timeoutMs = options.timeoutMs ?? 3_000;
  const connect = createConnect({ ...options, resolve: options.resolve ?? createResolve() });
  const connections = createConnections({ connect, idleMax: options.idleConnectionsMax ?? 256 });
  const sending = new Set<Promise<SendResult>>();

  return {
    send: (request) => {
      const url = new URL(request.url);
      const refusal = options.guard.refusal(url);
      if (refusal !== null) {
        const message = `Nothing was sent: the URL ${refusal}.`;
        return Promise.resolve(unsentResult({ code: 'blocked_target', message }));
      }
      const result = new Promise<SendResult>((resolve, reject) =>
        new Exchange({ connections, timeoutMs }, { request, url, resolve, reject }).start(),
      );
      sending.add(result);
      const forget = (): void => void sending.delete(result);
      result.then(forget, forget);
      return result;
    },
    close: async () => {
      connections.close();
      await Promise.allSettled(sending);
    },
  };
}

type ExchangeOptions = { connections: Connections; timeoutMs: number };

const EXCERPT_BYTES_MAX = 16_384;
const EXCERPT_MS_MAX = 1_000;

/** The result where nothing was resolved or sent. */
export function unsentResult(failure: Failure): SendResult {
  return {
    ok: false,
    httpStatus: null,
    failure,
    durationMs: 0,
    timings: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
    responseHeaders: {},
    responseExcerpt: '',
  };
}

type Job = {
  request: SendRequest;
  url: URL;
  resolve: (result: SendResult) => void;
  reject: (error: Error) => void;
};

/** One POST under way: waiting for a status until the clock runs out, then reading an excerpt, then ended. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  readonly #job: Job;
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #connection: Connection;
  #ended = false;
  #reused = false;
  #writtenAt: number | null = null;
  #firstByteMs: number | null = null;
  #status: number | null = null;
  #durationMs = 0;
  #headers: RawHeaders = {};
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(options: ExchangeOptions, job: Job) {
    this.#options = options;
    this.#job = job;
    this.#connection = options.connections.take(job.url);
  }

  start(): void {
    // A status that waits to be read when a busy process comes round to the timer came in time: it is read first.
    this.#timer = setTimeout(() => setImmediate(() => this.#timeOut()), this.#options.timeoutMs);
    this.#dispatch();
  }

  #dispatch(): void {
    const { request, url } = this.#job;
    this.#connection.client.dispatch(
      { method: 'POST', path: url.pathname + url.search, headers: request.headers, body: request.body },
      this,
    );
  }

  onRequestStart(): void {
    this.#connection.requests += 1;
    this.#reused = this.#connection.requests > 1;
    this.#writtenAt = performance.now();
  }

  onResponseStarted(): void {
    this.#firstByteMs ??= performance.now() - (this.#writtenAt ?? this.#startedAt);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: RawHeaders): void {
    if (status < 200 || this.#ended) return;
    this.#status = status;
    this.#headers = headers;
    this.#durationMs = performance.now() - this.#startedAt;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end('abandon'), EXCERPT_MS_MAX);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    const kept = chunk.subarray(0, EXCERPT_BYTES_MAX - this.#bytes);
    this.#chunks.push(kept);
    this.#bytes += kept.length;
    if (kept.length < chunk.length) this.#end('abandon');
  }

  onResponseEnd(): void {
    this.#end('keep');
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error & { code?: string }): void {
    if (this.#ended) return;
    if (this.#status !== null) return this.#end('abandon');
    if (error.code === 'UND_ERR_INVALID_ARG') return this.#reject(error);
    if (this.#closedWhileIdle(error)) {
      this.#connection.abandon();
      this.#connection = this.#options.connections.open(this.#job.url);
      this.#reused = false;
      this.#writtenAt = null;
      return this.#dispatch();
    }
    return this.#fail(failureOf(error, { phase: this.#connection.progress.phase, host: this.#job.url.hostname }));
  }

  /** Receivers close connections that were idle, often just as the next request is written. */
  #closedWhileIdle(error: Error & { code?: string }): boolean {
    return this.#reused && this.#firstByteMs === null && /^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/.test(error.code ?? '');
  }

  #timeOut(): void {
    if (this.#ended || this.#status !== null) return;
    const phase = this.#writtenAt === null ? this.#connection.progress.phase : 'open';
    this.#fail(timeoutFailure(phase, this.#options.timeoutMs));
  }

  #reject(error: Error): void {
    this.#close('abandon');
    this.#job.reject(error);
  }

  #fail(failure: Failure): void {
    this.#durationMs = performance.now() - this.#startedAt;
    this.#close('abandon');
    this.#job.resolve(this.#result(failure));
  }

  #end(connection: 'keep' | 'abandon'): void {
    if (this.#ended) return;
    this.#close(connection);
    const status = this.#status ?? 0;
    this.#job.resolve(this.#result(status >= 200 && status < 300 ? null : unexpectedStatus(status)));
  }

  #close(connection: 'keep' | 'abandon'): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    if (connection === 'keep') this.#options.connections.giveBack(this.#connection);
    else this.#connection.abandon();
  }

  #result(failure: Failure | null): SendResult {
    const { dnsMs, connectMs, tlsMs } = this.#connection.progress;
    return {
      ok: failure === null,
      httpStatus: this.#status,
      failure,
      durationMs: Math.round(this.#durationMs),
      timings: {
        dnsMs: this.#reused ? null : tenths(dnsMs),
        connectMs: this.#reused ? null : tenths(connectMs),
        tlsMs: this.#reused ? null : tenths(tlsMs),
        firstByteMs: tenths(this.#firstByteMs),
      },
      responseHeaders: keptHeaders(this.#headers),
      responseExcerpt: excerptOf(this.#chunks, this.#headers),
    };
  }
}

function tenths(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10;
}
