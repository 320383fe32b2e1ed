import { Resolver, lookup as systemResolve } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';

/** Error for a host without an allowed address. */
export class ForbiddenAddress extends Error {
  readonly addresses: readonly string[];

  constructor(addresses: readonly string[]) {
    super('the host has no address that may be connected to');
    this.name = 'ForbiddenAddress';
    this.addresses = addresses;
  }
}

/**
 * Creates a connector that opens sockets to allowed addresses only, with verified TLS for https. It resolves the name
 * once and connects to the checked addresses, so that a second resolution cannot return others.
 */
export async function guardedConnector(options: {
  isAllowed: (address: string) => boolean;
  lookup: HostLookup;
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
    // Explicit, because an environment variable of Node could otherwise disable it.
    rejectUnauthorized: true,
  });

  return (target, callback) => {
    const hostname = target.hostname.replace(/^\[(.*)\]$/, '$1');
    // A numeric host needs no lookup, so it is checked before a socket is opened.
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

interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves all addresses of a host name; rejects when there are none. */
export type HostLookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** Uses the operating system's resolver, including the hosts file. For hosts that the operator chose. */
export const systemLookup: HostLookup = hostname => systemResolve(hostname, { all: true });

const ANSWER_WITHIN_MS = 2_000;
const TRIES = 2;

/**
 * Queries name servers directly: `servers`, or those of the system when absent. For untrusted hosts, because the
 * system's resolver blocks one of Node's few worker threads for as long as a slow name server takes.
 */
export function nameServerLookup(servers?: readonly string[]): HostLookup {
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
