import { parentPort } from 'node:worker_threads';
import { parseJson } from './lossless-json.ts';
import { countMembers } from './member-count.ts';
import type { ParseReply, ParseRequest } from './parse-thread.ts';
import { piecesOf } from './pieces.ts';

/** Parses one answer at a time and hands its pieces to the port of the request. */
parentPort?.on('message', (request: ParseRequest) => {
  const { port } = request;
  const reply = replyTo(request);
  port.postMessage(null);
  parentPort?.postMessage(reply);
});

function replyTo({ bytes, port, exactIntegers = false, maxMembers = Infinity }: ParseRequest): ParseReply {
  if (maxMembers < Infinity && countMembers(bytes, maxMembers) > maxMembers) return { kind: 'too_many' };
  try {
    const text = new TextDecoder().decode(bytes);
    const { pieces, root } = piecesOf(exactIntegers ? parseJson(text) : JSON.parse(text));
    for (const piece of pieces) port.postMessage(piece);
    return { kind: 'parsed', root };
  } catch {
    // SyntaxError, or RangeError for nesting that is too deep.
    return { kind: 'unreadable' };
  }
}
