import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { addressKey } from '../client-address.ts';
import type { Metrics } from '../metrics.ts';

export interface ConnectionBoundsOptions {
  /** Connections at a time, over all listeners that share the bounds. */
  readonly max: number;
  /** Connections of one client address (IPv6: /64) at a time. */
  readonly maxPerAddress: number;
  /** Judges peers that `maxPerAddress` does not count, such as proxies. */
  readonly isExempt: (address: string) => boolean;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** Bounds of open connections. A connection beyond them is closed without an answer. */
export interface ConnectionBounds {
  /** Counts a new connection until it closes; false when it was refused and closed. */
  admit(socket: Socket, listener: string): boolean;
  /** Notes that a request of the connection is in flight. */
  busy(socket: Socket): void;
  /** Notes that the connection waits for its next request. */
  idle(socket: Socket): void;
}

/** An idle connection keeps its place for this long; later a new connection may take it. */
const IDLE_SPARED_MS = 5_000;
/** Descriptors that connections never use: databases, nodes, receivers of webhooks, mail and files. */
const RESERVED_DESCRIPTORS = 1_024;
const MOST_CONNECTIONS = 10_000;
/** The smallest usual limit, for systems that do not tell theirs. */
const ASSUMED_DESCRIPTORS = 1_024;

/** Bounds that all listeners given the same object share. */
export function connectionBounds(options: ConnectionBoundsOptions): ConnectionBounds {
  const { max, maxPerAddress, isExempt, clock, metrics } = options;
  const perAddress = new Map<string, number>();
  /** Stops counting a connection. */
  const counted = new Map<Socket, () => void>();
  /** Idle connections with the time they became idle, the oldest first. */
  const idleSince = new Map<Socket, number>();
  let open = 0;

  return {
    admit(socket, listener) {
      const { remoteAddress = '' } = socket;
      const key = isExempt(remoteAddress) ? undefined : addressKey(remoteAddress);
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
  };

  /** Closes the connection that is idle for longest, if it had its time. */
  function makeRoom(): boolean {
    const [oldest] = idleSince;
    if (oldest === undefined) return false;
    const [socket, since] = oldest;
    if (clock.now() - since < IDLE_SPARED_MS) return false;
    // Its `close` comes later than the connection that takes its place.
    counted.get(socket)?.();
    socket.destroy();
    return true;
  }
}

/** Shared bounds as one listener uses them. */
export function boundedAs(listener: string, bounds: ConnectionBounds | undefined) {
  return bounds && { listener, bounds };
}

/**
 * The bound of connections in a process that may open `descriptors` files at a time. At most half of them are kept back.
 * `wanted`, 10,000 when absent, is shared with other workers of the address and lowered to it.
 */
export function boundOf(descriptors: number, wanted = MOST_CONNECTIONS, workers = 1): number {
  const reserved = Math.min(RESERVED_DESCRIPTORS, Math.ceil(descriptors / 2));
  return Math.max(1, Math.min(Math.ceil(wanted / workers), descriptors - reserved));
}

/** The number of files that this process may open at a time (its soft limit); `Infinity` without one. */
export function descriptorLimit(): number {
  try {
    const [, limit = ''] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit) || ASSUMED_DESCRIPTORS;
  } catch {
    return ASSUMED_DESCRIPTORS; // no Linux
  }
}
