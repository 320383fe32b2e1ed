import type { Json, JsonObject } from '../../src/contract/contracts/document.ts';
import type { Exchange, RecordingClient } from './client.ts';
import type { GatheredValues } from './gathered-values.ts';
import type { Target } from './judge.ts';

/** Request to an operation; a GET by default. */
interface Sending {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Context of every test of a service. */
export interface Tester {
  readonly document: JsonObject;
  readonly client: RecordingClient;
  readonly found: GatheredValues;
  /** Sends a request and checks the response against the contract and the expected statuses. */
  check(target: Target, sending: Sending, expected: (status: number) => boolean): Promise<Exchange>;
  /** Body of a GET that must succeed; undefined, with a finding, when it failed. */
  body(target: Target, path: string): Promise<Json | undefined>;
  report(finding: string): void;
}
