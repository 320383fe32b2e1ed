import type { InsightsOperationId } from '#data/backends/port/insights-backend.ts';
import { pathOf, type Query, type SeenChain } from '../../data/insights/over-http/ground.ts';

/** One request of an operation of document 2. */
export interface InsightsCase {
  readonly operation: InsightsOperationId;
  readonly path: string;
}

const TRANSFER = 'Transfer(address,address,uint256)';
const INDEXED = 'Transfer(address indexed from, address indexed to, uint256 value)';
const AMOUNT = 'sum(reinterpretAsUInt256(reverse(unhex(substring(data, 3)))))';
const TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const ZERO = `0x${'0'.repeat(40)}`;
const NOBODY = `0x${'77'.repeat(20)}`;

/** Requests of every operation, about one chain and about both, with and without filters, orders and groups. */
export function insightsCases([first, second]: readonly [SeenChain, SeenChain]): InsightsCase[] {
  const both = { chain_id: [first.id, second.id] };
  const coin = first.contract('Community Token');
  const cards = first.contract('Postcards');
  const items = first.contract('Game Items');
  const one = first.seen.transactions.at(-3);
  const block = first.seen.blocks.at(-5);
  const wallet = one?.from ?? '';
  // The last receiver of items, which is the third topic of its events.
  const moved = first.logs.findLast(log => log.address.toLowerCase() === items.toLowerCase());
  const collector = `0x${moved?.topics[3]?.slice(-40)}`;
  // All token kinds that an Insight-compatible service lists (Decision 216).
  const held = { ...both, token_type: ['native', 'erc20'] };
  const cases: [InsightsOperationId, string, Query][] = [
    ['queryBlocks', '/blocks', {}],
    ['queryBlocks', '/blocks', { ...both, limit: 5, page: 3 }],
    ['queryBlocks', '/blocks', { ...both, limit: 0 }],
    ['queryBlocks', '/blocks', { sort_by: 'block_hash', sort_order: 'asc', limit: 300 }],
    ['queryBlocks', '/blocks', { filter_hash: block?.hash ?? '' }],
    [
      'queryBlocks',
      '/blocks',
      { filter_block_number_gt: 5, filter_block_timestamp_lte: Number(block?.timestamp) },
    ],
    ['queryBlocks', '/blocks', { ...both, filter_block_number_gt: 100_000 }],
    ['queryBlocks', '/blocks', { ...both, aggregate: 'count(), sum(gas_used) as gas, avg(size) as mean' }],
    ['queryBlocks', '/blocks', { ...both, group_by: 'day', aggregate: 'max(block_number) as last' }],
    ['queryBlocks', '/blocks', { group_by: 'week', sort_order: 'asc' }],
    ['queryBlocks', '/blocks', { group_by: 'block_hash', sort_order: 'asc', limit: 3 }],
    ['queryBlocks', '/blocks', { aggregate: 'max(gas_used), count()', filter_block_number_gt: 100_000 }],
    ['queryTransactions', '/transactions', { ...both, limit: 400, decode: 'true' }],
    ['queryTransactions', '/transactions', { chain_id: second.id, sort_by: 'value', limit: 50, page: 1 }],
    ['queryTransactions', '/transactions', { filter_hash: one?.hash ?? '' }],
    ['queryTransactions', '/transactions', { filter_from_address: one?.from ?? '', limit: 3 }],
    [
      'queryTransactions',
      '/transactions',
      { filter_to_address: coin, filter_function_selector: '0xa9059cbb' },
    ],
    ['queryTransactions', '/transactions', { ...both, filter_value_gte: 10n ** 18n, filter_gas_price_gt: 1 }],
    [
      'queryTransactions',
      '/transactions',
      { filter_block_hash: one?.blockHash ?? '', filter_gas_lt: 10n ** 9n },
    ],
    ['queryTransactions', '/transactions', { filter_to_address: 'coin.eth', limit: 2 }],
    ['queryTransactions', '/transactions', { filter_to_address: 'nobody.eth' }],
    ['queryTransactions', '/transactions', { ...both, group_by: 'from_address', limit: 1000 }],
    [
      'queryTransactions',
      '/transactions',
      {
        ...both,
        group_by: ['transaction_type', 'status'],
        aggregate: [
          'count() as n',
          'sum(value) as wei, avg(gas_used) as mean',
          'sum(gas_used * gas_price) as fees',
        ],
        sort_by: 'n',
      },
    ],
    ['queryTransactions', '/transactions', { ...both, aggregate: 'count(distinct from_address) as senders' }],
    [
      'queryTransactions',
      '/transactions',
      { group_by: 'to_address', aggregate: 'min(nonce)', limit: 4, page: 1 },
    ],
    ['queryTransactions', '/transactions', { aggregate: 'nonsense(' }],
    ['queryContractTransactions', `/transactions/${coin}`, { limit: 300, decode: 'true' }],
    [
      'queryContractTransactions',
      `/transactions/${coin}`,
      { filter_function_selector: '0xa9059cbb', page: 1 },
    ],
    ['queryContractTransactions', '/transactions/coin.eth', { ...both, group_by: 'from_address' }],
    ['queryContractTransactions', '/transactions/nobody.eth', {}],
    ['queryContractTransactions', `/transactions/${NOBODY}`, both],
    ['queryWalletTransactions', `/wallets/${one?.from}/transactions`, { ...both, limit: 9 }],
    ['queryWalletTransactions', '/wallets/alice.eth/transactions', { ...both, limit: 9, decode: 'true' }],
    ['queryWalletTransactions', `/wallets/${NOBODY}/transactions`, both],
    [
      'queryWalletTransactions',
      `/wallets/${one?.from}/transactions`,
      { ...both, aggregate: 'sum(value) as wei' },
    ],
    ['queryAllEvents', '/events', { ...both, limit: 400, decode: 'true' }],
    ['queryAllEvents', '/events', { filter_topic_0: TOPIC, filter_address: cards, sort_order: 'asc' }],
    ['queryAllEvents', '/events', { filter_topic_0: TOPIC, filter_topic_1: first.alice, ...both }],
    ['queryAllEvents', '/events', { filter_address: 'coin.eth', limit: 3 }],
    ['queryAllEvents', '/events', { filter_address: 'nobody.eth' }],
    ['queryAllEvents', '/events', { ...both, group_by: 'address', aggregate: 'count() as n', sort_by: 'n' }],
    ['queryContractEvents', `/events/${coin}`, { limit: 7, page: 1 }],
    ['queryContractEvents', `/events/${coin}`, { filter_topic_0: TOPIC, decode: 'true' }],
    ['queryContractEvents', '/events/coin.eth', { ...both, group_by: ['topic_0'] }],
    ['queryContractEvents', '/events/nobody.eth', {}],
    ['queryContractEvents', `/events/${NOBODY}`, both],
    ['queryEvents', `/events/${coin}/${TRANSFER}`, { limit: 300 }],
    ['queryEvents', `/events/${coin}/${TRANSFER}`, { decode: 'true', sort_order: 'asc' }],
    ['queryEvents', `/events/${coin}/${encodeURIComponent(INDEXED)}`, {}],
    ['queryEvents', `/events/${coin}/${TOPIC}`, { limit: 7, page: 1 }],
    ['queryEvents', `/events/${coin}/${TOPIC}`, { group_by: 'topic_1', aggregate: `${AMOUNT} as total` }],
    ['queryEvents', `/events/${cards}/${TRANSFER}`, { filter_topic_3: '0x1', filter_log_index_gte: 0 }],
    [
      'queryEvents',
      `/events/coin.eth/${TRANSFER}`,
      { filter_topic_1: first.alice, filter_transaction_index_lt: 4 },
    ],
    ['queryEvents', `/events/${NOBODY}/${TRANSFER}`, both],
    ['listTokenBalances', '/tokens', { ...held, owner_address: wallet }],
    [
      'listTokenBalances',
      '/tokens',
      { ...held, owner_address: [wallet, NOBODY, first.alice], limit: 3, page: 1 },
    ],
    [
      'listTokenBalances',
      '/tokens',
      { ...held, owner_address: wallet, metadata: 'true', sort_by: 'usd_value', sort_order: 'desc' },
    ],
    ['listTokenBalances', '/tokens', { ...held, owner_address: wallet, sort_by: 'token_price', limit: 250 }],
    [
      'listTokenBalances',
      '/tokens',
      { token_type: 'erc20', owner_address: wallet, metadata: 'true', include_without_price: 'false' },
    ],
    ['listTokenBalances', '/tokens', { ...held, owner_address: wallet, token_address: [coin, ZERO] }],
    ['listTokenBalances', '/tokens', { ...held, owner_address: wallet, include_native: 'false' }],
    ['listTokenBalances', '/tokens', { ...held, owner_address: wallet, limit: 0 }],
    ['listTokenBalances', '/tokens', { owner_address: 'nobody.eth', token_type: 'erc20' }],
    ['resolveInput', `/resolve/${block?.number}`, both],
    ['resolveInput', `/resolve/${block?.hash}`, {}],
    ['resolveInput', `/resolve/${one?.hash}`, {}],
    ['resolveInput', `/resolve/${second.seen.transactions.at(-1)?.hash}`, {}],
    ['resolveInput', `/resolve/${TOPIC}`, both],
    ['resolveInput', `/resolve/${TRANSFER}`, {}],
    ['resolveInput', '/resolve/0xa9059cbb', {}],
    ['resolveInput', '/resolve/transfer(address,uint256)', both],
    ['resolveInput', `/resolve/${coin}`, both],
    ['resolveInput', `/resolve/${one?.from}`, {}],
    ['resolveInput', '/resolve/coin.eth', both],
    ['resolveInput', '/resolve/alice.eth', { chain_id: second.id }],
    ['resolveInput', '/resolve/nobody.eth', both],
    ['resolveInput', '/resolve/hello', {}],
    ['resolveInput', `/resolve/${NOBODY}`, both],
    ['lookUpTokens', '/tokens/lookup', { ...both, symbol: ['toll', 'USDS'] }],
    [
      'lookUpTokens',
      '/tokens/lookup',
      { symbol: Array.from({ length: 12 }, (_, at) => `NONE${at}`).concat('TOLL') },
    ],
    ['getTokenPrices', '/tokens/price', { ...both, symbol: 'TOLL' }],
    ['getTokenPrices', '/tokens/price', { address: [coin, NOBODY], symbol: 'usds', include_holders: 'true' }],
    [
      'getTokenPrices',
      '/tokens/price',
      { address: 'coin.eth', include_historical_prices: 'true', timestamp: Number(block?.timestamp) },
    ],
    ['getTokenPrices', '/tokens/price', { address: 'nobody.eth', chain_id: first.id }],
    ['getTokenPrices', '/tokens/price', { symbol: 'TOLL', timestamp: 0 }],
    ['listOwnedNfts', '/nfts', { ...both, owner_address: [collector, NOBODY], limit: 250 }],
    ['listOwnedNfts', '/nfts', { owner_address: collector, contract_address: [items], limit: 1, page: 1 }],
    ['listOwnedNfts', '/nfts', { owner_address: collector, limit: 0 }],
    ['listOwnedNfts', '/nfts', { owner_address: 'nobody.eth' }],
    ['listContractNfts', `/nfts/${cards}`, { ...both, include_owners: 'true', limit: 7, page: 1 }],
    ['listContractNfts', `/nfts/${items}`, { resolve_metadata_links: 'false', limit: 150 }],
    ['listContractNfts', '/nfts/cards.eth', { limit: 0 }],
    ['listContractNfts', `/nfts/${NOBODY}`, both],
    ['listContractNfts', '/nfts/nobody.eth', {}],
    ['getNft', `/nfts/${items}/1`, { ...both, include_owners: 'true' }],
    ['getNft', '/nfts/cards.eth/1', {}],
    ['getNft', `/nfts/${cards}/987654321`, both],
    ['listNftTransfers', `/nfts/transfers/${cards}`, { limit: 7, page: 1 }],
    ['listNftTransfers', `/nfts/transfers/${items}`, { ...both, limit: 250 }],
    ['listNftTransfers', `/nfts/transfers/${cards}`, { limit: 0 }],
    ['listNftTransfers', '/nfts/transfers/cards.eth', { metadata: 'true', include_owners: 'true', limit: 4 }],
    ['listNftTransfers', `/nfts/transfers/${NOBODY}`, both],
    ['listNftTransfers', '/nfts/transfers/nobody.eth', {}],
    ['listTokenNftTransfers', `/nfts/transfers/${cards}/1`, { sales: 'true', metadata: 'true' }],
    [
      'listTokenNftTransfers',
      `/nfts/transfers/${items}/1`,
      { resolve_metadata_links: 'false', metadata: 'true' },
    ],
    ['listTokenNftTransfers', `/nfts/transfers/${cards}/987654321`, {}],
    ['getContractAbi', `/contracts/abi/${coin}`, {}],
    ['getContractAbi', `/contracts/abi/${first.contract('Treasury Proxy')}`, both],
    ['getContractAbi', '/contracts/abi/coin.eth', { chain_id: first.id }],
    ['getContractAbi', `/contracts/abi/${second.contract('Community Token')}`, both],
    ['getContractAbi', `/contracts/abi/${NOBODY}`, both],
  ];
  return cases.map(([operation, path, query]) => ({ operation, path: pathOf(path, query) }));
}
