import { parentPort } from 'node:worker_threads';
import { parseJson } from './lossless-json.ts';
import { countMembers } from './member-count.ts';
import type { ParseReply, ParseRequest } from './parse-thread.ts';
import { piecesOf } from './pieces.ts';

/** Parses one text at a time. Each message to the port of a request asks for the next reply. */
parentPort?.on('message', (request: ParseRequest) => {
  const { port } = request;
  const replies = repliesTo(request);
  port.on('message', () => {
    const { value: reply } = replies.next();
    if (reply !== undefined) port.postMessage(reply);
  });
});

function* repliesTo(request: ParseRequest): Generator<ParseReply, undefined> {
  const { bytes, exactIntegers = false, maxMembers = Infinity } = request;
  if (maxMembers < Infinity && countMembers(bytes, maxMembers) > maxMembers) {
    yield { kind: 'too_many' };
    return;
  }
  try {
    const pieces = piecesOf(bytes, exactIntegers ? parseJson : JSON.parse);
    let next = pieces.next();
    for (; next.done !== true; next = pieces.next()) yield { kind: 'piece', piece: next.value };
    yield { kind: 'parsed', root: next.value };
  } catch {
    // SyntaxError, or RangeError for nesting that is too deep.
    yield { kind: 'unreadable' };
  }
}
