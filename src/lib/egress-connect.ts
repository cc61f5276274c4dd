import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import net, { type LookupFunction, type Socket } from 'node:net';
import tls from 'node:tls';

import { targetOf, type EgressGuard, type EgressTarget } from './egress.ts';

/** Finds a name's addresses. Rejects with the resolver's code (ENOTFOUND, ESERVFAIL …) when there is none. */
export type Resolve = (host: string) => Promise<string[]>;

/** How far a connection has come, and what each step took; null for a step not finished or not needed. */
export type ConnectProgress = {
  phase: 'dns' | 'connect' | 'tls' | 'open';
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
};

/** Opens a socket to a URL's host, writing its progress down. Aborting the signal ends it with all it opened. */
export type Connect = (url: URL, progress: ConnectProgress, signal: AbortSignal) => Promise<Socket>;

export type ConnectOptions = {
  guard: EgressGuard;
  resolve: Resolve;
  /** All but loopback goes through this HTTP proxy, still to the vetted address and never to a name. */
  proxyUrl?: string | undefined;
  /** Certificate authorities trusted in place of the machine's, as PEM. */
  trustedCa?: string | undefined;
};

/** A name that resolves to an address which is not public. Says nothing about the address. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused';
}

const TLS_SESSIONS_MAX = 500;
/** Long enough for a handshake across continents, short enough to try a second address within a send. */
const ADDRESS_ATTEMPT_MS = 600;

/** IPv4 first. Asked without the thread pool, so that one name server that hangs delays no other name. */
export function createResolve(): Resolve {
  const resolver = new Resolver({ timeout: 1_000, tries: 3 });
  return async (host) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
    return [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/** Resolves once, refuses if any address is not public, and connects to exactly the addresses it has judged. */
export function createConnect(options: ConnectOptions): Connect {
  const startTls = createTlsStarter(options.trustedCa);
  const proxy = options.proxyUrl === undefined ? null : new URL(options.proxyUrl);

  const vettedAddresses = async (target: EgressTarget): Promise<[string, ...string[]]> => {
    const [first, ...others] = await addressesOf(target, options.resolve);
    if (first === undefined) throw Object.assign(new Error('the name has no address'), { code: 'ENODATA' });
    if (!options.guard.allPublic([first, ...others])) throw new EgressRefused('an address is not public');
    return [first, ...others];
  };

  return async (url, progress, signal) => {
    const target = targetOf(url);
    const watch = stopwatch();
    Object.assign(progress, { phase: 'dns', dnsMs: null, connectMs: null, tlsMs: null });
    const addresses = await vettedAddresses(target);
    signal.throwIfAborted();
    if (target.address === null) progress.dnsMs = watch();

    progress.phase = 'connect';
    const plain =
      proxy === null || target.loopback
        ? await openTcp(addresses, target.port, signal)
        : await openTunnel(proxy, `${bracketed(addresses[0])}:${target.port}`, signal);
    progress.connectMs = watch();

    let socket = plain;
    if (url.protocol === 'https:') {
      progress.phase = 'tls';
      socket = await startTls(plain, target, signal);
      progress.tlsMs = watch();
    }
    progress.phase = 'open';
    return socket;
  };
}

async function addressesOf(target: EgressTarget, resolve: Resolve): Promise<string[]> {
  if (target.address !== null) return [target.address];
  return target.loopback ? ['127.0.0.1', '::1'] : resolve(target.host);
}

async function openTcp(addresses: readonly [string, ...string[]], port: number, signal: AbortSignal): Promise<Socket> {
  const lookup: LookupFunction = (_host, _options, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: net.isIP(address) })),
    );
  const socket = net.connect({
    // Not a name of anybody: the lookup above is all that can answer for it.
    host: addresses.length === 1 ? addresses[0] : 'vetted.invalid',
    port,
    lookup,
    noDelay: true,
    keepAlive: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
  });
  return ready(socket, 'connect', signal);
}

/** TLS over an open socket, resuming earlier sessions of the same host: a handshake without certificates is cheap. */
function createTlsStarter(ca: string | undefined) {
  const sessions = new Map<string, Buffer>();
  return async (plain: Socket, target: EgressTarget, signal: AbortSignal): Promise<Socket> => {
    const key = `${target.host}:${target.port}`;
    const session = sessions.get(key);
    const socket = tls.connect({
      socket: plain,
      host: target.host,
      ALPNProtocols: ['http/1.1'],
      ...(target.address === null ? { servername: target.host } : {}),
      ...(session === undefined ? {} : { session }),
      ...(ca === undefined ? {} : { ca }),
    });
    socket.on('session', (fresh) => {
      sessions.delete(key);
      sessions.set(key, fresh);
      if (sessions.size > TLS_SESSIONS_MAX) sessions.delete(sessions.keys().next().value ?? key);
    });
    return ready(socket, 'secureConnect', signal);
  };
}

function openTunnel(proxy: URL, authority: string, signal: AbortSignal): Promise<Socket> {
  const secure = proxy.protocol === 'https:';
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return new Promise((resolve, reject) => {
    const request = (secure ? httpsRequest : httpRequest)({
      host: proxy.hostname,
      port: proxy.port === '' ? (secure ? 443 : 80) : proxy.port,
      method: 'CONNECT',
      path: authority,
      agent: false,
      signal,
      headers: {
        host: authority,
        ...(proxy.username === ''
          ? {}
          : { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }),
      },
    });
    request.on('error', reject);
    request.on('connect', (response, socket: Socket) => {
      if (response.statusCode === 200) return resolve(ready(socket, null, signal));
      socket.destroy();
      return reject(new Error('the proxy did not open the connection'));
    });
    request.end();
  });
}

/** The socket once it has emitted the event; aborting the signal destroys it, before and afterwards. */
async function ready(socket: Socket, event: 'connect' | 'secureConnect' | null, signal: AbortSignal): Promise<Socket> {
  // An abandoned socket still emits its error; without a listener that would end the process.
  socket.on('error', () => {});
  const destroy = (): void => void socket.destroy();
  signal.addEventListener('abort', destroy, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', destroy));
  if (event !== null) await once(socket, event, { signal });
  return socket;
}

function stopwatch(): () => number {
  let since = performance.now();
  return () => {
    const elapsedMs = performance.now() - since;
    since += elapsedMs;
    return elapsedMs;
  };
}

function bracketed(address: string): string {
  return net.isIPv6(address) ? `[${address}]` : address;
}
