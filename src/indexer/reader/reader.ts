import type { Address, Hash } from 'viem';
import type { ChainClient } from '../../chain/client.ts';
import type { Db } from '../../db/open.ts';
import { type Head, readHead } from '../store/head.ts';
import type { Abis } from './abi.ts';
import { type AddressRow, addresses } from './addresses.ts';
import { type BlockQuery, type BlockRow, blockByNumberOrHash, blocks } from './blocks.ts';
import { type LogRow, logs } from './logs.ts';
import type { ForwardPageRequest, Page } from './page.ts';
import { type PendingTransaction, pendingTransaction, pendingTransactions } from './pending.ts';
import {
  type TokenTransferQuery,
  type TokenTransferRow,
  type TransactionTransferQuery,
  tokenTransfers,
  tokenTransfersOf,
} from './token-transfers.ts';
import { type TokenRow, tokens } from './tokens.ts';
import {
  type TransactionQuery,
  type TransactionRow,
  transactionByHash,
  transactions,
} from './transactions.ts';

/**
 * Everything that can be asked of the index. Only the canonical chain shows, but for blocks asked for by kind
 * or hash. Lists are newest first, those of one transaction in their order; a page costs the same wherever it lies.
 */
export interface Reader {
  abis: Abis;
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
  tokens(addresses: readonly Address[]): Promise<TokenRow[]>;
  addresses(addresses: readonly Address[]): Promise<AddressRow[]>;
}

/** A reader over one connection, best a read-only one of its own. */
export function createReader({ db, abis, client }: { db: Db; abis: Abis; client: ChainClient }): Reader {
  return {
    abis,
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
    tokens: wanted => tokens(db, wanted),
    addresses: wanted => addresses({ handle: db, abis }, wanted),
  };
}
