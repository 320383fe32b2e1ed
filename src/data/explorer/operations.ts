import type { Handlers } from '../../contract/contracts/operations.ts';
import { isObject } from '../../lib/json.ts';
import type { DataOperations } from '../backends/port/backend.ts';
import type { OperationPolicy, Serve } from './handler.ts';

const lookup: OperationPolicy = { hashOf, lifetime: 'record' };
/** An empty feed is an answer. Only a chain that cannot answer is skipped. */
const feed: OperationPolicy = { lifetime: 'moving' };
/**
 * A hash belongs to one block. A number names a different block on each chain, so it stays on the first (Decision 37).
 */
const block: OperationPolicy = {
  isOfFirstChain: path => hashOf(path) === undefined,
  hashOf,
  lifetime: 'record',
};

/** An address exists on every chain, so an empty list is a reason to ask the next chain (Decision 38). */
const addressList: OperationPolicy = { lifetime: 'moving', isNothing: isEmptyPage };
/** For a search, and for a list with a search filter: the next chain may have a match. */
const search: OperationPolicy = { lifetime: 'moving', isNothing: isEmptyPage };
const redirect: OperationPolicy = { lifetime: 'moving', isNothing: leadsNowhere };
/** The record of a contract or a token can change with any block. */
const addressRecord: OperationPolicy = { lifetime: 'moving' };

/** Positions that mean the same at every back end (Decision 172). */
const BY_BLOCK = { portablePositions: [['block_number']] } as const;
const BY_INDEX = { portablePositions: [['block_number', 'index']] } as const;
const BY_CALL = { portablePositions: [['block_number', 'transaction_index', 'index']] } as const;
const BY_CALL_OF_BLOCK = { portablePositions: [['transaction_index', 'index']] } as const;
const BY_NUMBER = { portablePositions: [['index']] } as const;

