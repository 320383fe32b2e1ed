import { ServerResponse } from 'node:http';

/** A response that can be sent with a ready head, and shows the head that it was sent with. */
export class ReadyResponse extends ServerResponse {
  /**
   * Node's own text of status line and headers. It is made from the headers unless it is there already; on a busy path that
   * costs more than all else. Source: `lib/_http_outgoing.js`, where `end` sends it.
   */
  declare private _header: string | null;

  /** Status line and headers as they were sent, with the empty line; undefined before that. */
  get head(): string | undefined {
    return this._header ?? undefined;
  }

  /**
   * True when the whole answer is with the operating system. Node's own `writableFinished` follows one turn later, and to wait
   * for it takes a listener for each answer.
   */
  get hasLeft(): boolean {
    if (this.writableFinished) return true;
    const { socket } = this;
    return this.writableEnded && socket !== null && !socket.destroyed && this.writableLength === 0;
  }

  /** Sends a whole response. The head must suit the request: keep the connection alive, and name the body's length. */
  endReady(statusCode: number, head: string, body: Buffer | undefined): void {
    this.statusCode = statusCode;
    this._header = head;
    this.end(body);
  }
}
