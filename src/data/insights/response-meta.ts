import type { InsightsSchemas } from '../../contract/contracts/insights.ts';
import type { ChainsAnswer } from './ask-chains.ts';

/** What `meta` says of an answer beside its chains. */
export interface MetaFacts {
  readonly address?: string;
  readonly signature?: string;
  readonly page: number;
  readonly limit: number;
  readonly total: number;
  readonly pages: number;
  readonly isCapped: boolean;
}

/**
 * `meta` of a query's answer. Decisions 74 and 75. A chain that does not know a name has nothing of it, which is an answer
 * (Decision 80).
 */
export function metaOf(
  { chains, answered, failed }: ChainsAnswer<unknown>,
  { address, signature, page, limit, total, pages, isCapped }: MetaFacts,
): InsightsSchemas['Meta'] {
  const silent = failed
    .filter(({ failures }) => failures.at(-1)?.error.kind !== 'not_found')
    .map(({ chain }) => chain.id);
  const firstBlocks = answered.flatMap(({ chain, firstBlock }) =>
    firstBlock === undefined ? [] : [{ chain_id: chain.id, block_number: firstBlock }],
  );
  return {
    chain_ids: chains.map(({ id }) => id).filter(id => !silent.includes(id)),
    ...(silent.length === 0 ? {} : { failed_chain_ids: silent }),
    ...(firstBlocks.length === 0 ? {} : { first_blocks: firstBlocks }),
    ...(address === undefined ? {} : { address }),
    ...(signature === undefined ? {} : { signature }),
    page,
    limit_per_chain: limit,
    total_items: total,
    ...(isCapped ? { total_items_capped: true } : {}),
    total_pages: pages,
  };
}
