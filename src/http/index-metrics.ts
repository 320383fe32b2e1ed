import type { Registry } from 'prom-client';
import { type ChainGauge, registerChainGauges, registerContradictions } from './chain-gauges.ts';

/** State of a chain's index. What is undefined has no value yet. */
export interface IndexFigures {
  readonly chain: string;
  /** Newest block. */
  readonly headBlock: number | undefined;
  /** Blocks by which the chain is ahead, by the last head that its node reported. */
  readonly lagBlocks: number | undefined;
  /** Seconds since the time of the newest block; 0 while the index has every block of its node. */
  readonly lagSeconds?: number | undefined;
  /** True for an index that does not move although it should. */
  readonly stalled?: boolean | undefined;
  /** Blocks of an index without a part that the node could not give. */
  readonly incompleteBlocks?: number | undefined;
  /** Balances, owners and tokens of an index whose last read failed; 1,000 stands for more. */
  readonly unreadState?: number | undefined;
  /** Share of the blocks of an index that were recomputed up to their hashes, from 0 to 1. */
  readonly provenShare?: number | undefined;
  /** Number of times that nodes were left out because they contradicted a hash, by host name. */
  readonly contradictions?: ReadonlyMap<string, number> | undefined;
}

/** Registers the metrics of indexes, which `read` gives at every scrape. */
export function registerIndexMetrics(registry: Registry, read: () => Promise<readonly IndexFigures[]>): void {
  registerChainGauges(registry, { read, gauges: GAUGES });
  registerContradictions(registry, { name: 'tollgate_index_contradictions_total', read });
}

const GAUGES: readonly ChainGauge<IndexFigures>[] = [
  {
    name: 'tollgate_index_head_block',
    help: 'Newest indexed block by chain',
    amountOf: ({ headBlock }) => headBlock,
  },
  {
    name: 'tollgate_index_lag_blocks',
    help: 'Blocks by which a chain is ahead of its index, by the last head that its node reported',
    amountOf: ({ lagBlocks }) => lagBlocks,
  },
  {
    name: 'tollgate_index_lag_seconds',
    help: 'Time since the newest indexed block; 0 while the index has every block of its node',
    amountOf: ({ lagSeconds }) => lagSeconds,
  },
  {
    name: 'tollgate_index_stalled',
    help: '1 when an index has not moved for a minute although its node has further blocks or is silent',
    amountOf: ({ stalled }) => (stalled === undefined ? undefined : Number(stalled)),
  },
  {
    name: 'tollgate_index_incomplete_blocks',
    help: 'Indexed blocks without a receipt, a trace or code that the node could not give',
    amountOf: ({ incompleteBlocks }) => incompleteBlocks,
  },
  {
    name: 'tollgate_index_unread_state',
    help: 'Balances, owners and tokens that the node did not give when they were last read, at most 1,000',
    amountOf: ({ unreadState }) => unreadState,
  },
  {
    name: 'tollgate_index_proven_ratio',
    help: 'Share of the indexed blocks that were recomputed up to their hashes, from 0 to 1',
    amountOf: ({ provenShare }) => provenShare,
  },
];
