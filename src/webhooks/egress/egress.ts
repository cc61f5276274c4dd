/**
 * Where requests to merchants' addresses may go, and the connections that carry them. The agents are Node's, not undici's:
 * undici shows neither whether a connection was reused, which decides whether a reset may be sent again, nor which phase a
 * timeout ended. Its pools are per host; here one limit on idle connections and one cache of TLS sessions serve all hosts.
 */
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import net, { isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';

import ipaddr from 'ipaddr.js';

import type { Issue } from '../../lib/issues.ts';
import type { Environment } from '../../lib/scope.ts';

export type EgressOptions = {
  /** Whether loopback counts as reachable: for local use only. */
  allowLoopback: boolean;
  /** Ports a webhook may use; on loopback any. */
  ports: readonly number[];
  /** Addresses or CIDR blocks rejected besides the special ones, such as our own. They win over everything. */
  deny: readonly string[];
};

/** Which URLs and addresses requests may go to. */
export type EgressGuard = ReturnType<typeof createEgressGuard>;

const URL_CHARACTERS_MAX = 2_000;
/** Of IPv6 only this block is public, less the special ranges inside it. */
const IPV6_GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

/** Throws when `deny` contains something that is neither an address nor a block. */
export function createEgressGuard(options: EgressOptions) {
  const denied = options.deny.map(parseBlock);
  const isAllowed = (text: string): boolean => {
    const address = parseAddress(text);
    if (address === null || ipaddr.subnetMatch(address, { denied }, 'other') === 'denied') return false;
    const range = address.range();
    if (range === 'loopback') return options.allowLoopback;
    return range === 'unicast' && (address.kind() === 'ipv4' || address.match(IPV6_GLOBAL_UNICAST));
  };
  const problemsOf = (url: URL): Issue[] => {
    const target = targetOf(url);
    const loopback = options.allowLoopback && target.loopback;
    const problems: Issue[] = [];
    if (url.protocol !== 'https:' && !(loopback && url.protocol === 'http:')) {
      problems.push({ issue: `must use https, got ${url.protocol.slice(0, -1)}`, code: 'not_https' });
    }
    if (url.username !== '' || url.password !== '') {
      problems.push({ issue: 'must not contain a user name or password', code: 'not_a_web_address' });
    }
    // The default port of another protocol is no problem of its own: the protocol is rejected already.
    const portCounts = url.protocol === 'https:' || url.port !== '';
    if (!loopback && portCounts && !options.ports.includes(target.port)) {
      const issue = `must use port ${options.ports.join(' or ')}, got ${target.port}`;
      problems.push({ issue, code: 'wrong_port', params: { allowed: options.ports.join(', ') } });
    }
    if (target.isAddress) {
      const issue = `must be reachable from the internet, but ${target.host} is not`;
      if (!isAllowed(target.host)) problems.push({ issue, code: 'not_reachable' });
    } else if (target.loopback ? !loopback : !target.host.includes('.')) {
      const issue = `must name a host on the internet, such as hooks.example.com, got "${target.host}"`;
      problems.push({ issue, code: 'not_reachable' });
    }
    return problems;
  };

  return {
    /**
     * The problems of a URL that a merchant wants to save, each as words that follow the field's name ("must use https, got
     * http"); empty when there are none. In live the host must be a name.
     */
    checkUrl: (text: string, environment: Environment): Issue[] => {
      if (text.length > URL_CHARACTERS_MAX) {
        const issue = `must have at most 2,000 characters, got ${text.length}`;
        return [{ issue, code: 'too_long', params: { maximum: URL_CHARACTERS_MAX } }];
      }
      // URL parsing drops blanks and line breaks silently: the saved text would differ from the checked URL.
      if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) {
        const issue = 'must be a full URL such as https://hooks.example.com/meskot, without blanks';
        return [{ issue, code: 'not_a_web_address' }];
      }
      const url = new URL(text);
      const problems = problemsOf(url);
      if (environment === 'live' && targetOf(url).isAddress) {
        problems.push({ issue: 'must have a host name in live, not an IP address', code: 'address_in_live' });
      }
      return problems;
    },
    /** The first problem at send time that shows before the name is resolved; null when there is none. */
    rejection: (url: URL): string | null => problemsOf(url)[0]?.issue ?? null,
    /** Whether every one of these resolved addresses may be connected to; false for an empty list. */
    allPublic: (addresses: readonly string[]): boolean => addresses.length > 0 && addresses.every(isAllowed),
  };
}

/** IPv4-mapped IPv6 becomes the IPv4 address it means. Null for a name, and for an address with a zone. */
function parseAddress(text: string) {
  // By itself ipaddr.js also reads 127.1 and 0x7f.0.0.1, and takes ::1.2.3.4 for ::ffff:1.2.3.4.
  return isIP(text) === 0 || /%|^::\d+[.]/.test(text) ? null : ipaddr.process(text);
}

function parseBlock(entry: string) {
  const [network = '', bits] = entry.trim().split('/');
  const prefix = bits ?? (isIP(network) === 4 ? '32' : '128');
  if (isIP(network) === 0 || !ipaddr.isValidCIDR(`${network}/${prefix}`)) {
    throw new Error(`"${entry}" is no IP address or CIDR block, such as 168.63.129.16/32`);
  }
  return ipaddr.parseCIDR(`${network}/${prefix}`);
}

