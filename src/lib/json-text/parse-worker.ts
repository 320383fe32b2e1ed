import { parentPort } from 'node:worker_threads';
import type { ParseReply, ParseRequest } from './parse-thread.ts';
import { piecesOf } from './pieces.ts';

/** Parses one answer at a time and hands its pieces to the port of the request. */
parentPort?.on('message', ({ bytes, port }: ParseRequest) => {
  let reply: ParseReply;
  try {
    const { pieces, root } = piecesOf(JSON.parse(Buffer.from(bytes).toString()));
    for (const piece of pieces) port.postMessage(piece);
    reply = { kind: 'parsed', root };
  } catch {
    // SyntaxError, or RangeError for nesting that is too deep.
    reply = { kind: 'unreadable' };
  }
  port.postMessage(null);
  parentPort?.postMessage(reply);
});
