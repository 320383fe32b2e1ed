import type { Contract } from '../../src/contract/contracts/contract.ts';
import type { Exchange } from '../contract/client.ts';
import type { Ground } from './mutant.ts';

/** A service under test. */
export interface World {
  readonly url: string;
  readonly contracts: readonly Contract<unknown>[];
  readonly isPayments: boolean;
  /** Texts that no answer may contain. */
  readonly secrets: readonly string[];
  /** Material for valid requests, one entry per contract. */
  readonly grounds: readonly Ground[];
  /** Learns ids from an answer, for a service whose records are created and deleted. */
  learn?(exchange: Exchange): void;
  close(): Promise<void>;
}
