import type { InsightsOperations } from '../../contract/contracts/insights.ts';
import type { Handlers } from '../../contract/contracts/operations.ts';
import { namedEvent } from './event-signature.ts';
import { selected } from './filters.ts';
import { queryAnswerer } from './query-answerer.ts';
import { recordAnswerers } from './record-answerers.ts';
import { type InsightsOptions, insightsServer } from './serve-through-cache.ts';

/** Document 2: what each operation asks, of which chains, and how what they answer becomes one body. */
export function insights(options: InsightsOptions): Handlers<InsightsOperations> {
  const serve = insightsServer(options);
  const query = queryAnswerer(options, serve);
  const records = recordAnswerers(options, serve);

  return {
    queryBlocks: async ({ query: parameters }, caller) =>
      query(
        { operation: 'queryBlocks', selected: selected('blocks', parameters), query: parameters },
        caller,
      ),

    queryTransactions: async ({ query: parameters }, caller) =>
      query(
        { operation: 'queryTransactions', selected: selected('transactions', parameters), query: parameters },
        caller,
      ),

    async queryWalletTransactions({ path, query: parameters }, caller) {
      const wallet = path.wallet_address.toLowerCase();
      return query(
        {
          operation: 'queryWalletTransactions',
          selected: selected('transactions', parameters, { wallet }),
          query: parameters,
          about: { address: wallet },
        },
        caller,
      );
    },

    async queryEvents({ path, query: parameters }, caller) {
      const event = namedEvent(path.signature);
      const contract = path.contract_address.toLowerCase();
      return query(
        {
          operation: 'queryEvents',
          selected: selected('events', parameters, { event: { contract, ...event } }),
          query: parameters,
          about: { address: contract, signature: event.topic0 },
        },
        caller,
      );
    },

    lookUpTokens: records.lookUpTokens,
    getTokenPrices: records.getTokenPrices,
    listNftTransfers: (request, caller) => records.listNftTransfers('listNftTransfers', request, caller),
    listTokenNftTransfers: (request, caller) =>
      records.listNftTransfers('listTokenNftTransfers', request, caller),
    getContractAbi: records.getContractAbi,
  };
}
