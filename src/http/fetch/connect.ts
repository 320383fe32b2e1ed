import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { Lookup, ResolvedAddress } from './lookup.ts';

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
export function guardedConnector(options: {
  isAllowed: (address: string) => boolean;
  lookup: Lookup;
  timeoutMs: number;
}): buildConnector.connector {
  const { isAllowed, lookup, timeoutMs } = options;

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
  const connect = buildConnector({
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
