import type { OperationId } from '../../src/data/backends/port/backend.ts';
import { number, text } from '../lab/json.ts';
import type { Client } from '../support/contract-client.ts';
import { type Item, itemOf, pageOf, walk } from '../support/walk.ts';
import type { Places } from './ground.ts';

/** One request of an operation. */
export interface Case {
  readonly operation: OperationId;
  readonly path: string;
}

/** A list with more than a page, and the identity of its items. */
export interface ListCase extends Case {
  readonly identity: (item: Item) => string;
  /** Query of the list, besides cursors and keys. */
  readonly query?: Readonly<Record<string, string>>;
}

const named = (...names: readonly string[]) => {
  return (item: Item) => names.map(name => String(at(item, name))).join(' ');
};
const TRANSFER = named('transaction_hash', 'log_index', 'total.token_id');
const INTERNAL = named('block_number', 'transaction_hash', 'index');
const LOG = named('transaction_hash', 'index');
/** Identity of a balance of an address. */
export const tokenHeld = named('token.address', 'token_id');

/** Every list of the contract, each with more than a page. */
export function listCases(places: Places): ListCase[] {
  const {
    holder,
    deployer,
    token,
    popular,
    collection,
    collector,
    crowded,
    validator,
    receiver,
    splitter,
    batch,
    split,
    blockWithWithdrawals,
    blockWithCalls,
  } = places;
  const list = (operation: OperationId, path: string, identity: ListCase['identity']) => ({
    operation,
    path: `/explorer${path}`,
    identity,
  });
  return [
    list('listTransactions', '/transactions', named('hash')),
    { ...list('listTransactions', '/transactions', named('hash')), query: { filter: 'pending' } },
    list('listBlocks', '/blocks', named('hash')),
    list('listTokenTransfers', '/token-transfers', TRANSFER),
    list('listInternalTransactions', '/internal-transactions', INTERNAL),
    list('listWithdrawals', '/withdrawals', named('index')),
    list('listAddresses', '/addresses', named('hash')),
    { ...list('search', '/search', named('type', 'address_hash')), query: { q: 'Crowd' } },
    list('listBlockTransactions', '/blocks/40/transactions', named('hash')),
    list('listBlockInternalTransactions', `/blocks/${blockWithCalls}/internal-transactions`, INTERNAL),
    list('listBlockWithdrawals', `/blocks/${blockWithWithdrawals}/withdrawals`, named('index')),
    list('listAddressTransactions', `/addresses/${deployer}/transactions`, named('hash')),
    list('listAddressCoinBalances', `/addresses/${validator}/coin-balance-history`, named('block_number')),
    list('listAddressTokenTransfers', `/addresses/${holder}/token-transfers`, TRANSFER),
    list('listTokens', '/tokens', named('address')),
    list('listTokenInstances', `/tokens/${collection}/instances`, named('id')),
    list('listTransfersOfTokenInstance', `/tokens/${crowded}/transfers`, TRANSFER),
    list('listTokenInstanceHolders', `/tokens/${crowded}/holders`, named('address.hash')),
    list('listTransfersOfToken', `/tokens/${popular}/transfers`, TRANSFER),
    list('listTokenHolders', `/tokens/${popular}/holders`, named('address.hash', 'token_id')),
    list('listAddressTokens', `/addresses/${holder}/tokens`, tokenHeld),
    list('listAddressNfts', `/addresses/${holder}/nft`, named('token.address', 'id')),
    list('listAddressNftCollections', `/addresses/${collector}/nft/collections`, named('token.address')),
    list('listAddressWithdrawals', `/addresses/${receiver}/withdrawals`, named('index')),
    list('listAddressBlocksValidated', `/addresses/${validator}/blocks-validated`, named('hash')),
    list('listAddressLogs', `/addresses/${token}/logs`, LOG),
    list('listAddressInternalTransactions', `/addresses/${splitter}/internal-transactions`, INTERNAL),
    list('listSmartContracts', '/smart-contracts', named('address.hash')),
    { ...list('listSmartContracts', '/smart-contracts', named('address.hash')), query: { q: 'MEMBER' } },
    list('listTransactionTokenTransfers', `/transactions/${batch}/token-transfers`, TRANSFER),
    list('listTransactionInternalTransactions', `/transactions/${split}/internal-transactions`, INTERNAL),
    list('listTransactionLogs', `/transactions/${split}/logs`, LOG),
    list(
      'listTransactionStateChanges',
      `/transactions/${split}/state-changes`,
      named('address.hash', 'type', 'token.address', 'token_id'),
    ),
  ];
}

