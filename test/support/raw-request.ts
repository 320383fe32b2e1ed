import { connect } from 'node:net';
import { PATIENCE_MS } from '../lab/until.ts';

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends raw bytes, which an HTTP client would correct, and reads until the server closes the connection. */
export function rawRequest(url: string, request: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const chunks: Buffer[] = [];
  const socket = connect(Number(port), hostname, () => socket.write(request, 'latin1'));
  socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('the server did not answer in time')));
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', reject);
  socket.on('close', () => {
    const text = Buffer.concat(chunks).toString('latin1');
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
    if (Number.isNaN(status)) reject(new Error(`no HTTP answer: ${text.slice(0, 200)}`));
    else resolve({ status, head, body });
  });
  return promise;
}

/** A raw request with any target. */
export function rawGet(url: string, target: string, method = 'GET'): Promise<RawAnswer> {
  return rawRequest(url, `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
}
