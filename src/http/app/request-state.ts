import type { Logger } from '../../lib/logger.ts';
import type { Client } from '../client-address.ts';

declare module 'koa' {
  /** What the standard middleware knows of a request and what routes tell it. */
  interface DefaultState {
    /** Set before everything else; answered as X-Request-Id. */
    requestId: string;
    /** Makes the logger that writes with the request id; most requests need none. */
    log: () => Logger;
    /** Who asks, as far as the trusted proxies tell. */
    client: Client;
    /** Set by the contract mount: the label of metrics and of the access log. */
    operationId?: string;
  }
}
