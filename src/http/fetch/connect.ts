import { Resolver, lookup as systemResolve } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';

/** The host has no address that may be connected to. */
export class ForbiddenAddress extends Error {
  readonly addresses: readonly string[];

  constructor(addresses: readonly string[]) {
    super('the host has no address that may be connected to');
    this.name = 'ForbiddenAddress';
    this.addresses = addresses;
  }
}

/**
 * Opens sockets, with verified TLS where the protocol has it, to allowed addresses only. The name is resolved once, here,
 * and the socket gets what was judged, so that a name cannot mean something else a moment later.
 */
export async function guardedConnector(options: {
  isAllowed: (address: string) => boolean;
  lookup: Lookup;
  timeoutMs: number;
}): Promise<buildConnector.connector> {
  const { isAllowed, lookup, timeoutMs } = options;
  const undici = await import('undici');

  const judged = async (hostname: string): Promise<ResolvedAddress[]> => {
    const found = await lookup(hostname);
    const allowed = found.filter(({ address }) => isAllowed(address));
    if (allowed.length === 0) throw new ForbiddenAddress(found.map(({ address }) => address));
    return allowed;
  };
  const judgedLookup: LookupFunction = (hostname, { all }, callback) => {
    const tell = (addresses: ResolvedAddress[]) => {
      const [first] = addresses;
      if (all === true || first === undefined) callback(null, addresses);
      else callback(null, first.address, first.family);
    };
    judged(hostname).then(tell, (error: Error) => callback(error, []));
  };
  const connect = undici.buildConnector({
    lookup: judgedLookup,
    timeout: timeoutMs,
    allowH2: false,
    // In words, because an environment variable of Node could otherwise switch it off.
    rejectUnauthorized: true,
  });

  return (target, callback) => {
    const hostname = target.hostname.replace(/^\[(.*)\]$/, '$1');
    // Nobody is asked for the address of a numeric host, so it is judged before there is a socket.
    if (isIP(hostname) !== 0 && !isAllowed(hostname)) {
      callback(new ForbiddenAddress([hostname]), null);
      return;
    }
    connect(target, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      const { remoteAddress = '' } = socket;
      if (isAllowed(remoteAddress)) {
        callback(null, socket);
        return;
      }
      socket.destroy();
      callback(new ForbiddenAddress([remoteAddress]), null);
    });
  };
}

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a host name; rejects when there are none. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** The operating system's resolver, which knows the hosts file. For hosts that the operator chose. */
export const systemLookup: Lookup = hostname => systemResolve(hostname, { all: true });

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
