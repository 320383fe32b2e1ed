import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { api, type Explorer } from '../api.ts';
import { type Choice, Choices, useChoice } from '../records/choices.ts';
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

/** One list of a chain's records: a tab of the chain's page, and a page of its own. */
export interface ChainList {
  readonly id: string;
  readonly label: string;
  readonly operationId: string;
  /** Last part of the address of its own page, as in `routes.ts`. */
  readonly path: string;
  readonly Content: (props: { chainId: number }) => VNode;
}

type Position = { cursor: string } | undefined;

/** The lists of a chain, in the order of their tabs. */
export const chainLists: readonly ChainList[] = [
  { id: 'blocks', path: 'blocks', label: 'Blocks', operationId: 'listBlocks', Content: Blocks },
  {
    id: 'transactions',
    path: 'txs',
    label: 'Transactions',
    operationId: 'listTransactions',
    Content: Transactions,
  },
  {
    id: 'pending',
    path: 'pending',
    label: 'Pending transactions',
    operationId: 'listTransactions',
    Content: Pending,
  },
  {
    id: 'transfers',
    path: 'token-transfers',
    label: 'Token transfers',
    operationId: 'listTokenTransfers',
    Content: Transfers,
  },
  {
    id: 'internal',
    path: 'internal-txs',
    label: 'Internal transactions',
    operationId: 'listInternalTransactions',
    Content: Internal,
  },
  { id: 'tokens', path: 'tokens', label: 'Tokens', operationId: 'listTokens', Content: Tokens },
  {
    id: 'contracts',
    path: 'contracts',
    label: 'Verified contracts',
    operationId: 'listSmartContracts',
    Content: Contracts,
  },
  {
    id: 'accounts',
    path: 'accounts',
    label: 'Top accounts',
    operationId: 'listAddresses',
    Content: Accounts,
  },
  {
    id: 'withdrawals',
    path: 'withdrawals',
    label: 'Withdrawals',
    operationId: 'listWithdrawals',
    Content: Withdrawals,
  },
];

function Blocks({ chainId }: { chainId: number }): VNode {
  return recordList({
    label: 'Blocks',
    columns: blockColumns(chainId),
    keyOf: ({ hash }: Explorer['Block']) => hash,
    empty: 'No blocks yet. The first one appears here automatically.',
    growsWith: 'blocks',
    download: ['listBlocks', { chain_id: chainId }],
    load: (position: Position, signal) =>
      api.GET('/explorer/blocks', {
        params: { query: { ...pageQuery(chainId, position), type: 'block' } },
        signal,
      }),
  });
}

function Transactions({ chainId }: { chainId: number }): VNode {
  return recordList({
    label: 'Transactions',
    columns: transactionColumns(chainId),
    keyOf: transactionKey,
    empty: 'No transactions yet. The first one appears here automatically.',
    growsWith: 'blocks',
    download: ['listTransactions', { chain_id: chainId }],
    load: (position: Position, signal) =>
      api.GET('/explorer/transactions', {
        params: { query: { ...pageQuery(chainId, position), filter: 'validated' } },
        signal,
      }),
  });
}

function Pending({ chainId }: { chainId: number }): VNode {
  return recordList({
    label: 'Pending transactions',
    columns: transactionColumns(chainId),
    keyOf: transactionKey,
    empty: 'No transaction is waiting now, as far as the back ends of this chain see.',
    growsWith: 'blocks',
    download: ['listTransactions', { chain_id: chainId, filter: 'pending' }],
    load: (position: Position, signal) =>
      api.GET('/explorer/transactions', {
        params: { query: { ...pageQuery(chainId, position), filter: 'pending' } },
        signal,
      }),
  });
}

function Transfers({ chainId }: { chainId: number }): VNode {
  return recordList({
    label: 'Token transfers',
    columns: transferColumns(chainId),
    keyOf: transferKey,
    empty: 'No token transfers on this chain yet.',
    growsWith: 'blocks',
    download: ['listTokenTransfers', { chain_id: chainId }],
    load: (position: Position, signal) =>
      api.GET('/explorer/token-transfers', { params: { query: pageQuery(chainId, position) }, signal }),
  });
}

