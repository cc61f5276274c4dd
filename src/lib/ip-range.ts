import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

/** Whether this is an address, or a range in CIDR notation. */
export function isRange(text: string): boolean {
  const [address = '', bits] = text.split('/', 2);
  return isIP(address) !== 0 && (bits === undefined || ipaddr.isValidCIDR(text));
}

/** Whether the address is this one, or in this range in CIDR notation. */
export function isInRange(ip: string, range: string): boolean {
  if (isIP(ip) === 0) return false;
  const [text = '', bits] = range.split('/');
  const network = ipaddr.parse(text);
  const sameBits = Number(bits ?? network.toByteArray().length * 8);
  // Of an IPv4 address, both its own form and the one as IPv6 count.
  const address = ipaddr.process(ip);
  const forms = address instanceof ipaddr.IPv4 ? [address, address.toIPv4MappedAddress()] : [address];
  return forms.some((form) => form.kind() === network.kind() && form.match(network, sameBits));
}
