import { isIP } from 'node:net';

import { canonicalAddress, createAddressPolicy, isLoopback, type AddressRules } from '../../lib/address-policy.ts';
import type { Environment } from '../../lib/scope.ts';

export type EgressOptions = AddressRules & {
  /** Ports a webhook may use; on loopback any. */
  ports: readonly number[];
};

/** Where requests to merchants' addresses may go. */
export type EgressGuard = {
  /**
   * What is wrong with a URL that a merchant wants to save, each as words that follow the field's name
   * ("must use https, got http"); empty when it is fine. In live no IP address may stand in it.
   */
  checkUrl: (text: string, environment: Environment) => string[];
  /** The same at send time, for what can be judged before the name is resolved; null when it may go on. */
  rejection: (url: URL) => string | null;
  /** Whether every one of these resolved addresses may be connected to; false for none at all. */
  allPublic: (addresses: readonly string[]) => boolean;
};

const URL_CHARACTERS_MAX = 2_000;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

/** Throws when `deny` holds something that is no address or block. */
export function createEgressGuard(options: EgressOptions): EgressGuard {
  const isAllowed = createAddressPolicy(options);

  const problemsOf = (url: URL): string[] => {
    const target = targetOf(url);
    const loopback = options.allowLoopback && target.loopback;
    const problems: string[] = [];
    if (url.protocol !== 'https:' && !(loopback && url.protocol === 'http:')) {
      problems.push(`must use https, got ${url.protocol.slice(0, -1)}`);
    }
    if (url.username !== '' || url.password !== '') problems.push('must not contain a user name or password');
    // Another protocol's own port says nothing: that one is refused already.
    const portCounts = url.protocol === 'https:' || url.port !== '';
    if (!loopback && portCounts && !options.ports.includes(target.port)) {
      problems.push(`must use port ${options.ports.join(' or ')}, got ${target.port}`);
    }
    if (target.address !== null) {
      if (!isAllowed(target.address)) problems.push(`must be reachable from the internet, but ${target.host} is not`);
    } else if (target.loopback ? !loopback : !target.host.includes('.')) {
      problems.push(`must name a host on the internet, such as hooks.example.com, got "${target.host}"`);
    }
    return problems;
  };

  return {
    checkUrl: (text, environment) => {
      if (text.length > URL_CHARACTERS_MAX) return [`must have at most 2,000 characters, got ${text.length}`];
      // URL parsing drops blanks and line breaks silently: what is saved would not be what was judged.
      if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) {
        return ['must be a full URL such as https://hooks.example.com/meskot, without blanks'];
      }
      const url = new URL(text);
      const problems = problemsOf(url);
      if (environment === 'live' && targetOf(url).address !== null) {
        problems.push('must have a host name in live, not an IP address');
      }
      return problems;
    },
    rejection: (url) => problemsOf(url)[0] ?? null,
    allPublic: (addresses) => addresses.length > 0 && addresses.every(isAllowed),
  };
}

export type EgressTarget = {
  /** The host without brackets and without the full stop at its end. */
  host: string;
  port: number;
  /** The address when the host is an IP literal; nothing is resolved then. */
  address: string | null;
  /** Whether the host says this machine: a loopback address, `localhost` or a name under it. */
  loopback: boolean;
};

/** Whom a URL means, judged on what the parser made of it: `http://0x7f.1` has become 127.0.0.1 by then. */
export function targetOf(url: URL): EgressTarget {
  const bare = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const host = bare.endsWith('.') ? bare.slice(0, -1) : bare;
  const address = isIP(host) === 0 ? null : canonicalAddress(host);
  return {
    host,
    port: url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port),
    address,
    loopback: address === null ? /^(.+\.)?localhost$/.test(host) : isLoopback(address),
  };
}