/** Policy of each operation of document 1. */
export const explorer = (serve: Serve): Handlers<DataOperations> => ({
  search: serve('search', search),
  quickSearch: serve('quickSearch', { ...search, isNothing: isEmptyList }),
  searchRedirect: serve('searchRedirect', redirect),
  listTransactions: serve('listTransactions', { ...feed, ...BY_INDEX }),
  listBlocks: serve('listBlocks', { ...feed, ...BY_BLOCK }),
  listTokenTransfers: serve('listTokenTransfers', { ...feed, ...BY_INDEX }),
  listInternalTransactions: serve('listInternalTransactions', { ...feed, ...BY_CALL }),
  listMainPageTransactions: serve('listMainPageTransactions', feed),
  listMainPageBlocks: serve('listMainPageBlocks', feed),
  getIndexingStatus: serve('getIndexingStatus', feed),
  getStats: serve('getStats', feed),
  getTransactionStats: serve('getTransactionStats', feed),
  getTransactionsChart: serve('getTransactionsChart', feed),
  getMarketChart: serve('getMarketChart', feed),
  getTransaction: serve('getTransaction', lookup),
  listTransactionTokenTransfers: serve('listTransactionTokenTransfers', { ...lookup, ...BY_INDEX }),
  listTransactionInternalTransactions: serve('listTransactionInternalTransactions', {
    ...lookup,
    ...BY_CALL,
  }),
  listTransactionLogs: serve('listTransactionLogs', { ...lookup, ...BY_INDEX }),
  getTransactionRawTrace: serve('getTransactionRawTrace', lookup),
  getTransactionProof: serve('getTransactionProof', lookup),
  listTransactionStateChanges: serve('listTransactionStateChanges', lookup),
  getTransactionSummary: serve('getTransactionSummary', lookup),
  getBlock: serve('getBlock', block),
  listBlockTransactions: serve('listBlockTransactions', { ...block, ...BY_INDEX }),
  listBlockInternalTransactions: serve('listBlockInternalTransactions', { ...block, ...BY_CALL_OF_BLOCK }),
  listBlockWithdrawals: serve('listBlockWithdrawals', { ...block, ...BY_NUMBER }),
  listAddresses: serve('listAddresses', feed),
  getAddress: serve('getAddress', { ...addressRecord, isNothing: isUnusedAddress }),
  getAddressCounters: serve('getAddressCounters', { ...addressRecord, isNothing: countsNothing }),
  listAddressCoinBalances: serve('listAddressCoinBalances', {
    ...addressRecord,
    ...BY_BLOCK,
    isNothing: isEmptyLastPage,
  }),
  getAddressCoinBalancesByDay: serve('getAddressCoinBalancesByDay', {
    ...addressRecord,
    isNothing: isEmptyPage,
  }),
  listAddressTokenTransfers: serve('listAddressTokenTransfers', { ...addressList, ...BY_INDEX }),
  listAddressTokenBalances: serve('listAddressTokenBalances', { ...addressRecord, isNothing: isEmptyList }),
  listAddressTransactions: serve('listAddressTransactions', { ...addressList, ...BY_INDEX }),
  listAddressTokens: serve('listAddressTokens', addressList),
  listAddressWithdrawals: serve('listAddressWithdrawals', { ...addressList, ...BY_NUMBER }),
  listAddressBlocksValidated: serve('listAddressBlocksValidated', { ...addressList, ...BY_BLOCK }),
  listAddressLogs: serve('listAddressLogs', { ...addressList, ...BY_INDEX }),
  listAddressInternalTransactions: serve('listAddressInternalTransactions', { ...addressList, ...BY_CALL }),
  listAddressNfts: serve('listAddressNfts', addressList),
  listAddressNftCollections: serve('listAddressNftCollections', addressList),
  listTokens: serve('listTokens', search),
  getToken: serve('getToken', addressRecord),
  getTokenCounters: serve('getTokenCounters', addressRecord),
  listTransfersOfToken: serve('listTransfersOfToken', { ...addressRecord, ...BY_INDEX }),
  listTokenHolders: serve('listTokenHolders', addressRecord),
  listTokenInstances: serve('listTokenInstances', addressRecord),
  getTokenInstance: serve('getTokenInstance', addressRecord),
  listTransfersOfTokenInstance: serve('listTransfersOfTokenInstance', { ...addressRecord, ...BY_INDEX }),
  listTokenInstanceHolders: serve('listTokenInstanceHolders', addressRecord),
  listWithdrawals: serve('listWithdrawals', { ...feed, ...BY_NUMBER }),
  listSmartContracts: serve('listSmartContracts', feed),
  getSmartContractCounters: serve('getSmartContractCounters', feed),
  getSmartContract: serve('getSmartContract', addressRecord),
});

function hashOf(path: object): string | undefined {
  const transaction = 'transaction_hash' in path ? path.transaction_hash : undefined;
  const asked = 'block_number_or_hash' in path ? path.block_number_or_hash : transaction;
  return typeof asked === 'string' && asked.startsWith('0x') ? asked.toLowerCase() : undefined;
}

/** True for a first page without items: the chain does not know the address, or the search found nothing. */
function isEmptyPage(body: unknown): boolean {
  return isObject(body) && Array.isArray(body.items) && body.items.length === 0;
}

/** True for an empty page at the end of a list, for lists whose earlier pages may be empty too. */
function isEmptyLastPage(body: unknown): boolean {
  return isEmptyPage(body) && isObject(body) && body.next_page_params === null;
}

function isEmptyList(body: unknown): boolean {
  return Array.isArray(body) && body.length === 0;
}

/** True for the record of an address that owns nothing on this chain and was never active there (Decision 236). */
function isUnusedAddress(body: unknown): boolean {
  if (!isObject(body) || body.is_contract === true) return false;
  const { coin_balance: balance, ...others } = body;
  const flags = Object.entries(others).filter(([name]) => name.startsWith('has_'));
  return (balance === null || balance === '0') && flags.every(([, flag]) => flag !== true);
}

function countsNothing(body: unknown): boolean {
  return isObject(body) && Object.values(body).every(count => count === null || count === '0');
}

/** True for a search redirect without a target on this chain (Decision 30). */
function leadsNowhere(body: unknown): boolean {
  return isObject(body) && body.redirect === false;
}
