import type { Address } from 'viem';
import type { EmbeddedContract, EmbeddedToken } from './deployment.ts';

/** One embedded chain. */
export interface EmbeddedChain {
  id: number;
  /** "Embedded chain A", "Embedded chain B" … */
  name: string;
  rpcUrl: string;
  /** The sample contracts. They exist once the first blocks of the fill are mined. */
  contracts: EmbeddedContract[];
  /** Sample contracts that are tokens for payments. */
  tokens: EmbeddedToken[];
  /** Sources of prices: a token worth one dollar, the factory of its pools, and the token that wraps the coin. */
  prices: { usdToken: Address; factory: Address; native: { symbol: string; wrapped: Address } };
  /** Registry for look-ups of names. */
  names: { registry: Address };
  /** Process ids, for the operator. */
  pids: { supervisor: number; engine: number };
}

/** Progress of the fill of one chain, in blocks. */
export interface FillProgress {
  chainId: number;
  done: number;
  total: number;
}

/** Symbol of the coin of every embedded chain. */
export const COIN_SYMBOL = 'ETH';

const FIRST_CHAIN_ID = 31_337;

/** Returns the ids of the embedded chains. */
export function embeddedChainIds(chains: number): number[] {
  return Array.from({ length: chains }, (_, index) => FIRST_CHAIN_ID + index);
}
