import ipaddr from 'ipaddr.js';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;
/** First address and prefix length. */
export type Network = readonly [IpAddress, number];

/** Parses a CIDR, or an address as a network of one. @throws Error for anything else */
export function parseNetwork(text: string): Network {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** True when an address is in one of the networks. An IPv4 address is never in an IPv6 network. */
export function isWithin(address: IpAddress, networks: readonly Network[]): boolean {
  return networks.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
}
