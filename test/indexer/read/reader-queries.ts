import type { Address, Hash } from 'viem';
import { NFT_TYPES } from '#evm/token-id.ts';
import type { Reader } from '#indexer/index-reader.ts';
import { TOKEN_TYPES, TRANSACTION_TYPES } from '#indexer/schema/transaction-types.ts';

/** Values that the index may contain. */
interface Wanted {
  readonly block: number;
  readonly hash: Hash;
  readonly token: Address;
  readonly holder: Address;
  /** Prefixes of token names, and the symbol of one. */
  readonly prefix: string;
  readonly symbol: string;
}

/** Every read of the index by its own statements, in each form that its parameters give it. */
export function readerQueries(
  reader: Reader,
  { block, hash, token, holder, prefix, symbol }: Wanted,
): (() => Promise<unknown>)[] {
  const place = { blockNumber: block, index: 5 };
  const transfer = { blockNumber: block, logIndex: 5, batchIndex: 0 };
  const someone = `0x${'11'.repeat(20)}` as const;
  const lists: Record<keyof Omit<Reader, 'abis' | 'node' | 'markets'>, (() => Promise<unknown>)[]> = {
    head: [() => reader.head()],
    unreadBlock: [() => reader.unreadBlock(block)],
    blockMarks: [() => reader.blockMarks({ from: block, to: block + 1, limit: 50 })],
    orphanedMarks: [() => reader.orphanedMarks({ from: block, to: block + 1, limit: 50 })],
    activity: [
      () =>
        reader.activity({ kind: 'address', values: [someone, holder], from: block, to: block, limit: 50 }),
      () => reader.activity({ kind: 'token', values: [token, someone], from: block, to: block, limit: 50 }),
      () => reader.activity({ kind: 'transaction', values: [hash], from: block, to: block, limit: 50 }),
    ],
    transactions: [
      () => reader.transactions({ limit: 50 }),
      () => reader.transactions({ limit: 50, before: place }),
      () => reader.transactions({ limit: 50, types: TRANSACTION_TYPES }),
      () => reader.transactions({ limit: 50, selectors: ['0xa9059cbb', '0x40c10f19'] }),
      () => reader.transactions({ limit: 50, selectors: ['0x40c10f19'], types: ['token_transfer'] }),
      () => reader.transactions({ limit: 50, blockNumber: block }),
      () => reader.transactions({ limit: 50, ofAddress: { address: someone } }),
      () =>
        reader.transactions({ limit: 50, before: place, ofAddress: { address: holder, direction: 'to' } }),
    ],
    transactionByHash: [() => reader.transactionByHash(hash)],
    // These ask only the node.
    pendingTransactions: [],
    pendingTransaction: [],
    blocks: [
      () => reader.blocks({ kind: 'block', limit: 50 }),
      () => reader.blocks({ kind: 'reorg', limit: 50, before: { number: 9, hash } }),
      () => reader.blocks({ kind: 'uncle', limit: 50 }),
    ],
    blockByNumberOrHash: [() => reader.blockByNumberOrHash(block), () => reader.blockByNumberOrHash(hash)],
    tokenTransfers: [
      () => reader.tokenTransfers({ limit: 50 }),
      () => reader.tokenTransfers({ limit: 50, before: transfer, types: TOKEN_TYPES }),
      () => reader.tokenTransfers({ limit: 50, blockNumber: block }),
      () => reader.tokenTransfers({ limit: 50, before: transfer, ofAddress: { address: holder } }),
      () =>
        reader.tokenTransfers({
          limit: 50,
          types: ['ERC-721'],
          ofAddress: { address: holder, direction: 'to' },
        }),
      () => reader.tokenTransfers({ limit: 50, token, before: transfer }),
      () => reader.tokenTransfers({ limit: 50, token, tokenId: 7n, before: transfer }),
      () => reader.tokenTransfers({ limit: 50, token, ofAddress: { address: holder } }),
      () => reader.tokenTransfers({ limit: 50, token, types: ['ERC-20'], ofAddress: { address: someone } }),
    ],
    tokenTransfersOf: [
      () => reader.tokenTransfersOf({ transactionHash: hash, limit: 50 }),
      () => reader.tokenTransfersOf({ transactionHash: hash, limit: 50, types: ['ERC-20'] }),
    ],
    firstTokenTransfers: [
      () => reader.firstTokenTransfers({ transactions: [{ blockNumber: block, index: 0 }], limit: 10 }),
      () =>
        reader.firstTokenTransfers({
          transactions: Array.from({ length: 50 }, (_, offset) => ({
            blockNumber: Math.max(0, block - offset),
            index: 2,
          })),
          limit: 10,
        }),
    ],
    logs: [() => reader.logs({ transactionHash: hash, limit: 50 })],
    internalTransactions: [
      () => reader.internalTransactions({ limit: 50 }),
      () =>
        reader.internalTransactions({
          limit: 50,
          before: { blockNumber: block, transactionIndex: 1, traceIndex: 3 },
        }),
    ],
    internalTransactionsOf: [
      () => reader.internalTransactionsOf({ transactionHash: hash, limit: 50, afterIndex: 3 }),
    ],
    blockInternalTransactions: [
      () => reader.blockInternalTransactions({ blockNumber: block, limit: 50 }),
      () =>
        reader.blockInternalTransactions({
          blockNumber: block,
          limit: 50,
          after: { transactionIndex: 1, traceIndex: 3 },
        }),
    ],
    tokenMoves: [() => reader.tokenMoves({ blockNumber: block, limit: 1_000 })],
    contract: [() => reader.contract(token)],
    verifiedContracts: [() => reader.verifiedContracts(), () => reader.verifiedContracts({ text: 'd' })],
    createdSince: [() => reader.createdSince({ time: 1_000, most: 500 })],
    addressFigures: [() => reader.addressFigures([holder, token])],
    tokens: [() => reader.tokens([someone, token])],
    tokensWithSymbols: [() => reader.tokensWithSymbols([symbol, 'TOLL'])],
    resolveName: [],
    addresses: [() => reader.addresses([someone, token, holder])],
    coinHolders: [
      () => reader.coinHolders({ limit: 50 }),
      () => reader.coinHolders({ limit: 50, before: { balance: 7n, address: someone } }),
    ],
    coinBalance: [() => reader.coinBalance(holder)],
    filledLists: [() => reader.filledLists(holder), () => reader.filledLists(someone)],
    coinMoves: [
      () => reader.coinMoves({ address: holder, below: block, limit: 50 }),
      () => reader.coinMoves({ address: someone, below: 9_000_000, limit: 50 }),
    ],
    blockTimes: [() => reader.blockTimes([0, 1, block])],
    transactionHashes: [() => reader.transactionHashes([3, 5])],
    addressCounts: [() => reader.addressCounts(holder)],
    addressLogs: [
      () => reader.addressLogs({ address: token, limit: 50, before: { blockNumber: 9, index: 0 } }),
    ],
    addressInternalTransactions: [
      () => reader.addressInternalTransactions({ address: someone, limit: 50 }),
      () => reader.addressInternalTransactions({ address: someone, limit: 50, direction: 'to' }),
    ],
    validatedBlocks: [() => reader.validatedBlocks({ miner: someone, limit: 50 })],
    withdrawals: [
      () => reader.withdrawals({ limit: 50 }),
      () => reader.withdrawals({ limit: 50, beforeIndex: 7 }),
      () => reader.withdrawals({ limit: 50, receiver: someone }),
      () => reader.withdrawals({ limit: 50, blockNumber: block }),
    ],
    instanceList: [
      () => reader.instanceList({ token, type: 'ERC-721', limit: 50 }),
      () => reader.instanceList({ token, type: 'ERC-721', limit: 50, holder, before: 30_000n }),
      () => reader.instanceList({ token, type: 'ERC-1155', limit: 50 }),
      () => reader.instanceList({ token, type: 'ERC-1155', limit: 50, before: 30_000n }),
      () => reader.instanceList({ token, type: 'ERC-1155', limit: 50, holder }),
    ],
    instanceHolders: [
      () => reader.instanceHolders({ token, type: 'ERC-721', tokenId: 7n, limit: 50 }),
      () => reader.instanceHolders({ token, type: 'ERC-1155', tokenId: 7n, limit: 50 }),
      () =>
        reader.instanceHolders({
          token,
          type: 'ERC-1155',
          tokenId: 7n,
          limit: 50,
          after: { value: 7n, holder: someone, tokenId: 7n },
        }),
    ],
    nftCollections: [
      () => reader.nftCollections({ holder, types: NFT_TYPES, limit: 50 }),
      () =>
        reader.nftCollections({
          holder,
          types: NFT_TYPES,
          limit: 50,
          after: { token: someone, type: 'ERC-721' },
        }),
    ],
    tokenList: [
      () => reader.tokenList({ types: TOKEN_TYPES, first: 'most', limit: 50 }),
      () => reader.tokenList({ types: TOKEN_TYPES, first: 'fewest', limit: 50 }),
      () =>
        reader.tokenList({
          types: ['ERC-20'],
          first: 'most',
          limit: 50,
          after: { holderCount: 1, address: token },
        }),
      () => reader.tokenList({ types: TOKEN_TYPES, first: 'most', limit: 50, prefix }),
    ],
    tokenHolders: [
      () => reader.tokenHolders({ token, limit: 50 }),
      () => reader.tokenHolders({ token, limit: 50, after: { value: 7n, holder: someone, tokenId: null } }),
    ],
    tokenHoldings: [
      () => reader.tokenHoldings({ holder: holder, limit: 50 }),
      () => reader.tokenHoldings({ holder: holder, limit: 50, types: ['ERC-20'], beforeId: 7 }),
    ],
    ownerBalances: [
      () => reader.ownerBalances({ holder, order: 'asc', limit: 50, offset: 0 }),
      () => reader.ownerBalances({ holder, order: 'desc', limit: 50, offset: 100 }),
    ],
    balancesOfTokens: [() => reader.balancesOfTokens({ holder, tokens: [token, someone], limit: 50 })],
    nftHoldings: [
      () => reader.nftHoldings({ holder: someone, limit: 50, types: NFT_TYPES }),
      () =>
        reader.nftHoldings({
          holder: someone,
          limit: 50,
          types: NFT_TYPES,
          after: { token: someone, tokenId: 7n, type: 'ERC-721' },
        }),
      () => reader.nftHoldings({ holder, limit: 50, types: NFT_TYPES, token }),
    ],
    tokenInstances: [
      () => reader.tokenInstances(NFT_TYPES.map(type => ({ token: someone, tokenId: 7n, type }))),
    ],
    nfts: [
      () => reader.nfts.transfers({ token: someone, limit: 50, offset: 100 }),
      () => reader.nfts.transfers({ token: someone, tokenId: 7n, limit: 50, offset: 0 }),
      () => reader.nfts.fulfilledOrders([hash]),
      () =>
        reader.nfts.owners(
          NFT_TYPES.map(type => ({ token: someone, tokenId: 7n, type })),
          1_000,
        ),
      ...NFT_TYPES.map(type => () => reader.nfts.ofContract({ token, type, limit: 50, offset: 100 })),
      () =>
        reader.nfts.supplies(
          [7n, 8n].map(tokenId => ({ token, tokenId })),
          50,
        ),
    ],
    implementations: [() => reader.implementations([someone])],
    // These ask only the node.
    tokenUris: [],
    ownerOf: [],
    isOnChain: [() => reader.isOnChain(someone)],
    tokensNamed: [
      () => reader.tokensNamed({ prefix, limit: 50 }),
      () =>
        reader.tokensNamed({
          prefix,
          limit: 50,
          after: { term: prefix, address: someone },
        }),
    ],
    contractsNamed: [() => reader.contractsNamed({ prefix, limit: 50 })],
    totals: [() => reader.totals()],
    days: [() => reader.days({ first: 19_000, last: 19_030 })],
    recentLoad: [() => reader.recentLoad(101)],
    feesBefore: [() => reader.feesBefore(86_400_000)],
    recentGasPrices: [() => reader.recentGasPrices({ fromBlock: 1, limit: 2_000 })],
  };

  const { markets } = reader;
  const pair = { address: someone, token, isBaseFirst: true };
  const marketQueries: (() => Promise<unknown>)[] = [
    () => markets.momentOf(1_000),
    () => markets.pairs({ factory: someone, base: token, tokens: [someone, holder] }),
    () => markets.reservesAt(pair, 1_000),
    () => markets.volumeUntil(pair, 1_000),
    () => markets.tradedDays(pair, 1_000),
  ];
  return [...Object.values(lists).flat(), ...marketQueries];
}
