import type { Address } from 'viem';
import type { Handle } from '#db/open.ts';
import type { ChainClient } from '#node/client.ts';
import { totalSupplyAt } from '#node/total-supply.ts';
import { type BlockAtTime, blockAtTime } from './block-at-time.ts';
import {
  type Exchange,
  type PairRow,
  type PairsQuery,
  pairs,
  type Reserves,
  reservesAt,
  tradedDays,
  volumeUntil,
} from './markets.ts';

export type { BlockAtTime, Exchange, PairRow, Reserves };

/** What the index knows of prices. Times are UTC milliseconds, amounts are in the smallest units. */
export interface MarketReader {
  /** The last block at or before this time, the newest without; null when there is none. */
  momentOf(time?: number): Promise<BlockAtTime | null>;
  pairs(query: PairsQuery): Promise<PairRow[]>;
  reservesAt(pair: PairRow, at: number): Promise<Reserves | null>;
  volumeUntil(pair: PairRow, at: number): Promise<bigint>;
  tradedDays(pair: PairRow, at: number): Promise<number[]>;
  /** From the node. Null when the contract does not say it or the node has thrown the state away. */
  totalSupplyAt(token: Address, blockNumber: number): Promise<bigint | null>;
}

export function marketReader(handle: Handle, client: ChainClient): MarketReader {
  return {
    momentOf: time => blockAtTime(handle, time),
    pairs: query => pairs(handle, query),
    reservesAt: (pair, at) => reservesAt(handle, pair, at),
    volumeUntil: (pair, at) => volumeUntil(handle, pair, at),
    tradedDays: (pair, at) => tradedDays(handle, pair, at),
    totalSupplyAt: (token, blockNumber) => totalSupplyAt(client, token, blockNumber),
  };
}
