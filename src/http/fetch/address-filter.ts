import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { type IpAddress, isWithin, parseNetwork } from '../networks.ts';

/**
 * The only assigned global unicast IPv6 range (IANA's address space registry). ipaddr.js also reports unassigned
 * addresses as unicast, and `::/96`, whose addresses embed IPv4 addresses.
 */
const ASSIGNED_V6 = parseNetwork('2000::/3');

/** Public address of the host of a virtual machine on Azure, which serves the machine's metadata. */
const AZURE_HOST = parseNetwork('168.63.129.16');

/**
 * Returns a test for numeric addresses that may be connected to. An address is allowed when it is public and not one of
 * this machine's own, or when it is in `allowedNetworks` (addresses or CIDRs). Anything else is refused.
 * @throws on creation, for an invalid network
 */
export function allowedAddressTest(
  allowedNetworks: readonly string[],
  ownAddresses: () => readonly string[] = interfaceAddresses,
): (address: string) => boolean {
  const allowed = allowedNetworks.map(parseNetwork);
  return text => {
    // A zone (`fe80::1%eth0`) names an interface of this machine, so the address is not public.
    if (isIP(text) === 0 || text.includes('%')) return false;
    const address = ipaddr.parse(text);
    return (
      isWithin(address, allowed) ||
      (isPublic(address) && !isWithin(address, ownAddresses().map(parseNetwork)))
    );
  };
}

/**
 * True for public unicast addresses. Special ranges are those of ipaddr.js (IANA's registries and RFCs) and the two
 * constants above.
 */
function isPublic(address: IpAddress): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' ? !isWithin(address, [AZURE_HOST]) : isWithin(address, [ASSIGNED_V6]);
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap(found => (found ?? []).map(({ address }) => address));
}
