import type { Address } from 'viem';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import type { Entity, EntityRecords, Filter } from '#query-model/row-selection.ts';
import { isOfKind } from '../../port/backend-error.ts';
import {
  type InsightsAnswers,
  type InsightsAsk,
  type RecordSelection,
  recordValues,
} from '../../port/insights-backend.ts';
import { firstKnown, MAX_RESOLVED, resolvedAs, UNKNOWN } from '../../port/resolved-input.ts';
import { resolveAddress } from '../source/names.ts';
import type { IndexSource } from '../source/source.ts';

type ResolvedInput = InsightsSchemas['ResolvedInput'];
type RecordAnswers = Required<Pick<InsightsAnswers, 'records'>>;

/** Resolves a text on the index's chain by querying for matching records (Decision 212). */
export function resolveAnswers(
  source: IndexSource,
  answers: RecordAnswers,
): Required<Pick<InsightsAnswers, 'resolveInput'>> {
  return {
    async resolveInput(input, ask) {
      const newest = newestRecords(answers, ask);
      const block = async (field: 'block_number' | 'block_hash', value: bigint | string) =>
        resolvedAs('block', { blocks: await newest('blocks', [equal(field, value)]) });
      const transaction = async (hash: string) =>
        resolvedAs('transaction', { transactions: await newest('transactions', [equal('hash', hash)]) });
      const events = async (topic0: string) =>
        resolvedAs('event_signature', { events: await newest('events', [equal('topic_0', topic0)]) });
      const calls = async (selector: string) =>
        resolvedAs('function_signature', {
          transactions: await newest('transactions', [equal('function_selector', selector)]),
        });
      switch (input.kind) {
        case 'number':
          return block('block_number', input.number);
        case 'hash': {
          const { hash } = input;
          return firstKnown([() => transaction(hash), () => block('block_hash', hash), () => events(hash)]);
        }
        case 'selector':
          return calls(input.selector);
        case 'signature':
          return firstKnown([() => events(input.topic0), () => calls(input.selector)]);
        case 'address': {
          const address = await addressOrNull(source, input.address);
          return address === null ? UNKNOWN : account(source, address, newest);
        }
      }
    },
  };
}

type NewestRecords = <E extends Entity>(
  entity: E,
  filters: readonly Filter[],
  more?: Pick<RecordSelection, 'wallet' | 'contract'>,
) => Promise<EntityRecords[E][]>;

function newestRecords({ records }: RecordAnswers, ask: InsightsAsk): NewestRecords {
  const sort = { field: 'block_number', order: 'desc' } as const;
  return async (entity, filters, more = {}) => {
    const query = { entity, filters, ...more, sort, limit: MAX_RESOLVED, page: 0, decode: false };
    return [...recordValues((await records(query, ask)).records)];
  };
}

function equal(field: string, value: bigint | string): Filter {
  return { field, operator: 'eq', value };
}

async function account(
  { reader }: IndexSource,
  address: Address,
  newest: NewestRecords,
): Promise<ResolvedInput> {
  const [row] = await reader.addresses([address]);
  const isContract = row?.isContract === true;
  const transactions = await newest(
    'transactions',
    [],
    isContract ? { contract: address } : { wallet: address },
  );
  return { type: isContract ? 'contract' : 'address', address, transactions };
}

/** Resolves an address or name. Null for a name that the chain does not know. */
async function addressOrNull(source: IndexSource, text: string): Promise<Address | null> {
  return resolveAddress(source, text).catch((error: unknown) => {
    if (isOfKind(error, 'not_found')) return null;
    throw error;
  });
}
