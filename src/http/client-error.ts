import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FormatError } from './errors.ts';

/** Long enough for the answer to arrive, short enough that nobody can hoard broken connections. */
const LINGER_MS = 1_000;

const FAULTS: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The request target and headers are too long'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive'],
};

const answered = new WeakSet<Duplex>();

/**
 * Answers bytes that are no HTTP request with a JSON error and ends the connection. What the client still sends is
 * read and dropped, because closing over unread bytes would reset the connection and lose the answer.
 */
export function answerUnreadable(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  formatError: FormatError,
): void {
  if (answered.has(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  answered.add(socket);
  const [status, message] = FAULTS[error.code ?? ''] ?? [400, 'The request is not valid HTTP'];
  const body = JSON.stringify(formatError(status, message, { path: '', requestId: '' }));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  socket.on('error', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(linger));
  socket.resume();
}
