import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import type { Backend, Validity } from '#data/backends/port/backend.ts';
import type { InsightsAnswers, InsightsAsk } from '#data/backends/port/insights-backend.ts';
import type { Chain } from '#data/fallback/chain.ts';
import type { Entity, EntityRecords } from '#query-model/row-selection.ts';
import { record } from '../../lab/json.ts';
import { answererOver, backend, told } from '../answer-support.ts';

type Block = InsightsSchemas['Block'];

/** Behaviour of a back end in memory, and the requests it received. */
export interface Memory {
  readonly backend: Backend;
  /** Chains of each call. */
  readonly calls: number[][];
}

/** A back end with as many blocks per chain as `answer` returns; it fails when `answer` throws. */
export function memory(
  name: string,
  {
    chainId,
    answer = () => ({ blocks: 1 }),
    sharedAs,
    insights = {},
    validity,
  }: {
    chainId: number;
    answer?: (ask: InsightsAsk) => { blocks: number; isCapped?: boolean };
    sharedAs?: string;
    insights?: InsightsAnswers;
    validity?: () => Validity;
  },
  calls: number[][] = [],
): Memory {
  const told = async (ask: InsightsAsk) => {
    calls.push([...ask.chainIds]);
    return answer(ask);
  };
  return {
    calls,
    backend: {
      ...backend({ name, chainId, answers: {}, ...(validity === undefined ? {} : { validity }) }),
      ...(sharedAs === undefined ? {} : { sharedAs }),
      insights: {
        async records<E extends Entity>(_query: unknown, ask: InsightsAsk) {
          const { blocks, isCapped = false } = await told(ask);
          const rows = ask.chainIds.flatMap(id => Array.from({ length: blocks }, (_, at) => block(id, at)));
          const records: Records<E> = JSON.parse(JSON.stringify(rows));
          return { records, total: blocks * ask.chainIds.length, isCapped, pages: blocks };
        },
        async groups(_query, ask) {
          const { blocks } = await told(ask);
          return [{ keys: [], folds: [BigInt(blocks)] }];
        },
        ...insights,
      },
    },
  };
}

type Records<E extends Entity> = EntityRecords[E][];

/** A made-up block. */
function block(chainId: number, number: number): Partial<Block> {
  return { chain_id: chainId, block_number: number };
}

/** Requests blocks from the handlers over these chains. */
export function asking(chains: readonly Chain[], options: Parameters<typeof answererOver>[1] = {}) {
  const { insights, clock } = answererOver(chains, options);
  const query = { limit: 20, page: 0, sort_order: 'desc' } as const;
  return {
    insights,
    clock,
    async blocks(chain_id?: number[], more: { aggregate?: string[] } = {}) {
      const named = chain_id === undefined ? {} : { chain_id };
      const answer = await told(
        insights.queryBlocks({ path: {}, query: { ...query, ...named, ...more } }, { headers: {} }),
      );
      const { data, meta, aggregations } = record(JSON.parse(answer.body ?? ''));
      return { headers: answer, data, aggregations, meta: record(meta) };
    },
  };
}
