import { lookup, Resolver } from 'node:dns/promises';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a host name; rejects when there are none. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** The operating system's resolver, which knows the hosts file. For hosts that the operator chose. */
export const systemLookup: Lookup = hostname => lookup(hostname, { all: true });

const ANSWER_WITHIN_MS = 2_000;
const TRIES = 2;

/**
 * Asks the name servers directly, those of the system unless given. For hosts that strangers chose: the system's resolver
 * keeps one of Node's few worker threads busy for as long as somebody's name server takes.
 */
export function nameServerLookup(servers?: readonly string[]): Lookup {
  const resolver = new Resolver({ timeout: ANSWER_WITHIN_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return async hostname => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [
      ...(v4.status === 'fulfilled' ? v4.value.map(address => ({ address, family: 4 })) : []),
      ...(v6.status === 'fulfilled' ? v6.value.map(address => ({ address, family: 6 })) : []),
    ];
    if (found.length === 0 && v4.status === 'rejected') throw v4.reason;
    return found;
  };
}
