import type { Json, JsonObject } from '../../src/contract/contracts/document.ts';
import type { Exchange, RecordingClient } from './client.ts';
import type { GatheredValues } from './gathered-values.ts';
import type { Target } from './judge.ts';

/** What is sent about an operation; a GET unless it says otherwise. */
export interface Sending {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What every attempt on a service works with. */
export interface Tester {
  readonly document: JsonObject;
  readonly client: RecordingClient;
  readonly found: GatheredValues;
  /** Sends, and judges the answer by the contract and by the statuses that are expected. */
  check(target: Target, sending: Sending, expected: (status: number) => boolean): Promise<Exchange>;
  /** The body of a GET that has to succeed; undefined when it did not, which is then among the findings. */
  body(target: Target, path: string): Promise<Json | undefined>;
  report(finding: string): void;
}
