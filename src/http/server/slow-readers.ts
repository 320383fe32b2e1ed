import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import type { Worker } from '../../lib/worker.ts';

/** Time in which a client must take a byte of a waiting response, in milliseconds (Decision 275). */
const READ_WITHIN_MS = 30_000;
/** Pause between two looks at all connections, in milliseconds. */
export const LOOK_EVERY_MS = 1_000;

interface SlowReadersDeps {
  /** Open connections at the time of a look. */
  readonly connections: Iterable<Socket>;
  readonly close: (socket: Socket) => void;
  readonly clock: Clock;
}

/** Bytes that the operating system has taken from a connection with unsent bytes, and the time of the latest ones. */
interface Progress {
  readonly taken: number;
  readonly since: number;
}

/**
 * Closes connections whose client takes no byte of a waiting response for 30 seconds. Progress counts, so a slow but
 * steady reader keeps its connection, and so does a client that waits for a handler.
 */
export function slowReaders({ connections, close, clock }: SlowReadersDeps): Worker {
  let waiting = new Map<Socket, Progress>();

  return {
    name: 'closing of slow readers',
    async runOnce() {
      const now = clock.now();
      const before = waiting;
      waiting = new Map();
      for (const socket of connections) {
        if (socket.writableLength === 0) continue;
        const taken = bytesTaken(socket);
        const known = before.get(socket);
        const progress = known?.taken === taken ? known : { taken, since: now };
        if (now - progress.since >= READ_WITHIN_MS) close(socket);
        else waiting.set(socket, progress);
      }
      return 0;
    },
  };
}

/**
 * Bytes that the operating system has taken. Node's public counters change only when a whole write has been taken, and
 * one write may be a body of 16 MB. Node's own socket timeout reads the same queue (`lib/net.js`, `_onTimeout`).
 */
function bytesTaken(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle');
  return numberIn(handle, 'bytesWritten') - numberIn(handle, 'writeQueueSize');
}

function numberIn(holder: unknown, name: string): number {
  const value: unknown =
    typeof holder === 'object' && holder !== null ? Reflect.get(holder, name) : undefined;
  return typeof value === 'number' ? value : 0;
}
