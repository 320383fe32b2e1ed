import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { HEAD_TOO_LONG, pathOf } from '../app/request-target.ts';
import type { FormatError } from '../errors.ts';

/** Long enough for the response to arrive, short enough that broken connections do not pile up. */
const LINGER_MS = 1_000;

const FAULTS: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, HEAD_TOO_LONG],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive'],
};

/** Target in bytes that begin with a request line, after empty lines (RFC 9112, 2.2). */
const TARGET = /^[\r\n]*\S+ (\S+)/;

/** Error response to a request that did not reach the app. */
export interface ClientErrorResponse {
  readonly status: number;
  readonly message: string;
  /** Empty when unknown. */
  readonly path: string;
}

const answered = new WeakSet<Duplex>();

/**
 * Error response for a request that Node could not parse. Its path is that of the request whose body failed, or of the
 * request line in the unparsed bytes.
 */
function clientErrorResponse(
  error: NodeJS.ErrnoException,
  request: IncomingMessage | undefined,
): ClientErrorResponse {
  const [status, message] = FAULTS[error.code ?? ''] ?? [400, 'The request is not valid HTTP'];
  const packet = 'rawPacket' in error && Buffer.isBuffer(error.rawPacket) ? error.rawPacket : undefined;
  const target = request?.url ?? TARGET.exec(packet?.toString('latin1') ?? '')?.[1] ?? '';
  return { status, message, path: pathOf(target) };
}

/** Responds to a request that cannot be parsed, unless the client has disconnected. See `refuse`. */
export function answerUnreadable(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  { answer, formatError }: { answer: ServerResponse | undefined; formatError: FormatError },
): void {
  if (answered.has(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else refuse(socket, clientErrorResponse(error, answer?.req), formatError);
}

/**
 * Writes a JSON error to a connection and closes it. Reads and drops further data of the client, because closing with
 * unread data would reset the connection and lose the response.
 */
export function refuse(
  socket: Duplex,
  { status, message, path }: ClientErrorResponse,
  formatError: FormatError,
): void {
  answered.add(socket);
  const body = JSON.stringify(formatError(status, message, { path, requestId: '' }));
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
