import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Not public, or not unicast. Source: IANA's IPv4 Special-Purpose Address Registry; the last is Azure's host. */
const CLOSED_V4 = networks([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
]);

/**
 * The only IPv6 that is handed out (IANA's address space registry). Beside it lie loopback, link-local, unique local and
 * multicast addresses and nearly all forms that have an IPv4 address inside: mapped, NAT64, `::/96`.
 */
const OPEN_V6 = networks(['2000::/3']);

/** What is special within: protocol assignments with Teredo, documentation, and 6to4, which has IPv4 inside. */
const CLOSED_V6 = networks(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);

/**
 * Whether a connection to this numeric address is allowed: it is public and not one of this machine's own, or lies in one
 * of `allowedNetworks` (addresses or CIDRs). What is no numeric address is not allowed.
 * @throws when made, for a network that is none.
 */
export function addressJudge(
  allowedNetworks: readonly string[],
  ownAddresses: () => readonly string[] = interfaceAddresses,
): (address: string) => boolean {
  const allowed = networks(allowedNetworks);
  return text => {
    // A zone (`fe80::1%eth0`) names an interface of this machine: nothing public has one.
    if (isIP(text) === 0 || text.includes('%')) return false;
    const address = ipaddr.parse(text);
    if (lies(address, allowed)) return true;
    if (ownAddresses().some(own => lies(address, networks([own])))) return false;
    return address.kind() === 'ipv4'
      ? !lies(address, CLOSED_V4)
      : lies(address, OPEN_V6) && !lies(address, CLOSED_V6);
  };
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap(found => (found ?? []).map(({ address }) => address));
}

function lies(address: Network[0], within: readonly Network[]): boolean {
  return within.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
}

function networks(texts: readonly string[]): Network[] {
  return texts.map(text => {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  });
}
