import type { Address, Hash } from 'viem';
import type { Db } from '../db/open.ts';
import type { Abis } from '../evm/abi/abi.ts';
import type { InstanceKey } from '../evm/token-id.ts';
import type { ChainClient } from '../node/client.ts';
import { type NodeReader, nodeReader } from '../node/node-reads.ts';
import {
  type PendingTransaction,
  pendingTransaction,
  pendingTransactions,
} from '../node/pending-transactions.ts';
import { type NameQuestion, resolveName } from '../node/resolve-name.ts';
import { type CallContext, ownerOf, tokenUris } from '../node/token-uris.ts';
import { type AddressRow, addresses } from './read/addresses.ts';
import {
  type AddressInternalQuery,
  addressInternalTransactions,
} from './read/blocks/address-internal-transactions.ts';
import {
  type BlockQuery,
  type BlockRow,
  blockByNumberOrHash,
  blocks,
  validatedBlocks,
} from './read/blocks/blocks.ts';
import {
  type InternalTransactionRow,
  internalTransactions,
  internalTransactionsOf,
  type TracePlace,
} from './read/blocks/internal-transactions.ts';
import { addressLogs, type LogRow, logs } from './read/blocks/logs.ts';
import type { TransactionRow } from './read/blocks/transaction-row.ts';
import { type TransactionQuery, transactionByHash, transactions } from './read/blocks/transactions.ts';
import { type WithdrawalQuery, type WithdrawalRow, withdrawals } from './read/blocks/withdrawals.ts';
import { type CoinHolderPlace, type CoinHolderRow, coinHolders } from './read/coin-holders.ts';
import { type ContractRow, contract } from './read/contracts.ts';
import type { ForwardPageRequest, Page, PageRequest } from './read/page.ts';
import { implementations } from './read/proxies.ts';
import { contractsNamed, isOnChain, type NamedAddress, type NameQuery, tokensNamed } from './read/search.ts';
import {
  type BlockLoad,
  type DayRow,
  days,
  recentGasPrices,
  recentLoad,
  type Totals,
  totals,
} from './read/statistics.ts';
import { type MarketReader, marketReader } from './read/tokens/market-reader.ts';
import { type NftHoldingQuery, type NftHoldingRow, nftHoldings } from './read/tokens/nft-holdings.ts';
import { type NftReader, nftReader } from './read/tokens/nfts.ts';
import { type TokenHoldingQuery, type TokenHoldingRow, tokenHoldings } from './read/tokens/token-holdings.ts';
import { type InstanceRow, tokenInstances } from './read/tokens/token-instances.ts';
import { type BalanceMove, tokenMoves } from './read/tokens/token-moves.ts';
import { tokensWithSymbols } from './read/tokens/token-symbols.ts';
import {
  type TokenTransferQuery,
  type TokenTransferRow,
  type TransactionTransferQuery,
  tokenTransfers,
  tokenTransfersOf,
} from './read/tokens/token-transfers.ts';
import { type TokenRow, tokens } from './read/tokens/tokens.ts';
import { type Head, readHead } from './schema/head.ts';

/**
 * Everything that can be asked of the index. Only the canonical chain shows, but for blocks asked for by kind
 * or hash. Lists are newest first, those of one transaction in their order; a page costs the same wherever it lies.
 */
