import type { InsightsOperations } from '../../contract/contracts/insights.ts';
import type { Handlers } from '../../contract/contracts/operations.ts';
import { fieldNamed } from '../../query-model/fields.ts';
import type { Entity, Filter } from '../../query-model/row-selection.ts';
import type { RecordSelection } from '../backends/port/insights-backend.ts';
import { namedEvent } from './event-signature.ts';
import { holdingAnswerers } from './holding-answerers.ts';
import { queryAnswerer } from './query-answerer.ts';
import { recordAnswerers } from './record-answerers.ts';
import { type InsightsOptions, insightsServer } from './serve-through-cache.ts';

/** Handlers of document 2. Each names the question, the chains, and the way answers merge into one body. */
export function insights(options: InsightsOptions): Handlers<InsightsOperations> {
  const serve = insightsServer(options);
  const query = queryAnswerer(options, serve);
  const records = recordAnswerers(options, serve);
  const holdings = holdingAnswerers(options, serve);

  return {
    queryBlocks: async ({ query: parameters }, caller) =>
      query(caller, {
        operation: 'queryBlocks',
        selected: selected('blocks', parameters),
        query: parameters,
      }),

    queryTransactions: async ({ query: parameters }, caller) =>
      query(caller, {
        operation: 'queryTransactions',
        selected: selected('transactions', parameters),
        query: parameters,
      }),

    async queryContractTransactions({ path, query: parameters }, caller) {
      const contract = path.contract_address.toLowerCase();
      return query(caller, {
        operation: 'queryContractTransactions',
        selected: selected('transactions', parameters, { contract }),
        query: parameters,
        about: { address: contract },
      });
    },

    async queryWalletTransactions({ path, query: parameters }, caller) {
      const wallet = path.wallet_address.toLowerCase();
      return query(caller, {
        operation: 'queryWalletTransactions',
        selected: selected('transactions', parameters, { wallet }),
        query: parameters,
        about: { address: wallet },
      });
    },

    queryAllEvents: async ({ query: parameters }, caller) =>
      query(caller, {
        operation: 'queryAllEvents',
        selected: selected('events', parameters),
        query: parameters,
      }),

    async queryContractEvents({ path, query: parameters }, caller) {
      const contract = path.contract_address.toLowerCase();
      return query(caller, {
        operation: 'queryContractEvents',
        selected: selected('events', parameters, { contract }),
        query: parameters,
        about: { address: contract },
      });
    },

    async queryEvents({ path, query: parameters }, caller) {
      const event = namedEvent(path.signature);
      const contract = path.contract_address.toLowerCase();
      return query(caller, {
        operation: 'queryEvents',
        selected: selected('events', parameters, { contract, event }),
        query: parameters,
        about: { address: contract, signature: event.topic0 },
      });
    },

    listTokenBalances: holdings.listTokenBalances,
    resolveInput: records.resolveInput,
    lookUpTokens: records.lookUpTokens,
    getTokenPrices: records.getTokenPrices,
    listOwnedNfts: holdings.listOwnedNfts,
    listContractNfts: holdings.listContractNfts,
    getNft: holdings.getNft,
    listNftTransfers: (request, caller) => records.listNftTransfers('listNftTransfers', request, caller),
    listTokenNftTransfers: (request, caller) =>
      records.listNftTransfers('listTokenNftTransfers', request, caller),
    getContractAbi: records.getContractAbi,
  };
}

const OPERATORS = ['gte', 'gt', 'lte', 'lt'] as const;
const TOPIC = /^topic_\d$/;
const TOPIC_DIGITS = 64;

/** Filters of a request in canonical form: hex in lower case, topics in full length (Decisions 78 and 79). */
function filtersOf(entity: Entity, query: object): Filter[] {
  return Object.entries(query).flatMap(([name, value]): Filter[] => {
    if (!name.startsWith('filter_') || value === undefined || value === null) return [];
    const { base, operator } = splitOperator(name.slice('filter_'.length));
    const field = fieldNamed(entity, base);
    if (field === undefined)
      throw new TypeError(`The contract has a filter ${name}, but ${entity} no such field.`);
    return [{ field, operator, value: canonical(field, value) }];
  });
}

/** Selection of an entity's records by a request. */
function selected<E extends Entity>(
  entity: E,
  query: object,
  more: Pick<RecordSelection, 'wallet' | 'contract' | 'event'> = {},
): RecordSelection & { readonly entity: E } {
  return { entity, filters: filtersOf(entity, query), ...more };
}

function splitOperator(name: string): Pick<Filter, 'operator'> & { base: string } {
  const operator = OPERATORS.find(suffix => name.endsWith(`_${suffix}`));
  return operator === undefined
    ? { base: name, operator: 'eq' }
    : { base: name.slice(0, -operator.length - 1), operator };
}

function canonical(field: string, value: unknown): bigint | string {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return BigInt(value);
  const text = String(value).toLowerCase();
  return TOPIC.test(field) ? `0x${text.replace(/^0x/, '').padStart(TOPIC_DIGITS, '0')}` : text;
}
