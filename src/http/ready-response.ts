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