export interface Reader {
  abis: Abis;
  /** What only the node knows, asked at this moment. */
  node: NodeReader;
  markets: MarketReader;
  nfts: NftReader;
  /** Null while the index is empty. */
  head(): Promise<Head | null>;
  transactions(query: TransactionQuery): Promise<Page<TransactionRow>>;
  transactionByHash(hash: Hash): Promise<TransactionRow | null>;
  /** From the node's pool at this moment, not from the index. */
  pendingTransactions(): Promise<PendingTransaction[]>;
  /** Null when the node does not know it. @throws MinedMeanwhile when it is in a block that is not indexed yet. */
  pendingTransaction(hash: Hash): Promise<PendingTransaction | null>;
  blocks(query: BlockQuery): Promise<Page<BlockRow>>;
  blockByNumberOrHash(id: number | Hash): Promise<BlockRow | null>;
  tokenTransfers(query: TokenTransferQuery): Promise<Page<TokenTransferRow>>;
  tokenTransfersOf(query: TransactionTransferQuery): Promise<Page<TokenTransferRow>>;
  logs(query: ForwardPageRequest & { transactionHash: Hash }): Promise<Page<LogRow>>;
  internalTransactions(query: { limit: number; before?: TracePlace }): Promise<Page<InternalTransactionRow>>;
  internalTransactionsOf(query: {
    transactionHash: Hash;
    limit: number;
    afterIndex?: number;
  }): Promise<Page<InternalTransactionRow>>;
  /** Every movement of a token in a block, in order. */
  tokenMoves(blockNumber: number): Promise<BalanceMove[]>;
  /** Null when no transaction in the index created it. */
  contract(address: Address): Promise<ContractRow | null>;
  tokens(addresses: readonly Address[]): Promise<TokenRow[]>;
  /** Fungible ones with one of these symbols in any letter case, the most held first. */
  tokensWithSymbols(symbols: readonly string[]): Promise<TokenRow[]>;
  /** From the registry, by calls to the node. Null when the name stands for nothing. */
  resolveName(question: NameQuestion): Promise<Address | null>;
  /** Of those of the addresses that are proxies. */
  implementations(addresses: readonly Address[]): Promise<Map<Address, Address>>;
  addresses(addresses: readonly Address[]): Promise<AddressRow[]>;
  coinHolders(query: { before?: CoinHolderPlace; limit: number }): Promise<Page<CoinHolderRow>>;
  addressLogs(query: PageRequest & { address: Address }): Promise<Page<LogRow>>;
  addressInternalTransactions(query: AddressInternalQuery): Promise<Page<InternalTransactionRow>>;
  validatedBlocks(query: { miner: Address; beforeNumber?: number; limit: number }): Promise<Page<BlockRow>>;
  withdrawals(query: WithdrawalQuery): Promise<Page<WithdrawalRow>>;
  tokenHoldings(query: TokenHoldingQuery): Promise<Page<TokenHoldingRow>>;
  nftHoldings(query: NftHoldingQuery): Promise<Page<NftHoldingRow>>;
  tokenInstances(wanted: readonly InstanceKey[]): Promise<(InstanceRow | null)[]>;
  /** From the contracts, by calls to the node. */
  tokenUris(wanted: readonly InstanceKey[], context: CallContext): Promise<(string | null)[]>;
  ownerOf(instance: Omit<InstanceKey, 'type'>, context: CallContext): Promise<Address | null>;
  isOnChain(address: Address): Promise<boolean>;
  /** Found by a prefix of their name or symbol, in the order of what they were found by. */
  tokensNamed(query: NameQuery): Promise<Page<NamedAddress>>;
  /** Found by a prefix of the name of their known ABI. */
  contractsNamed(query: NameQuery): Promise<Page<NamedAddress>>;
  totals(): Promise<Totals>;
  days(range: { first: number; last: number }): Promise<DayRow[]>;
  recentLoad(limit: number): Promise<BlockLoad[]>;
  recentGasPrices(query: { fromBlock: number; limit: number }): Promise<bigint[]>;
}

/** A reader over one connection, best a read-only one of its own. */
export function createReader({ db, abis, client }: { db: Db; abis: Abis; client: ChainClient }): Reader {
  return {
    abis,
    node: nodeReader(client),
    markets: marketReader(db, client),
    nfts: nftReader(db, client),
    head: () => readHead(db),
    transactions: query => transactions(db, query),
    transactionByHash: hash => transactionByHash(db, hash),
    pendingTransactions: () => pendingTransactions(client),
    pendingTransaction: hash => pendingTransaction(client, hash),
    blocks: query => blocks(db, query),
    blockByNumberOrHash: id => blockByNumberOrHash(db, id),
    tokenTransfers: query => tokenTransfers(db, query),
    tokenTransfersOf: query => tokenTransfersOf(db, query),
    logs: query => logs(db, query),
    internalTransactions: query => internalTransactions(db, query),
    internalTransactionsOf: query => internalTransactionsOf(db, query),
    tokenMoves: blockNumber => tokenMoves(db, blockNumber),
    contract: address => contract(db, address),
    tokens: wanted => tokens(db, wanted),
    tokensWithSymbols: symbols => tokensWithSymbols(db, symbols),
    resolveName: question => resolveName(client, question),
    implementations: wanted => implementations(db, wanted),
    addresses: wanted => addresses({ handle: db, abis }, wanted),
    coinHolders: query => coinHolders(db, query),
    addressLogs: query => addressLogs(db, query),
    addressInternalTransactions: query => addressInternalTransactions(db, query),
    validatedBlocks: query => validatedBlocks(db, query),
    withdrawals: query => withdrawals(db, query),
    tokenHoldings: query => tokenHoldings(db, query),
    nftHoldings: query => nftHoldings(db, query),
    tokenInstances: wanted => tokenInstances(db, wanted),
    tokenUris: (wanted, context) => tokenUris(client, wanted, context),
    ownerOf: (instance, context) => ownerOf(client, instance, context),
    isOnChain: address => isOnChain(db, address),
    tokensNamed: query => tokensNamed(db, query),
    contractsNamed: query => contractsNamed({ handle: db, abis }, query),
    totals: () => totals(db),
    days: range => days(db, range),
    recentLoad: limit => recentLoad(db, limit),
    recentGasPrices: query => recentGasPrices(db, query),
  };
}
