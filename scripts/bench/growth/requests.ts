import type { OperationId } from '#data/backends/port/backend.ts';
import { BUSY, hashOf, NFT } from './synthetic-block.ts';

/** Paths to request for each operation. They differ in every round, and cover the chain's end and its middle. */
export const REQUESTS: Readonly<Record<OperationId, (at: Spot) => string>> = {
  search: ({ round }) => `/search?q=${['token 1', 't', 'TOKEN', 'cards'][round % 4]}`,
  quickSearch: ({ round }) => `/search/quick?q=${['token 1', 't', 'TOKEN', 'cards'][round % 4]}`,
  searchRedirect: ({ block }) => `/search/check-redirect?q=${block}`,
  listTransactions: ({ block, round }) =>
    [
      `/transactions?block_number=${block}&index=1`,
      `/transactions?type=token_transfer,coin_transfer&block_number=${block}&index=2`,
      '/transactions?method=transfer,0x6a627842',
    ][round % 3] ?? '',
  listBlocks: ({ block }) => `/blocks?block_number=${block}`,
  listTokenTransfers: ({ block }) => `/token-transfers?block_number=${block}&index=1`,
  listInternalTransactions: () => '/internal-transactions',
  listMainPageTransactions: () => '/main-page/transactions',
  listMainPageBlocks: () => '/main-page/blocks',
  getIndexingStatus: () => '/main-page/indexing-status',
  getStats: () => '/stats',
  getTransactionStats: () => '/transactions/stats',
  getTransactionsChart: () => '/stats/charts/transactions',
  getMarketChart: () => '/stats/charts/market',
  getTransaction: ({ transaction }) => `/transactions/${transaction}`,
  listTransactionTokenTransfers: ({ transaction }) => `/transactions/${transaction}/token-transfers`,
  listTransactionInternalTransactions: ({ transaction }) =>
    `/transactions/${transaction}/internal-transactions`,
  listTransactionLogs: ({ transaction }) => `/transactions/${transaction}/logs`,
  getTransactionRawTrace: ({ transaction }) => `/transactions/${transaction}/raw-trace`,
  getTransactionProof: ({ transaction }) => `/transactions/${transaction}/proof`,
  listTransactionStateChanges: ({ transaction }) => `/transactions/${transaction}/state-changes`,
  getTransactionSummary: ({ transaction }) => `/transactions/${transaction}/summary`,
  getBlock: ({ block }) => `/blocks/${block}`,
  listBlockTransactions: ({ block }) => `/blocks/${block}/transactions`,
  listBlockInternalTransactions: ({ block }) => `/blocks/${block}/internal-transactions`,
  listBlockWithdrawals: ({ block }) => `/blocks/${block}/withdrawals`,
  listAddresses: () => '/addresses',
  getAddress: () => `/addresses/${BUSY}`,
  getAddressCounters: () => `/addresses/${BUSY}/counters`,
  listAddressCoinBalances: ({ block }) => `/addresses/${BUSY}/coin-balance-history?block_number=${block}`,
  getAddressCoinBalancesByDay: () => `/addresses/${BUSY}/coin-balance-history-by-day`,
  listAddressTokenTransfers: ({ block, round }) =>
    [
      `/addresses/${BUSY}/token-transfers?block_number=${block}&index=1`,
      `/addresses/${BUSY}/token-transfers?type=ERC-721&filter=to`,
      `/addresses/${BUSY}/token-transfers?token=${NFT}`,
    ][round % 3] ?? '',
  listAddressTokenBalances: () => `/addresses/${BUSY}/token-balances`,
  listAddressTransactions: ({ block, round }) =>
    [
      `/addresses/${BUSY}/transactions`,
      `/addresses/${BUSY}/transactions?block_number=${block}&index=1`,
      `/addresses/${BUSY}/transactions?filter=to`,
    ][round % 3] ?? '',
  listAddressTokens: () => `/addresses/${BUSY}/tokens`,
  listAddressWithdrawals: () => `/addresses/${BUSY}/withdrawals`,
  listAddressBlocksValidated: () => `/addresses/${BUSY}/blocks-validated`,
  listAddressLogs: () => `/addresses/${NFT}/logs`,
  listAddressInternalTransactions: () => `/addresses/${BUSY}/internal-transactions`,
  listAddressNfts: () => `/addresses/${BUSY}/nft`,
  listAddressNftCollections: () => `/addresses/${BUSY}/nft/collections`,
  listTokens: ({ round }) =>
    ['/tokens', '/tokens?type=ERC-20', '/tokens?sort=holders_count&order=asc', '/tokens?q=cards'][
      round % 4
    ] ?? '',
  getToken: () => `/tokens/${NFT}`,
  getTokenCounters: () => `/tokens/${NFT}/counters`,
  listTransfersOfToken: ({ block }) => `/tokens/${NFT}/transfers?block_number=${block}&index=1`,
  listTokenHolders: () => `/tokens/${NFT}/holders`,
  listTokenInstances: ({ block, round }) =>
    [
      `/tokens/${NFT}/instances`,
      `/tokens/${NFT}/instances?unique_token=${block}`,
      `/tokens/${NFT}/instances?holder_address_hash=${BUSY}`,
    ][round % 3] ?? '',
  listTransfersOfTokenInstance: ({ block }) => `/tokens/${NFT}/instances/${block}/transfers`,
  listTokenInstanceHolders: ({ block }) => `/tokens/${NFT}/instances/${block}/holders`,
  getTokenInstance: ({ block }) => `/tokens/${NFT}/instances/${block}`,
  listWithdrawals: () => '/withdrawals',
  listSmartContracts: ({ round }) => ['/smart-contracts', '/smart-contracts?q=a'][round % 2] ?? '',
  getSmartContractCounters: () => '/smart-contracts/counters',
  getSmartContract: () => `/smart-contracts/${NFT}`,
};

/** Place in the chain that a request is about. */
export interface Spot {
  readonly round: number;
  readonly block: number;
  readonly transaction: string;
}

/** Place that differs from round to round, anywhere between beginning and end of the chain. */
export function spotOf(round: number, blocks: number): Spot {
  const block = (round * 7919 + 100) % blocks;
  return { round, block, transaction: hashOf('7a', block * 3 + (round % 3)) };
}
