import { blockWriter, withdrawal } from './blocks.ts';
import { type Generation, since, type Wire } from './generation.ts';
import {
  addressDetails,
  addressNft,
  addressNftCollection,
  addressToken,
  balancesByDay,
  coinHolder,
  stateChange,
  tokenHolder,
} from './holdings.ts';
import { listedInstance, token, tokenInstance } from './parties.ts';
import {
  addressLogs,
  addressTokens,
  addressTransactions,
  coinHolders,
  instanceTransfers,
  type Position,
  pending,
  plain,
  search,
  stateChanges,
  tokens,
  tokenTransfers,
  transactionLogs,
  verifiedContracts,
} from './positions.ts';
import type { WriteReason } from './reverts.ts';
import { searchResult, summary, traceItem } from './search.ts';
import { smartContract, smartContractItem } from './smart-contract.ts';
import { marketChart, stats, transactionsChart } from './statistics.ts';
import { internalTransaction, log, tokenTransfer, transactionWriter } from './transactions.ts';

/** One path below `/api/v2`. */
export interface Route {
  /** The path with placeholders such as `{hash}`, `{block}`, `{address}` and `{id}`. */
  readonly path: string;
  /** First generation with this path. */
  readonly from?: Generation;
  /** Writes the record, or one item of the list. */
  readonly write: Wire;
  readonly shape: 'record' | 'array' | 'page';
  /** Parameters that filter the answer. */
  readonly filters?: readonly string[];
  /** Filters that generations with checked parameters no longer declare. */
  readonly dropped?: readonly string[];
  /** Absent without pages. */
  readonly position?: (query: URLSearchParams) => Position;
  /** Generations whose pages count their items, or those of all pages so far. `at first` means up to 6.9. */
  readonly counts?: 'always' | 'at first' | 'never' | 'position';
}

const same: Wire = (_generation, record) => record;
const page = (path: string, write: Wire, position: Position, more: Partial<Route> = {}): Route => ({
  path,
  write,
  shape: 'page',
  position: () => position,
  counts: 'always',
  ...more,
});
const record = (path: string, write: Wire, more: Partial<Route> = {}): Route => ({
  path,
  write,
  shape: 'record',
  ...more,
});

const PLACE = plain('block_number', 'index');
const INTERNAL = plain('block_number', 'transaction_index', 'index');
const CALL = plain('transaction_index', 'index');
const HEIGHT = plain('block_number');
const INDEX = plain('index');
const HOLDER = plain('address_hash', 'value');
const HOLDER_OF_ID = plain('address_hash', 'value', 'token_id');
const UNIQUE = plain('unique_token');
const COLLECTION = plain('token_contract_address_hash', 'token_type');
const NFT = plain('token_contract_address_hash', 'token_id', 'token_type');

