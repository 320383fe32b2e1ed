import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { type Address, isWithin, parseNetwork } from '../networks.ts';

/**
 * The only IPv6 that is handed out (IANA's address space registry). ipaddr.js also calls unicast what is unassigned, and
 * `::/96`, whose addresses have an IPv4 address inside.
 */
const ASSIGNED_V6 = parseNetwork('2000::/3');

/** A public address that leads to the host of a virtual machine on Azure, which has the metadata of that machine. */
const AZURE_HOST = parseNetwork('168.63.129.16');

/**
 * Whether a connection to this numeric address is allowed: it is public and not one of this machine's own, or lies in one
 * of `allowedNetworks` (addresses or CIDRs). What is no numeric address is not allowed.
 * @throws when made, for a network that is none.
 */
export function addressJudge(
  allowedNetworks: readonly string[],
  ownAddresses: () => readonly string[] = interfaceAddresses,
): (address: string) => boolean {
  const allowed = allowedNetworks.map(parseNetwork);
  return text => {
    // A zone (`fe80::1%eth0`) names an interface of this machine: nothing public has one.
    if (isIP(text) === 0 || text.includes('%')) return false;
    const address = ipaddr.parse(text);
    return (
      isWithin(address, allowed) ||
      (isPublic(address) && !isWithin(address, ownAddresses().map(parseNetwork)))
    );
  };
}

/** Public and unicast. The special ranges are those of ipaddr.js (IANA's registries and RFCs) and the two above. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' ? !isWithin(address, [AZURE_HOST]) : isWithin(address, [ASSIGNED_V6]);
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap(found => (found ?? []).map(({ address }) => address));
}