/** Lists with filters, each of which includes and excludes something. */
export function filterCases({ holder, token, collection, collector, splitter, batch }: Places): ListCase[] {
  const transactions = { operation: 'listTransactions', path: '/explorer/transactions' } as const;
  const transfers = {
    operation: 'listTransactionTokenTransfers',
    path: `/explorer/transactions/${batch}/token-transfers`,
  } as const;
  const internal = {
    operation: 'listAddressInternalTransactions',
    path: `/explorer/addresses/${splitter}/internal-transactions`,
  } as const;
  const tokens = { operation: 'listAddressTokens', path: `/explorer/addresses/${holder}/tokens` } as const;
  const nfts = { operation: 'listAddressNfts', path: `/explorer/addresses/${holder}/nft` } as const;
  return [
    { ...transactions, identity: named('hash'), query: { type: 'token_transfer' } },
    { ...transactions, identity: named('hash'), query: { type: 'contract_creation,token_creation' } },
    { ...transactions, identity: named('hash'), query: { method: 'transfer' } },
    { ...transactions, identity: named('hash'), query: { method: '0xA9059CBB', type: 'contract_call' } },
    ...[
      { filter: 'from' },
      { filter: 'to' },
      { type: 'ERC-721,ERC-1155' },
      { filter: 'to', type: 'ERC-1155' },
      { token },
      { token: collection, filter: 'to' },
    ].map(query => ({
      operation: 'listAddressTokenTransfers' as const,
      path: `/explorer/addresses/${holder}/token-transfers`,
      identity: TRANSFER,
      query,
    })),
    ...['from', 'to'].map(filter => ({
      operation: 'listAddressTransactions' as const,
      path: `/explorer/addresses/${holder}/transactions`,
      identity: named('hash'),
      query: { filter },
    })),
    {
      operation: 'listAddressTransactions',
      path: `/explorer/addresses/${token}/transactions`,
      identity: named('hash'),
      query: { filter: 'to' },
    },
    { ...transfers, identity: TRANSFER, query: { type: 'ERC-1155' } },
    { ...transfers, identity: TRANSFER, query: { type: 'ERC-20,ERC-721' } },
    { ...internal, identity: INTERNAL, query: { filter: 'from' } },
    { ...internal, identity: INTERNAL, query: { filter: 'to' } },
    {
      operation: 'listAddressInternalTransactions',
      path: `/explorer/addresses/${collection}/internal-transactions`,
      identity: INTERNAL,
      query: { filter: 'to' },
    },
    { ...tokens, identity: tokenHeld, query: { type: 'ERC-20' } },
    { ...nfts, identity: named('token.address', 'id'), query: { type: 'ERC-1155' } },
    {
      operation: 'listAddressNftCollections',
      path: `/explorer/addresses/${collector}/nft/collections`,
      identity: named('token.address'),
      query: { type: 'ERC-1155' },
    },
    { ...nfts, identity: named('token.address', 'id'), query: { type: 'ERC-404' } },
    {
      operation: 'listTokenInstances',
      path: `/explorer/tokens/${collection}/instances`,
      identity: named('id'),
      query: { holder_address_hash: holder },
    },
    ...[
      { type: 'ERC-721,ERC-1155' },
      { type: 'ERC-404' },
      { q: 'crowd' },
      { sort: 'holders_count', order: 'asc' },
      { sort: 'holders_count', type: 'ERC-20' },
    ].map(query => ({
      operation: 'listTokens' as const,
      path: '/explorer/tokens',
      identity: named('address'),
      query,
    })),
    ...[{ q: 'sample' }, { q: collection }, { filter: 'solidity', q: 'member 1' }].map(query => ({
      operation: 'listSmartContracts' as const,
      path: '/explorer/smart-contracts',
      identity: named('address.hash'),
      query,
    })),
    {
      operation: 'listBlocks',
      path: '/explorer/blocks',
      identity: named('hash'),
      query: { type: 'reorg' },
    },
  ];
}

/** A transaction of every sort: by type, method, outcome and kinds. `few` returns only some. */
export async function transactionsOfEverySort(reference: Client, few: boolean): Promise<string[]> {
  const { items } = await walk(reference, '/explorer/transactions');
  const sorts = new Map<string, string>();
  for (const item of items) {
    const { type, method, status, transaction_types: kinds, hash } = item;
    const sort = few ? [type, status] : [type, method, status, kinds];
    sorts.set(JSON.stringify(sort), text(hash));
  }
  return [...sorts.values()];
}

