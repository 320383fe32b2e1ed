import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { Pool } from 'undici';
import { asMethod, bytesOf, type Exchange } from '../contract/client.ts';
import { type FuzzRequest, isWellFormed, serialized } from './request.ts';

/** Sends well-formed requests through an HTTP client, and others as bytes on their own connection. */
export interface Sender {
  /** Sends a request. A missing answer has status 0 and the reason as its text. */
  send(request: FuzzRequest): Promise<Exchange>;
  close(): Promise<void>;
}

/** Time after which the client half-closes a raw connection without an answer. */
const PATIENCE_MS = 300;
/** Longer than the 25 s that a request for the state of a checkout may wait. */
const DEADLINE_MS = 40_000;

type Answer = Pick<Exchange, 'status' | 'headers' | 'text'>;

export function senderTo(baseUrl: string): Sender {
  const pool = new Pool(baseUrl, {
    connections: 16,
    headersTimeout: DEADLINE_MS,
    bodyTimeout: DEADLINE_MS,
  });
  return {
    close: () => pool.destroy(),
    async send(request) {
      const startedAt = Date.now();
      const isRaw = request.bytes !== undefined || !isWellFormed(request);
      const answer = isRaw
        ? await overSocket(baseUrl, request.bytes ?? serialized(request))
        : await overClient(pool, request);
      return {
        method: request.method,
        url: baseUrl + request.target,
        sent: request.body,
        startedAt,
        durationMs: Date.now() - startedAt,
        ...answer,
      };
    },
  };
}

async function overClient(pool: Pool, { method, target, headers, body }: FuzzRequest): Promise<Answer> {
  try {
    const answer = await pool.request({
      path: target,
      method: asMethod(method),
      headers: Object.fromEntries(headers),
      ...(body === undefined ? {} : { body }),
    });
    const bytes = await bytesOf(answer.headers, answer.body);
    const coding = String(answer.headers['content-encoding'] ?? 'identity');
    return { status: answer.statusCode, headers: answer.headers, text: decoded(bytes, coding) };
  } catch (error) {
    return { status: 0, headers: {}, text: String(error) };
  }
}

function decoded(bytes: Buffer, coding: string): string {
  if (bytes.length === 0 || coding === 'identity') return bytes.toString();
  if (coding === 'br') return brotliDecompressSync(bytes).toString();
  return (coding === 'deflate' ? inflateSync(bytes) : gunzipSync(bytes)).toString();
}

/**
 * Reads until the server closes. For an incomplete request, the server answers only after the client has half-closed.
 */
function overSocket(baseUrl: string, bytes: Buffer): Promise<Answer> {
  const { hostname, port } = new URL(baseUrl);
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const chunks: Buffer[] = [];
  // Without this header the server keeps the connection open after its answer.
  const isKept = !bytes.includes('\r\nConnection: close\r\n');
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () =>
    socket.write(bytes),
  );
  let patience = setTimeout(() => socket.end(), PATIENCE_MS);
  const deadline = setTimeout(() => socket.destroy(), DEADLINE_MS);
  socket.on('data', (chunk: Buffer) => {
    // Does not half-close during an answer: Node drops the rest of the answer when the client closes.
    clearTimeout(patience);
    chunks.push(chunk);
    if (chunk.includes('\r\nContent-Type: text/event-stream'))
      socket.destroy(); // it does not end
    else if (isKept) patience = setTimeout(() => socket.end(), PATIENCE_MS);
  });
  socket.on('end', () => socket.end());
  // A server resets the connection after its answer when it leaves bytes unread.
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    clearTimeout(patience);
    clearTimeout(deadline);
    resolve(answerIn(Buffer.concat(chunks).toString()));
  });
  return promise;
}

/** Last answer on a connection. Interim answers and those to earlier requests precede it. */
function answerIn(text: string): Answer {
  const last = text.slice([...text.matchAll(/HTTP\/1\.1 \d{3} /g)].at(-1)?.index ?? text.length);
  const [head = '', ...body] = last.split('\r\n\r\n');
  const [line = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map(text => [
      text.slice(0, text.indexOf(':')).toLowerCase(),
      text.slice(text.indexOf(':') + 1).trim(),
    ]),
  );
  const status = Number(line.slice(9, 12));
  return status === 0
    ? { status, headers: {}, text: 'no answer' }
    : { status, headers, text: body.join('\r\n\r\n') };
}
