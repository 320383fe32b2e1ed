import { connect, createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import { loopbackPort } from '../lab/loopback-server.ts';

/** A server that forwards connections and can corrupt replies. */
export interface FaultyFront {
  readonly port: number;
  /** Sends the bytes before the next reply, or instead of it. */
  spoil(bytes: Buffer, options: { isInstead: boolean }): void;
}

/** Starts a forwarding server in front of a loopback server. It ends with the test. */
export async function startFaultyFront(targetPort: number): Promise<FaultyFront> {
  let next: { bytes: Buffer; isInstead: boolean } | undefined;
  const front = createServer(socket => {
    const target = connect(targetPort, '127.0.0.1');
    socket.pipe(target);
    target.on('data', reply => {
      if (next !== undefined) socket.write(next.bytes);
      if (next?.isInstead !== true) socket.write(reply);
      next = undefined;
    });
    for (const [one, other] of [
      [socket, target],
      [target, socket],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
  });
  onTestFinished(() => void front.close());
  const port = await loopbackPort(front);
  return {
    port,
    spoil(bytes, { isInstead }) {
      next = { bytes, isInstead };
    },
  };
}