function Internal({ chainId }: { chainId: number }): VNode {
  return recordList({
    label: 'Internal transactions',
    columns: internalColumns(chainId),
    keyOf: internalKey,
    empty: 'No internal transactions on this chain yet, or its blocks were not traced.',
    growsWith: 'blocks',
    download: ['listInternalTransactions', { chain_id: chainId }],
    load: (position: Position, signal) =>
      api.GET('/explorer/internal-transactions', { params: { query: pageQuery(chainId, position) }, signal }),
  });
}

function Tokens({ chainId }: { chainId: number }): VNode {
  const [standard, setStandard] = useChoice('standard', STANDARDS);
  const [sort, setSort] = useChoice('sort', SORTS);
  const filters = { ...(standard && { type: [standard] }), ...(sort && { sort }) };
  return html`
    ${h(Choices<TokenStandard | undefined>, { label: 'Standard', choices: STANDARDS, chosen: standard, choose: setStandard })}
    ${h(Choices<TokenOrder | undefined>, { label: 'Order', choices: SORTS, chosen: sort, choose: setSort })}
    ${recordList({
      label: 'Tokens',
      columns: tokenColumns(chainId),
      keyOf: ({ address }: Explorer['Token']) => address,
      inputs: [standard, sort],
      empty:
        standard === undefined ? 'No tokens on this chain yet.' : `No ${standard} tokens on this chain yet.`,
      download: ['listTokens', { chain_id: chainId, ...filters }],
      load: (position: Position, signal) =>
        api.GET('/explorer/tokens', {
          params: { query: { ...pageQuery(chainId, position), ...filters } },
          signal,
        }),
    })}
  `;
}

type TokenStandard = 'ERC-20' | 'ERC-721' | 'ERC-1155';
type TokenOrder = 'holders_count' | 'fiat_value';

const STANDARDS: readonly Choice<TokenStandard | undefined>[] = [
  [undefined, 'All'],
  ['ERC-20', 'ERC-20'],
  ['ERC-721', 'ERC-721'],
  ['ERC-1155', 'ERC-1155'],
];
const SORTS: readonly Choice<TokenOrder | undefined>[] = [
  [undefined, 'By market cap'],
  ['fiat_value', 'By price'],
  ['holders_count', 'By holders'],
];

function Contracts({ chainId }: { chainId: number }): VNode {
  const [language, setLanguage] = useChoice('type', LANGUAGES);
  const filters = language && { filter: language };
  return html`
    ${h(Choices<Language | undefined>, { label: 'Language', choices: LANGUAGES, chosen: language, choose: setLanguage })}
    ${recordList({
      label: 'Verified contracts',
      columns: contractColumns(chainId),
      keyOf: ({ address }: Explorer['SmartContractItem']) => address.hash,
      inputs: [language],
      empty: 'No such contract on this chain is verified. Other contracts are found by their address.',
      download: ['listSmartContracts', { chain_id: chainId, ...filters }],
      load: (position: Position, signal) =>
        api.GET('/explorer/smart-contracts', {
          params: { query: { ...pageQuery(chainId, position), ...filters } },
          signal,
        }),
    })}
  `;
}

type Language = 'solidity' | 'vyper' | 'yul';

const LANGUAGES: readonly Choice<Language | undefined>[] = [
  [undefined, 'All'],
  ['solidity', 'Solidity'],
  ['vyper', 'Vyper'],
  ['yul', 'Yul'],
];

function Accounts({ chainId }: { chainId: number }): VNode {
  return recordList({
    label: 'Top accounts',
    columns: accountColumns(chainId),
    keyOf: ({ hash }: Explorer['CoinHolder']) => hash,
    empty: 'No account holds coins yet.',
    download: ['listAddresses', { chain_id: chainId }],
    load: (position: Position, signal) =>
      api.GET('/explorer/addresses', { params: { query: pageQuery(chainId, position) }, signal }),
  });
}

function Withdrawals({ chainId }: { chainId: number }): VNode {
  return recordList({
    label: 'Withdrawals',
    columns: withdrawalColumns(chainId),
    keyOf: ({ index }: Explorer['Withdrawal']) => String(index),
    empty: 'No withdrawals on this chain yet.',
    download: ['listWithdrawals', { chain_id: chainId }],
    load: (position: Position, signal) =>
      api.GET('/explorer/withdrawals', { params: { query: pageQuery(chainId, position) }, signal }),
  });
}
