import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
/** First address and length of the prefix. */
export type Network = readonly [Address, number];

/** Reads a CIDR, or an address as the network of itself. @throws Error for anything else */
export function parseNetwork(text: string): Network {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** True when an address lies in one of the networks; IPv4 never lies in IPv6. */
export function isWithin(address: Address, networks: readonly Network[]): boolean {
  return networks.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
}
