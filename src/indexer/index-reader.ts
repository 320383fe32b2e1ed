import type { Handle } from '../db/open.ts';
import type { Abis } from '../evm/abi/abi.ts';
import type { ChainClient } from '../node/client.ts';
import { resolveName } from '../node/names/resolve-name.ts';
import { nodeReader } from '../node/node-reads.ts';
import { pendingTransaction, pendingTransactions } from '../node/pending-transactions.ts';
import { contractUri, nftStandard, ownerOf, tokenUris, totalSupplyAt } from '../node/token-reads.ts';
import { activity, blockMarks, orphanedMarks } from './read/activity.ts';
import { addressCounts, coinBalanceOf, filledLists } from './read/address-records.ts';
import { addresses, coinHolders, contract, implementations } from './read/addresses.ts';
import { blockByNumberOrHash, blocks, validatedBlocks } from './read/blocks/blocks.ts';
import {
  addressInternalTransactions,
  blockInternalTransactions,
  internalTransactions,
  internalTransactionsOf,
} from './read/blocks/internal-transactions.ts';
import { addressLogs, logs } from './read/blocks/logs.ts';
import { transactionByHash, transactions } from './read/blocks/transactions.ts';
import { withdrawals } from './read/blocks/withdrawals.ts';
import { blockTimes, coinMoves, transactionHashes } from './read/coin-moves.ts';
import { addressFigures, createdSince, verifiedContracts } from './read/contracts.ts';
import { contractsNamed, isOnChain, tokensNamed } from './read/search.ts';
import { days, feesBefore, recentGasPrices, recentLoad, totals } from './read/statistics.ts';
import { tokenMoves } from './read/tokens/balance-moves.ts';
import { contractNfts, instanceSupplies } from './read/tokens/contract-nfts.ts';
import { instanceOwners, nftHoldings, tokenHoldings, tokenInstances } from './read/tokens/holdings.ts';
import { instanceList } from './read/tokens/instance-list.ts';
import { blockAtTime, pairs, reservesAt, tradedDays, volumeUntil } from './read/tokens/markets.ts';
import { nftCollections } from './read/tokens/nft-collections.ts';
import { fulfilledOrders, nftTransfers } from './read/tokens/nft-transfers.ts';
import { balancesOfTokens, ownerBalances } from './read/tokens/owner-balances.ts';
import { instanceHolders, tokenHolders } from './read/tokens/token-holders.ts';
import { tokenList } from './read/tokens/token-list.ts';
import { firstTokenTransfers, tokenTransfers, tokenTransfersOf } from './read/tokens/token-transfers.ts';
import { tokens, tokensWithSymbols } from './read/tokens/tokens.ts';
import { readHead } from './schema/head.ts';
import { unreadBlock } from './schema/unread-blocks.ts';

/**
 * All queries of the index. Only the canonical chain is visible, except for blocks requested by kind or hash.
 * Lists are newest first; those of one transaction are in its own order. The cost of a page does not depend on its
 * position.
 */
export type Reader = ReturnType<typeof createReader>;

/** Reader of prices. */
export type MarketReader = Reader['markets'];

/** Returns a reader over one connection, preferably a read-only one of its own. */
export function createReader({ db, abis, client }: { db: Handle; abis: Abis; client: ChainClient }) {
  const index = boundTo(db);
  const named = boundTo({ handle: db, abis });
  const node = boundTo(client);
  return {
    abis,
    /** Reads from the node at the time of the request. */
    node: nodeReader(client),
    /** Prices from the index. Times are UTC milliseconds, amounts are in the smallest units. */
    markets: {
      momentOf: index(blockAtTime),
      pairs: index(pairs),
      reservesAt: index(reservesAt),
      volumeUntil: index(volumeUntil),
      tradedDays: index(tradedDays),
      totalSupplyAt: node(totalSupplyAt),
    },
    /** NFTs that were moved, from the index and from their contracts. */
    nfts: {
      transfers: index(nftTransfers),
      fulfilledOrders: index(fulfilledOrders),
      owners: index(instanceOwners),
      ofContract: index(contractNfts),
      supplies: index(instanceSupplies),
      standard: node(nftStandard),
      contractUri: node(contractUri),
    },
    head: index(readHead),
    blockMarks: index(blockMarks),
    orphanedMarks: index(orphanedMarks),
    activity: index(activity),
    unreadBlock: index(unreadBlock),
    transactions: index(transactions),
    transactionByHash: index(transactionByHash),
    /** These two read the node's current pool instead of the index. */
    pendingTransactions: node(pendingTransactions),
    pendingTransaction: node(pendingTransaction),
    blocks: index(blocks),
    blockByNumberOrHash: index(blockByNumberOrHash),
    tokenTransfers: index(tokenTransfers),
    tokenTransfersOf: index(tokenTransfersOf),
    firstTokenTransfers: index(firstTokenTransfers),
    logs: index(logs),
    internalTransactions: index(internalTransactions),
    internalTransactionsOf: index(internalTransactionsOf),
    blockInternalTransactions: index(blockInternalTransactions),
    tokenMoves: index(tokenMoves),
    contract: index(contract),
    verifiedContracts: named(verifiedContracts),
    createdSince: index(createdSince),
    addressFigures: index(addressFigures),
    tokens: index(tokens),
    tokensWithSymbols: index(tokensWithSymbols),
    tokenList: index(tokenList),
    resolveName: node(resolveName),
    implementations: index(implementations),
    addresses: named(addresses),
    coinHolders: index(coinHolders),
    coinBalance: index(coinBalanceOf),
    filledLists: index(filledLists),
    coinMoves: index(coinMoves),
    blockTimes: index(blockTimes),
    transactionHashes: index(transactionHashes),
    addressCounts: index(addressCounts),
    addressLogs: index(addressLogs),
    addressInternalTransactions: index(addressInternalTransactions),
    validatedBlocks: index(validatedBlocks),
    withdrawals: index(withdrawals),
    tokenHolders: index(tokenHolders),
    instanceHolders: index(instanceHolders),
    instanceList: index(instanceList),
    tokenHoldings: index(tokenHoldings),
    ownerBalances: index(ownerBalances),
    balancesOfTokens: index(balancesOfTokens),
    nftHoldings: index(nftHoldings),
    nftCollections: index(nftCollections),
    tokenInstances: index(tokenInstances),
    tokenUris: node(tokenUris),
    ownerOf: node(ownerOf),
    isOnChain: index(isOnChain),
    tokensNamed: index(tokensNamed),
    contractsNamed: named(contractsNamed),
    totals: index(totals),
    days: index(days),
    recentLoad: index(recentLoad),
    feesBefore: index(feesBefore),
    recentGasPrices: index(recentGasPrices),
  };
}

/** Binds functions to their common first argument. */
function boundTo<Source>(source: Source) {
  return <Rest extends readonly unknown[], Result>(read: (source: Source, ...rest: Rest) => Result) =>
    (...rest: Rest): Result =>
      read(source, ...rest);
}
