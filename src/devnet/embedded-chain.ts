import type { Address } from 'viem';
import type { EmbeddedContract, EmbeddedToken } from './deployment.ts';

/** One embedded chain. */
export interface EmbeddedChain {
  id: number;
  /** "Embedded chain A", "Embedded chain B" … */
  name: string;
  rpcUrl: string;
  /** The sample contracts; they stand there once the first blocks of the fill are mined. */
  contracts: EmbeddedContract[];
  /** Those of the sample contracts that one can pay with. */
  tokens: EmbeddedToken[];
  /** Where prices are read: a token that is a dollar, and what makes the pools with it. */
  prices: { usdToken: Address; factory: Address };
  /** Where names are looked up. */
  names: { registry: Address };
  /** Process ids, for whoever looks after the machine. */
  pids: { supervisor: number; engine: number };
}

/** How far the fill of one chain is, in blocks. */
export interface FillProgress {
  chainId: number;
  done: number;
  total: number;
}

const FIRST_CHAIN_ID = 31_337;

/** Ids of so many embedded chains. */
export function embeddedChainIds(chains: number): number[] {
  return Array.from({ length: chains }, (_, index) => FIRST_CHAIN_ID + index);
}