/** Everything about one transaction. */
export function transactionCases(hash: string): Case[] {
  const path = `/explorer/transactions/${hash}`;
  return [
    { operation: 'getTransaction', path },
    { operation: 'listTransactionTokenTransfers', path: `${path}/token-transfers` },
    { operation: 'listTransactionInternalTransactions', path: `${path}/internal-transactions` },
    { operation: 'listTransactionLogs', path: `${path}/logs` },
    { operation: 'getTransactionRawTrace', path: `${path}/raw-trace` },
    { operation: 'getTransactionProof', path: `${path}/proof` },
    { operation: 'listTransactionStateChanges', path: `${path}/state-changes` },
    { operation: 'getTransactionSummary', path: `${path}/summary` },
  ];
}

/** Records of every other kind, by number, hash, address, id and name. */
export async function recordCases(reference: Client, places: Places): Promise<Case[]> {
  const blocks = pageOf((await reference.get('/explorer/blocks')).body).items;
  const nfts = pageOf((await reference.get(`/explorer/addresses/${places.holder}/nft`)).body).items;
  const [latest, older] = [blocks.at(0), blocks.at(-1)];
  const ids = [latest?.height, latest?.hash, older?.height, older?.hash, 0, 1, 40].map(String);
  const words = [
    'Community',
    'crowd 3',
    'USDS',
    'nothing is called this',
    ...ids,
    places.holder,
    places.token,
    places.nobody,
    places.batch,
  ];
  const [nft] = nfts;
  const instances = [
    `${places.collection}/instances/${text(itemOf(nft).id)}`,
    `${places.collection}/instances/1`,
    ...(await uniqueInstances(reference)),
  ];
  return [
    { operation: 'getStats', path: '/explorer/stats' },
    { operation: 'getTransactionStats', path: '/explorer/transactions/stats' },
    { operation: 'getSmartContractCounters', path: '/explorer/smart-contracts/counters' },
    { operation: 'getTransactionsChart', path: '/explorer/stats/charts/transactions' },
    { operation: 'getMarketChart', path: '/explorer/stats/charts/market' },
    { operation: 'getIndexingStatus', path: '/explorer/main-page/indexing-status' },
    { operation: 'listMainPageTransactions', path: '/explorer/main-page/transactions' },
    { operation: 'listMainPageBlocks', path: '/explorer/main-page/blocks' },
    ...ids.map(id => ({ operation: 'getBlock' as const, path: `/explorer/blocks/${id}` })),
    ...[places.holder, places.validator, places.receiver, ...places.contracts].flatMap(hash => [
      { operation: 'getAddress' as const, path: `/explorer/addresses/${hash}` },
      { operation: 'getAddressCounters' as const, path: `/explorer/addresses/${hash}/counters` },
      {
        operation: 'getAddressCoinBalancesByDay' as const,
        path: `/explorer/addresses/${hash}/coin-balance-history-by-day`,
      },
      { operation: 'listAddressTokenBalances' as const, path: `/explorer/addresses/${hash}/token-balances` },
    ]),
    ...places.contracts.map(hash => ({
      operation: 'getSmartContract' as const,
      path: `/explorer/smart-contracts/${hash}`,
    })),
    ...[places.token, places.collection, places.popular].flatMap(hash => [
      { operation: 'getToken' as const, path: `/explorer/tokens/${hash}` },
      { operation: 'getTokenCounters' as const, path: `/explorer/tokens/${hash}/counters` },
    ]),
    ...instances.map(path => ({ operation: 'getTokenInstance' as const, path: `/explorer/tokens/${path}` })),
    ...words.flatMap(word => [
      { operation: 'search' as const, path: `/explorer/search?q=${encodeURIComponent(word)}` },
      { operation: 'quickSearch' as const, path: `/explorer/search/quick?q=${encodeURIComponent(word)}` },
      {
        operation: 'searchRedirect' as const,
        path: `/explorer/search/check-redirect?q=${encodeURIComponent(word)}`,
      },
    ]),
    { operation: 'search', path: '/explorer/search' },
    { operation: 'search', path: '/explorer/search?q=' },
    { operation: 'quickSearch', path: '/explorer/search/quick' },
    { operation: 'searchRedirect', path: '/explorer/search/check-redirect' },
  ];
}

/** Paths below `/tokens` of an NFT with a single copy. */
async function uniqueInstances(reference: Client): Promise<string[]> {
  const { items } = await walk(reference, '/explorer/token-transfers');
  const moved = items.find(item => item.token_type === 'ERC-721');
  const item = itemOf(moved);
  return [`${text(itemOf(item.token).address)}/instances/${text(itemOf(item.total).token_id)}`];
}

/** Height of the chain. */
export async function headOf(reference: Client): Promise<number> {
  const [latest] = pageOf((await reference.get('/explorer/blocks')).body).items;
  return number(itemOf(latest).height);
}

function at(item: Item, path: string): unknown {
  let value: unknown = item;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = itemOf(value)[name];
  }
  return value;
}
