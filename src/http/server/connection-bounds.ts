import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { clientKey } from '../client-address.ts';
import type { Metrics } from '../metrics.ts';

export interface ConnectionBoundsOptions {
  /** Maximum open connections, over all listeners that share the limits. */
  readonly max: number;
  /** Maximum open connections of one client address (IPv6: /64). */
  readonly maxPerAddress: number;
  /** True for peers exempt from `maxPerAddress`, such as proxies. */
  readonly isExempt: (address: string) => boolean;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** Limits of open connections. A connection beyond them is closed without a response. */
export interface ConnectionBounds {
  /** Counts a new connection until it closes; false when it was refused and closed. */
  admit(socket: Socket, listener: string): boolean;
  /** Marks the connection as having a request in flight. */
  busy(socket: Socket): void;
  /** Marks the connection as waiting for its next request. */
  idle(socket: Socket): void;
  /** Counts a connection that is closed because its client does not read. */
  stalled(listener: string): void;
}

/** Minimum idle time before a connection may be closed in favour of a new one. */
const IDLE_SPARED_MS = 5_000;
/** Descriptors reserved for databases, nodes, webhook receivers, mail and files. */
const RESERVED_DESCRIPTORS = 1_024;
const MAX_CONNECTIONS = 10_000;
/** Assumed limit on systems that do not report one: the smallest common one. */
const ASSUMED_DESCRIPTORS = 1_024;

/** Creates limits, which all listeners that receive this object share. */
export function connectionBounds(options: ConnectionBoundsOptions): ConnectionBounds {
  const { max, maxPerAddress, isExempt, clock, metrics } = options;
  const perAddress = new Map<string, number>();
  /** Functions that stop counting a connection. */
  const counted = new Map<Socket, () => void>();
  /** Idle connections with the time at which they became idle, oldest first. */
  const idleSince = new Map<Socket, number>();
  let open = 0;

  return {
    admit(socket, listener) {
      const { remoteAddress = '' } = socket;
      const key = isExempt(remoteAddress) ? undefined : clientKey(remoteAddress);
      const ofAddress = key === undefined ? 0 : (perAddress.get(key) ?? 0);
      const reason =
        ofAddress >= maxPerAddress ? 'address' : open >= max && !makeRoom() ? 'total' : undefined;
      if (reason !== undefined) {
        metrics.refusedConnection(listener, reason);
        socket.destroy();
        return false;
      }
      open += 1;
      metrics.openConnections(listener, 1);
      if (key !== undefined) perAddress.set(key, ofAddress + 1);
      idleSince.set(socket, clock.now());
      let isCounted = true;
      counted.set(socket, leave);
      socket.once('close', leave);
      return true;

      function leave(): void {
        if (!isCounted) return;
        isCounted = false;
        open -= 1;
        metrics.openConnections(listener, -1);
        idleSince.delete(socket);
        counted.delete(socket);
        if (key === undefined) return;
        const others = (perAddress.get(key) ?? 1) - 1;
        if (others > 0) perAddress.set(key, others);
        else perAddress.delete(key);
      }
    },
    busy: socket => void idleSince.delete(socket),
    idle(socket) {
      if (counted.has(socket)) idleSince.set(socket, clock.now());
    },
    stalled: metrics.stalledConnection,
  };

  /** Closes the connection that has been idle longest, if it was idle long enough. */
  function makeRoom(): boolean {
    const [oldest] = idleSince;
    if (oldest === undefined) return false;
    const [socket, since] = oldest;
    if (clock.now() - since < IDLE_SPARED_MS) return false;
    // Stops counting it now, because its `close` event comes after the new connection is counted.
    counted.get(socket)?.();
    socket.destroy();
    return true;
  }
}

/** Shared limits, as used by one listener. */
export function boundedAs(listener: string, bounds: ConnectionBounds | undefined) {
  return bounds && { listener, bounds };
}

/**
 * Connection limit of a process that may open `descriptors` files. At most half of them are reserved. `wanted` (10,000
 * when absent) is divided among the workers of the address and capped by the descriptors.
 */
export function boundOf(descriptors: number, wanted = MAX_CONNECTIONS, workers = 1): number {
  const reserved = Math.min(RESERVED_DESCRIPTORS, Math.ceil(descriptors / 2));
  return Math.max(1, Math.min(Math.ceil(wanted / workers), descriptors - reserved));
}

/** Maximum number of open files of this process (its soft limit); `Infinity` when unlimited. */
export function descriptorLimit(): number {
  try {
    const [, limit = ''] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit) || ASSUMED_DESCRIPTORS;
  } catch {
    return ASSUMED_DESCRIPTORS; // not Linux
  }
}
