import { BlockList, isIP, isIPv4 } from 'node:net';

/** IANA's special-purpose IPv4 blocks, multicast and the reserved class E. */
const IPV4_SPECIAL = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** Of IPv6 only global unicast is allowed, less what is special inside it: Teredo and friends, documentation, 6to4. */
const IPV6_GLOBAL = ['2000::/3'];
const IPV6_SPECIAL = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const IPV4_MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

export type AddressRules = {
  /** Whether loopback counts as reachable: for local use alone. */
  allowLoopback: boolean;
  /** Addresses or CIDR blocks refused besides the special ones, such as our own. They win over everything. */
  deny: readonly string[];
};

/** A judge of single addresses: true when a merchant's request may be sent there. Anything unreadable is refused. */
export function createAddressPolicy(rules: AddressRules): (address: string) => boolean {
  const denied = blockList(rules.deny);
  const special = blockList([...IPV4_SPECIAL, ...IPV6_SPECIAL]);
  const global6 = blockList(IPV6_GLOBAL);
  return (text) => {
    const address = canonicalAddress(text);
    if (address === null) return false;
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (denied.check(address, family)) return false;
    if (rules.allowLoopback && isLoopback(address)) return true;
    if (special.check(address, family)) return false;
    return family === 'ipv4' || global6.check(address, 'ipv6');
  };
}

/** Whether the address, in its canonical form, is this machine itself. */
export function isLoopback(address: string): boolean {
  return address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}

/**
 * One spelling for every address: IPv6 compressed and in lower case, IPv4-mapped IPv6 as the IPv4 it means. Null for
 * what is no address, or carries a zone.
 */
export function canonicalAddress(text: string): string | null {
  const family = isIP(text);
  if (family === 4) return text;
  if (family !== 6 || text.includes('%')) return null;
  const address = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const mapped = IPV4_MAPPED.exec(address);
  if (!mapped) return address;
  const [high, low] = [parseInt(mapped[1] ?? '', 16), parseInt(mapped[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function blockList(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [network = '', bits] = entry.trim().split('/');
    const family = isIP(network);
    const prefixMax = family === 4 ? 32 : 128;
    const prefix = bits === undefined ? prefixMax : Number(bits);
    if (family === 0 || !/^\d{1,3}$/.test(bits ?? '0') || prefix > prefixMax) {
      throw new Error(`"${entry}" is no IP address or CIDR block, such as 168.63.129.16/32`);
    }
    list.addSubnet(network, prefix, family === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
