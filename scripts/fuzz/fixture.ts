import type { Contract } from '../../src/contract/contracts/contract.ts';
import type { Exchange } from '../contract/client.ts';
import type { Ground } from './mutant.ts';

/** A service that a run sends requests to. */
export interface World {
  readonly url: string;
  readonly contracts: readonly Contract<unknown>[];
  readonly isPayments: boolean;
  /** Texts that no answer may hold. */
  readonly secrets: readonly string[];
  /** What valid requests are made of, by contract. */
  readonly grounds: readonly Ground[];
  /** Learns from an answer, for a service whose records come and go. */
  learn?(exchange: Exchange): void;
  close(): Promise<void>;
}
