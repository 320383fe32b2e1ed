import { h } from '#pages/browser/element.ts';
import type { Tab } from '#pages/browser/layout.ts';
import type { Column } from '#pages/browser/table.ts';
import { api, type Explorer } from '../api.ts';
import { AddressReference } from '../records/address-reference.ts';
import { CoinAmount } from '../records/coin.ts';
import { internalColumns, internalKey } from '../records/internal-columns.ts';
import { pageQuery, recordTab } from '../records/record-list.ts';
import { transactionColumns, transactionKey } from '../records/transaction-columns.ts';

type Withdrawal = Explorer['BlockWithdrawal'];

/** Tabs with the contents of a block. Withdrawals have a tab only if the block may have some. */
export function blockTabs(
  chainId: number,
  { hash, transaction_count, withdrawals_count }: Explorer['Block'],
): readonly Tab[] {
  const params = (position: Parameters<typeof pageQuery>[1]) => ({
    path: { block_number_or_hash: hash },
    query: pageQuery(chainId, position),
  });
  const ofBlock = { chain_id: chainId, block_number_or_hash: hash };
  const withdrawals = recordTab(
    { id: 'withdrawals', label: counted('Withdrawals', withdrawals_count) },
    {
      label: 'Withdrawals of the block',
      download: ['listBlockWithdrawals', ofBlock],
      load: (position, signal) =>
        api.GET('/explorer/blocks/{block_number_or_hash}/withdrawals', { params: params(position), signal }),
      keyOf: ({ index }) => String(index),
      columns: withdrawalColumns(chainId),
      empty: 'No withdrawals in this block.',
    },
  );
  return [
    recordTab(
      { id: 'transactions', label: counted('Transactions', transaction_count) },
      {
        label: 'Transactions of the block',
        download: ['listBlockTransactions', ofBlock],
        load: (position, signal) =>
          api.GET('/explorer/blocks/{block_number_or_hash}/transactions', {
            params: params(position),
            signal,
          }),
        keyOf: transactionKey,
        columns: transactionColumns(chainId, { isOfBlock: true }),
        empty: 'This block has no transactions. The previous or the next one may have some.',
      },
    ),
    recordTab(
      { id: 'internal', label: 'Internal transactions' },
      {
        label: 'Internal transactions of the block',
        download: ['listBlockInternalTransactions', ofBlock],
        load: (position, signal) =>
          api.GET('/explorer/blocks/{block_number_or_hash}/internal-transactions', {
            params: params(position),
            signal,
          }),
        keyOf: internalKey,
        columns: internalColumns(chainId, { within: 'block' }),
        empty: 'No internal transactions in this block.',
      },
    ),
    ...(withdrawals_count === 0 ? [] : [withdrawals]),
  ];
}

/** Columns of withdrawals from the beacon chain. */
function withdrawalColumns(chainId: number): readonly Column<Withdrawal>[] {
  return [
    { name: 'Index', cell: ({ index }) => index },
    { name: 'Validator', cell: ({ validator_index }) => validator_index },
    {
      name: 'Recipient',
      cell: ({ receiver }) => h(AddressReference, { chainId, address: receiver }),
    },
    {
      name: 'Amount',
      isNumber: true,
      cell: ({ amount }) => h(CoinAmount, { chainId, amount }),
    },
  ];
}

function counted(name: string, count: number | null): string {
  return count === null ? name : `${name} (${count})`;
}
