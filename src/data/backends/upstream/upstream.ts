import type { BackendError } from '../port/backend-error.ts';

/** What an upstream answered: any status that is not an outage by itself, and a body that was JSON. */
export interface Reply {
  readonly status: number;
  /** Integers beyond 2^53 are bigints. */
  readonly body: unknown;
}

export interface GetOptions {
  readonly query?: URLSearchParams | undefined;
  /** Ends the request, retry included; its reason tells a deadline from an answer that nobody wants any more. */
  readonly signal: AbortSignal;
}

/** Another service's HTTP API, asked politely: one pool of connections, a breaker, and a pause when over quota. */
export interface Upstream {
  /**
   * GETs `path` below the base address.
   * @throws BackendError what `judge` made of the reply; `unavailable` for everything that is no JSON reply in time.
   */
  get(path: string, options: GetOptions): Promise<Reply>;
  /** Names of the parameters that the base address brings to every request: some services echo what they were sent. */
  readonly ownParameters: ReadonlySet<string>;
  /** Whether a text that the upstream sent is one of the keys that it is asked with. */
  isSecret(text: string): boolean;
  /** False while the breaker is open or the quota is used up: a request would fail at once. */
  isReady(): boolean;
  /** Ends the connections. */
  close(): Promise<void>;
}

/** What an API means by a status and a body of JSON; undefined for an answer. */
export type Judge = (reply: Reply) => BackendError | undefined;