/** All routes that the contract needs. `seenAt` is the time at which pending transactions were first seen. */
export function routesOf(writeReason: WriteReason, seenAt: string): Route[] {
  const listed = transactionWriter(writeReason, false);
  const block = blockWriter(false);
  const waiting = pending(seenAt);
  return [
    page('/search', searchResult, search, { filters: ['q'], counts: 'at first' }),
    { path: '/search/quick', write: searchResult, shape: 'array', filters: ['q'] },
    record('/search/check-redirect', same, { filters: ['q'] }),
    page('/transactions', listed, PLACE, {
      filters: ['filter', 'type', 'method'],
      dropped: ['type', 'method'],
      position: query => (query.get('filter') === 'pending' ? waiting : PLACE),
    }),
    page('/blocks', block, HEIGHT, { filters: ['type'] }),
    page('/token-transfers', tokenTransfer, tokenTransfers, { from: 'v6.9', counts: 'never' }),
    page('/internal-transactions', internalTransaction, INTERNAL, { from: 'v8' }),
    { path: '/main-page/transactions', write: listed, shape: 'array' },
    { path: '/main-page/blocks', write: block, shape: 'array' },
    record('/main-page/indexing-status', same),
    record('/stats', stats),
    record('/stats/charts/transactions', transactionsChart),
    record('/stats/charts/market', marketChart),
    record('/transactions/stats', same, { from: 'v6.9' }),
    record('/transactions/{hash}', transactionWriter(writeReason, true)),
    page('/transactions/{hash}/token-transfers', tokenTransfer, tokenTransfers, {
      filters: ['type'],
      counts: 'never',
    }),
    page('/transactions/{hash}/internal-transactions', internalTransaction, INTERNAL),
    page('/transactions/{hash}/logs', log, transactionLogs),
    { path: '/transactions/{hash}/raw-trace', write: traceItem, shape: 'array' },
    page('/transactions/{hash}/state-changes', stateChange, stateChanges, { counts: 'position' }),
    record('/transactions/{hash}/summary', summary),
    record('/blocks/{block}', blockWriter(true)),
    page('/blocks/{block}/transactions', listed, PLACE),
    page('/blocks/{block}/internal-transactions', internalTransaction, CALL, { from: 'v8' }),
    page('/blocks/{block}/withdrawals', withdrawal, INDEX),
    page('/addresses', coinHolder, coinHolders),
    record('/addresses/{address}', addressDetails),
    record('/addresses/{address}/counters', same),
    { path: '/addresses/{address}/token-balances', write: addressToken, shape: 'array' },
    page('/addresses/{address}/coin-balance-history', same, HEIGHT),
    record('/addresses/{address}/coin-balance-history-by-day', balancesByDay),
    page('/addresses/{address}/token-transfers', tokenTransfer, tokenTransfers, {
      filters: ['filter', 'type', 'token'],
      counts: 'never',
    }),
    page('/addresses/{address}/transactions', listed, addressTransactions, { filters: ['filter'] }),
    page('/addresses/{address}/tokens', addressToken, addressTokens, { filters: ['type'] }),
    page('/addresses/{address}/nft', addressNft, NFT, { from: 'v6.9', filters: ['type'] }),
    page('/addresses/{address}/nft/collections', addressNftCollection, COLLECTION, {
      from: 'v6.9',
      filters: ['type'],
    }),
    page('/addresses/{address}/withdrawals', withdrawal, INDEX),
    page('/addresses/{address}/blocks-validated', block, HEIGHT),
    page('/addresses/{address}/logs', log, addressLogs),
    page('/addresses/{address}/internal-transactions', internalTransaction, INTERNAL, {
      filters: ['filter'],
    }),
    page('/tokens', token, tokens, { filters: ['q', 'type', 'sort', 'order'] }),
    record('/tokens/{address}', token),
    record('/tokens/{address}/counters', same),
    page('/tokens/{address}/transfers', tokenTransfer, tokenTransfers, { counts: 'never' }),
    page('/tokens/{address}/holders', tokenHolder, HOLDER),
    page('/tokens/{address}/instances', listedInstance, UNIQUE, { filters: ['holder_address_hash'] }),
    record('/tokens/{address}/instances/{id}', tokenInstance),
    page('/tokens/{address}/instances/{id}/transfers', tokenTransfer, instanceTransfers, { counts: 'never' }),
    page('/tokens/{address}/instances/{id}/holders', tokenHolder, HOLDER_OF_ID),
    page('/withdrawals', withdrawal, INDEX),
    page('/smart-contracts', smartContractItem, verifiedContracts(), { filters: ['q', 'filter'] }),
    record('/smart-contracts/counters', same),
    record('/smart-contracts/{address}', smartContract),
  ];
}

/** Matches a path; returns its parameters by name. */
export function match(path: string, target: string): Readonly<Record<string, string>> | undefined {
  const wanted = path.split('/');
  const given = target.split('/');
  if (wanted.length !== given.length) return undefined;
  const found: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const text = given[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name !== undefined) found[name] = text;
    else if (segment !== text) return undefined;
  }
  return found;
}

/** Query parameters that a route declares in a generation. */
export function declared(
  { filters = [], dropped = [], position, shape }: Route,
  generation: Generation,
  query: URLSearchParams,
) {
  const kept = filters.filter(name => !since(generation, 'v9.3') || !dropped.includes(name));
  const keys = position?.(query).names(generation) ?? [];
  return new Set([...kept, ...keys, ...(shape === 'page' ? ['items_count'] : []), 'apikey', 'key']);
}
