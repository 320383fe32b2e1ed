import { ServerResponse } from 'node:http';

/** Response that can be sent with a prepared head, and that exposes the head it was sent with. */
export class ReadyResponse extends ServerResponse {
  /**
   * Node's text of status line and headers. Node builds it from the headers unless it is already set. Building it costs
   * more than everything else on a busy path. Source: `lib/_http_outgoing.js`, where `end` sends it.
   */
  declare private _header: string | null;

  /** Status line and headers as sent, with the empty line; undefined before that. */
  get head(): string | undefined {
    return this._header ?? undefined;
  }

  /**
   * True when the whole response has been passed to the operating system. Node's `writableFinished` follows one turn
   * later, and waiting for it takes a listener per response.
   */
  get hasLeft(): boolean {
    if (this.writableFinished) return true;
    const { socket } = this;
    return this.writableEnded && socket !== null && !socket.destroyed && this.writableLength === 0;
  }

  /** Sends a complete response. The head must keep the connection alive and state the body's length. */
  endReady(statusCode: number, head: string, body: Buffer | undefined): void {
    this.statusCode = statusCode;
    this._header = head;
    this.end(body);
  }
}

/** Head of a response, split where its values vary per request. */
export interface ReadyHead {
  readonly toId: string;
  readonly toLimits: string;
  readonly toAge: string;
  readonly toDate: string;
  readonly rest: string;
}

const HEAD =
  /^(?<toId>.*?\r\nX-Request-Id: )[^\r]*(?<toLimits>\r\n.*?)(?<toAge>X-Cache: HIT\r\nAge: )\d+(?<toDate>\r\n.*?\r\nDate: )[^\r]*(?<rest>\r\n.*)$/s;
const LIMIT_LINES = /^RateLimit(?:-\w+)?: .*\r\n/gm;

/** Splits heads of cache hits. Returns undefined for any other head. */
export function readyHeads(): (text: string) => ReadyHead | undefined {
  // All heads of a service share their beginning and end, so these parts are stored once.
  const alike = new Map<string, string>();
  const held = (text: string) => {
    const before = alike.get(text);
    if (before !== undefined) return before;
    const own = owned(text);
    alike.set(own, own);
    return own;
  };
  return text => {
    const { toId, toLimits, toAge, toDate, rest } = HEAD.exec(text)?.groups ?? {};
    if (toId === undefined || toLimits === undefined || toAge === undefined) return undefined;
    if (toDate === undefined || rest === undefined) return undefined;
    return {
      toId: held(toId),
      toLimits: held(toLimits.replace(LIMIT_LINES, '')),
      toAge: held(toAge),
      toDate: owned(toDate),
      rest: held(rest),
    };
  };
}

/** Copies a substring, which would otherwise keep the whole text in memory. */
function owned(part: string): string {
  return Buffer.from(part, 'latin1').toString('latin1');
}
