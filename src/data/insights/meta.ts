import type { InsightsSchemas } from '../../contract/insights.ts';
import type { Asked } from './ask-chains.ts';

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

/** `meta` of a query's answer. Decisions 74 and 75. */
export function metaOf(
  { parts, failed }: Asked<unknown>,
  { address, signature, page, limit, total, pages, isCapped }: MetaFacts,
): InsightsSchemas['Meta'] {
  return {
    chain_ids: parts.flatMap(({ chains }) => chains.map(({ id }) => id)),
    ...(failed.length === 0 ? {} : { failed_chain_ids: failed.map(({ chain }) => chain.id) }),
    ...(address === undefined ? {} : { address }),
    ...(signature === undefined ? {} : { signature }),
    page,
    limit_per_chain: limit,
    total_items: total,
    ...(isCapped ? { total_items_capped: true } : {}),
    total_pages: pages,
  };
}
