import ipaddr from 'ipaddr.js';

/** Whether the address is this one, or in this range in CIDR notation. */
export function isInRange(ip: string, range: string): boolean {
  if (!ipaddr.isValid(ip)) return false;
  const [text = '', bits] = range.split('/');
  const network = ipaddr.parse(text);
  const sameBits = Number(bits ?? network.toByteArray().length * 8);
  // Of an IPv4 address that is written as IPv6, both forms count.
  const forms = [ipaddr.parse(ip), ipaddr.process(ip)];
  return forms.some((address) => address.kind() === network.kind() && address.match(network, sameBits));
}
