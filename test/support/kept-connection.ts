import { connect, type Socket } from 'node:net';
import { PATIENCE_MS } from '../lab/until.ts';

/** A client that sends raw requests over one keep-alive connection, and reconnects when the server closes it. */
export interface KeptConnection {
  /** The whole answer, head and body. `hasBody` is false for an answer to HEAD. */
  exchange(request: string, hasBody?: boolean): Promise<string>;
  close(): void;
}

export function keptConnection(port: number): KeptConnection {
  let socket: Socket | undefined;
  return {
    async exchange(request, hasBody = true) {
      if (socket?.writable !== true) socket = await opened(port);
      const answer = answerOn(socket, hasBody);
      socket.write(request, 'latin1');
      return answer;
    },
    close: () => void socket?.destroy(),
  };
}

function opened(port: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket));
  socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('the server did not answer in time')));
  socket.on('error', reject);
  return promise;
}

/** Reads one answer, up to the length in its head or until the server closes the connection. */
function answerOn(socket: Socket, hasBody: boolean): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const read = (chunk: Buffer) => {
    text += chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n') + 4;
    if (end < 4) return;
    const [, length] = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end)) ?? [];
    const isBare = !hasBody || /^HTTP\/1\.1 (?:204|304) /.test(text);
    if (isBare || (length !== undefined && text.length >= end + Number(length))) finish();
  };
  const finish = () => {
    socket.off('data', read).off('close', finish).off('error', reject);
    // The server has announced that it closes the connection.
    if (/\r\nconnection: close\r\n/i.test(text)) socket.destroy();
    resolve(text);
  };
  socket.on('data', read).on('close', finish).on('error', reject);
  return promise;
}
