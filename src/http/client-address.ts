import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

/** For a client whose address its proxy does not tell: in no range, and limited together with all others like it. */
const UNKNOWN = 'unknown';

/**
 * The address of the client, in its normal form: of IPv4 that one, also where it is written as IPv6. Behind proxies it is in
 * X-Forwarded-For, at the place of the outermost one, counted from the end: each proxy adds the address it was called from,
 * and what is before ours is the client's own claim.
 */
export function clientAddress(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  proxies: number,
): string {
  const direct = socket.remoteAddress ?? '';
  if (proxies === 0) return normalAddress(direct);
  // Node joins several headers with commas.
  const hops = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '');
  return normalAddress(hops.at(-Math.min(proxies, hops.length)) ?? direct);
}

/** Without brackets, port and zone: `203.0.113.7:4711`, `[2001:db8::1]:443`, `fe80::1%eth0`. */
function normalAddress(hop: string): string {
  const [, inBrackets, before] = /^(?:\[([^\]]{1,100})\](?::\d{1,5})?|([\d.]{7,15}):\d{1,5})$/.exec(hop) ?? [];
  const [address = ''] = (inBrackets ?? before ?? hop).split('%', 1);
  return isIP(address) === 0 ? UNKNOWN : ipaddr.process(address).toString();
}
