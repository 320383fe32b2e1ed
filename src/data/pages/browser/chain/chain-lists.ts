import type { ComponentChildren, VNode } from 'preact';
import { api, type Explorer } from '../api.ts';
import { internalColumns, internalKey } from '../records/internal-columns.ts';
import { pageQuery, recordList } from '../records/record-list.ts';
import { transactionColumns, transactionKey } from '../records/transaction-columns.ts';
import { transferColumns, transferKey } from '../records/transfer-columns.ts';
import {
  accountColumns,
  blockColumns,
  contractColumns,
  tokenColumns,
  withdrawalColumns,
} from './chain-columns.ts';

/** One list of a chain's records, with its tab and the operation it needs. */
export interface ChainList {
  readonly id: string;
  readonly label: string;
  readonly operationId: string;
  readonly content: (chainId: number) => ComponentChildren;
}

type Position = { cursor: string } | undefined;

/** The lists of a chain, in the order of their tabs. */
export const chainLists: readonly ChainList[] = [
  { id: 'blocks', label: 'Blocks', operationId: 'listBlocks', content: blocks },
  { id: 'transactions', label: 'Transactions', operationId: 'listTransactions', content: transactions },
  { id: 'transfers', label: 'Token transfers', operationId: 'listTokenTransfers', content: transfers },
  {
    id: 'internal',
    label: 'Internal transactions',
    operationId: 'listInternalTransactions',
    content: internal,
  },
  { id: 'tokens', label: 'Tokens', operationId: 'listTokens', content: tokens },
  { id: 'contracts', label: 'Verified contracts', operationId: 'listSmartContracts', content: contracts },
  { id: 'accounts', label: 'Top accounts', operationId: 'listAddresses', content: accounts },
  { id: 'withdrawals', label: 'Withdrawals', operationId: 'listWithdrawals', content: withdrawals },
];

function blocks(chainId: number): VNode {
  return recordList({
    label: 'Blocks',
    columns: blockColumns(chainId),
    keyOf: ({ hash }: Explorer['Block']) => hash,
    empty: 'No blocks yet. The first one appears here automatically.',
    growsWith: 'blocks',
    load: (position: Position, signal) =>
      api.GET('/explorer/blocks', {
        params: { query: { ...pageQuery(chainId, position), type: 'block' } },
        signal,
      }),
  });
}

function transactions(chainId: number): VNode {
  return recordList({
    label: 'Transactions',
    columns: transactionColumns(chainId),
    keyOf: transactionKey,
    empty: 'No transactions yet. The first one appears here automatically.',
    growsWith: 'blocks',
    load: (position: Position, signal) =>
      api.GET('/explorer/transactions', {
        params: { query: { ...pageQuery(chainId, position), filter: 'validated' } },
        signal,
      }),
  });
}

function transfers(chainId: number): VNode {
  return recordList({
    label: 'Token transfers',
    columns: transferColumns(chainId),
    keyOf: transferKey,
    empty: 'No token transfers on this chain yet.',
    growsWith: 'blocks',
    load: (position: Position, signal) =>
      api.GET('/explorer/token-transfers', { params: { query: pageQuery(chainId, position) }, signal }),
  });
}

function internal(chainId: number): VNode {
  return recordList({
    label: 'Internal transactions',
    columns: internalColumns(chainId),
    keyOf: internalKey,
    empty: 'No internal transactions on this chain yet, or its blocks were not traced.',
    growsWith: 'blocks',
    load: (position: Position, signal) =>
      api.GET('/explorer/internal-transactions', { params: { query: pageQuery(chainId, position) }, signal }),
  });
}

function tokens(chainId: number): VNode {
  return recordList({
    label: 'Tokens',
    columns: tokenColumns(chainId),
    keyOf: ({ address }: Explorer['Token']) => address,
    empty: 'No tokens on this chain yet.',
    load: (position: Position, signal) =>
      api.GET('/explorer/tokens', { params: { query: pageQuery(chainId, position) }, signal }),
  });
}

function contracts(chainId: number): VNode {
  return recordList({
    label: 'Verified contracts',
    columns: contractColumns(chainId),
    keyOf: ({ address }: Explorer['SmartContractItem']) => address.hash,
    empty: 'No contract on this chain is verified. Other contracts are found by their address.',
    load: (position: Position, signal) =>
      api.GET('/explorer/smart-contracts', { params: { query: pageQuery(chainId, position) }, signal }),
  });
}

function accounts(chainId: number): VNode {
  return recordList({
    label: 'Top accounts',
    columns: accountColumns(chainId),
    keyOf: ({ hash }: Explorer['CoinHolder']) => hash,
    empty: 'No account holds coins yet.',
    load: (position: Position, signal) =>
      api.GET('/explorer/addresses', { params: { query: pageQuery(chainId, position) }, signal }),
  });
}

function withdrawals(chainId: number): VNode {
  return recordList({
    label: 'Withdrawals',
    columns: withdrawalColumns(chainId),
    keyOf: ({ index }: Explorer['Withdrawal']) => String(index),
    empty: 'No withdrawals on this chain yet.',
    load: (position: Position, signal) =>
      api.GET('/explorer/withdrawals', { params: { query: pageQuery(chainId, position) }, signal }),
  });
}