/**
 * The target of a URL as the parser has read it: `http://0x7f.1` has become 127.0.0.1 by then. `host` is without brackets
 * and the full stop at its end; `isAddress`: an IP literal; `loopback`: a loopback address, `localhost` or a name under it.
 */
export function targetOf(url: URL) {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/[.]$/, '');
  const address = parseAddress(host);
  return {
    host,
    port: url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port),
    isAddress: address !== null,
    loopback: address === null ? /^(.+\.)?localhost$/.test(host) : address.range() === 'loopback',
  };
}

/** Finds a name's addresses. Rejects with the resolver's code (ENOTFOUND, ESERVFAIL …) when there are none. */
export type Resolve = (host: string) => Promise<string[]>;

/** IPv4 first. Queries without the thread pool, so that one hanging name server delays no other name. */
export function createResolve(): Resolve {
  const resolver = new Resolver({ timeout: 1_000, tries: 3 });
  return async (host) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
    return [v4, v6].flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  };
}

/** A name that resolves to an address which is not public. The message does not contain the address. */
export class EgressRejected extends Error {
  override readonly name = 'EgressRejected';
}

/**
 * The addresses that a request to this URL may connect to, resolved once. Node calls this where the host is a name;
 * `EgressGuard.rejection` decides on IP literals. Throws EgressRejected if any of the addresses is not public.
 */
export async function vettedAddresses(
  url: URL,
  { guard, resolve }: { guard: EgressGuard; resolve: Resolve },
): Promise<LookupAddress[]> {
  const target = targetOf(url);
  const found = target.loopback ? ['127.0.0.1', '::1'] : await resolve(target.host);
  if (found.length === 0) throw Object.assign(new Error('the name has no address'), { code: 'ENODATA' });
  if (!guard.allPublic(found)) throw new EgressRejected('an address is not public');
  return found.map((address) => ({ address, family: isIP(address) }));
}

export type EgressAgentOptions = {
  /** All requests except to loopback go through this HTTP proxy, to the vetted address and never to a name. */
  proxyUrl?: string | undefined;
  /** Certificate authorities trusted in place of the machine's, as PEM. */
  trustedCa?: string;
  /** Connections kept open between requests, over all hosts; 256 unless given. */
  idleMax?: number;
};

const IDLE_MAX = 256;
/** Receivers close idle connections, many after 5 s. */
const IDLE_MS = 4_000;
/** Long enough for a handshake across continents, short enough to try a second address within a send. */
const ADDRESS_ATTEMPT_MS = 600;
const TUNNEL_MS = 3_000;
const TLS_SESSIONS_MAX = 500;

/** @param keepAlive false for connections that carry one request. */
export function createEgressAgents(
  { idleMax = IDLE_MAX, trustedCa, proxyUrl }: EgressAgentOptions,
  keepAlive: boolean,
) {
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
  // Plain HTTP goes to loopback only.
  const plain = new http.Agent(options);
  const direct = new SecureAgent(options);
  const proxied = proxyUrl === undefined ? direct : new ProxiedAgent(options, new URL(proxyUrl));
  return {
    agentFor: (url: URL): http.Agent => (url.protocol === 'http:' ? plain : targetOf(url).loopback ? direct : proxied),
    close: () => {
      for (const agent of [plain, direct, proxied]) agent.destroy();
    },
  };
}

/** Keeps `maxFreeSockets` connections in all, closing an old one for a new one; Node keeps as many for each host. */
class SecureAgent extends https.Agent {
  override keepSocketAlive(socket: Duplex): boolean {
    const idle = Object.values(this.freeSockets).flatMap((sockets) => sockets?.filter((one) => !one.destroyed) ?? []);
    if (idle.length >= this.maxFreeSockets) idle[0]?.destroy();
    return Boolean(super.keepSocketAlive(socket));
  }
}

type Created = (error: Error | null, socket: Duplex) => void;
type ConnectionOptions = { host: string; port: number; lookup: LookupFunction };

class ProxiedAgent extends SecureAgent {
  readonly #proxy: URL;

  constructor(options: https.AgentOptions, proxy: URL) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(options: ConnectionOptions, created: Created): undefined {
    void vettedAddress(options)
      .then((address) => openTunnel(this.#proxy, address, options.port))
      .then((socket) => created(null, super.createConnection({ ...options, socket } as ConnectionOptions) as Duplex))
      .catch((error: Error) => created(error, undefined as unknown as Duplex));
  }
}

/** The first of the vetted addresses of the options' host. */
async function vettedAddress({ host, lookup }: ConnectionOptions): Promise<string> {
  if (isIP(host) !== 0) return host;
  const [vetted] = (await promisify(lookup)(host, {})) as LookupAddress[];
  if (!vetted) throw new Error('the lookup gave no address');
  return vetted.address;
}

/**
 * Opens a connection through an HTTP proxy to an address. Rejects with the code of the network's error, and where the proxy
 * does not open it with the `status` of its response.
 */
export async function openTunnel(proxy: URL, address: string, port: number): Promise<Duplex> {
  const authority = `${net.isIPv6(address) ? `[${address}]` : address}:${port}`;
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
    request.on('timeout', () => {
      request.destroy(Object.assign(new Error('the proxy did not respond in time'), { code: 'ETIMEDOUT' }));
    });
    request.on('connect', ({ statusCode: status }, socket) => {
      if (status === 200) return resolve(socket.setTimeout(0));
      socket.destroy();
      return reject(Object.assign(new Error('the proxy did not open the connection'), { status }));
    });
    request.end();
  });
}
