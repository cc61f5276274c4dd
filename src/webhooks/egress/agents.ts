import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import net, { type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';

import { targetOf, type EgressGuard } from './egress.ts';

/** Finds a name's addresses. Rejects with the resolver's code (ENOTFOUND, ESERVFAIL …) when there is none. */
export type Resolve = (host: string) => Promise<string[]>;

export type EgressAgentOptions = {
  /** All but loopback goes through this HTTP proxy, to the vetted address and never to a name. */
  proxyUrl?: string | undefined;
  /** Certificate authorities trusted in place of the machine's, as PEM. */
  trustedCa?: string | undefined;
  /** Connections kept open between requests, over all hosts. */
  idleMax: number;
};

/** A name that resolves to an address which is not public. The address is not in the message. */
export class EgressRejected extends Error {
  override readonly name = 'EgressRejected';
}

/** Receivers close idle connections, many after 5 s. */
const IDLE_MS = 4_000;
/** Long enough for a handshake across continents, short enough to try a second address within a send. */
const ADDRESS_ATTEMPT_MS = 600;
const TUNNEL_MS = 3_000;
const TLS_SESSIONS_MAX = 500;

/** IPv4 first. Asked without the thread pool, so that one name server that hangs delays no other name. */
export function createResolve(): Resolve {
  const resolver = new Resolver({ timeout: 1_000, tries: 3 });
  return async (host) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
    return [v4, v6].flatMap((response) => (response.status === 'fulfilled' ? response.value : []));
  };
}

/**
 * The addresses that a request to this URL may connect to, resolved once. Node asks for them where the host is a name: an
 * IP literal is judged by `EgressGuard.refusal`. Throws EgressRejected if any of them is not public.
 */
export async function vettedAddresses(url: URL, { guard, resolve }: Vetting): Promise<LookupAddress[]> {
  const target = targetOf(url);
  const found = target.loopback ? ['127.0.0.1', '::1'] : await resolve(target.host);
  if (found.length === 0) throw Object.assign(new Error('the name has no address'), { code: 'ENODATA' });
  if (!guard.allPublic(found)) throw new EgressRejected('an address is not public');
  return found.map((address) => ({ address, family: net.isIP(address) }));
}

export type Vetting = { guard: EgressGuard; resolve: Resolve };

export type EgressAgents = { agentFor: (url: URL) => http.Agent; close: () => void };

/**
 * Node's own agents. undici's do not say whether a connection was reused, which decides whether a reset may be tried
 * again, nor how far a connection had come when the time was over.
 * @param keepAlive false for connections that carry one request.
 */
export function createEgressAgents(
  { idleMax, trustedCa, proxyUrl }: EgressAgentOptions,
  keepAlive: boolean,
): EgressAgents {
  const options = {
    keepAlive,
    timeout: IDLE_MS,
    maxFreeSockets: idleMax,
    maxCachedSessions: TLS_SESSIONS_MAX,
    ALPNProtocols: ['http/1.1'],
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    ...(trustedCa !== undefined && { ca: trustedCa }),
  };
  // Only loopback is spoken to without TLS.
  const plain = new http.Agent(options);
  const direct = new SecureAgent(options);
  const proxied = proxyUrl === undefined ? direct : new ProxiedAgent(options, new URL(proxyUrl));
  return {
    agentFor: (url) => (url.protocol === 'http:' ? plain : targetOf(url).loopback ? direct : proxied),
    close: () => {
      for (const agent of [plain, direct, proxied]) agent.destroy();
    },
  };
}

/** Keeps `maxFreeSockets` connections in all, and ends an old one for a new one; Node keeps as many for each host. */
class SecureAgent extends https.Agent {
  override keepSocketAlive(socket: Duplex): boolean {
    const idle = Object.values(this.freeSockets).flatMap((sockets) => sockets?.filter((one) => !one.destroyed) ?? []);
    if (idle.length >= this.maxFreeSockets) idle[0]?.destroy();
    return Boolean(super.keepSocketAlive(socket));
  }
}

type Created = (error: Error | null, socket: Duplex) => void;

class ProxiedAgent extends SecureAgent {
  readonly #proxy: URL;

  constructor(options: https.AgentOptions, proxy: URL) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(options: Target, created: Created): undefined {
    void openTunnel(this.#proxy, options)
      .then((socket) => created(null, super.createConnection({ ...options, socket } as Target) as Duplex))
      .catch((error: Error) => created(error, undefined as unknown as Duplex));
  }
}

type Target = { host: string; port: number; lookup: LookupFunction };

/** A connection through the proxy to the vetted address of the options' host. */
async function openTunnel(proxy: URL, { host, port, lookup }: Target): Promise<Duplex> {
  const [vetted] =
    net.isIP(host) === 0 ? ((await promisify(lookup)(host, {})) as LookupAddress[]) : [{ address: host }];
  const authority = `${net.isIPv6(vetted?.address ?? '') ? `[${vetted?.address}]` : vetted?.address}:${port}`;
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return new Promise((resolve, reject) => {
    const request = (proxy.protocol === 'https:' ? https : http).request(proxy, {
      method: 'CONNECT',
      path: authority,
      agent: false,
      auth: null,
      timeout: TUNNEL_MS,
      headers: {
        host: authority,
        ...(proxy.username !== '' && { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }),
      },
    });
    request.on('error', reject);
    request.on('timeout', () => request.destroy(new Error('the proxy did not answer in time')));
    request.on('connect', (response, socket) => {
      if (response.statusCode === 200) return resolve(socket.setTimeout(0));
      socket.destroy();
      return reject(new Error('the proxy did not open the connection'));
    });
    request.end();
  });
}
