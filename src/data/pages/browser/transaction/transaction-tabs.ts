import { html } from 'htm/preact';
import { h } from '#pages/browser/element.ts';
import type { Tab } from '#pages/browser/layout.ts';
import { api, type Explorer } from '../api.ts';
import { LogEntry, logKey } from '../records/log-entry.ts';
import { pageQuery, recordTab } from '../records/record-list.ts';
import { transferColumns, transferKey } from '../records/transfer-columns.ts';
import { CallTree, RawTrace } from './call-tree.ts';
import { stateChangeColumns, stateChangeKey } from './state-change-columns.ts';

/** Tabs with the effects of a transaction. Each list restarts when the transaction's block changes. */
export function transactionTabs(chainId: number, transaction: Explorer['Transaction']): readonly Tab[] {
  const { hash, block_number } = transaction;
  const inputs = [hash, block_number];
  const isPending = block_number === null;
  const params = (position: Parameters<typeof pageQuery>[1]) => ({
    path: { transaction_hash: hash },
    query: pageQuery(chainId, position),
  });
  const ofTransaction = { chain_id: chainId, transaction_hash: hash };
  const emptyText = (text: string) =>
    isPending ? 'Nothing yet. The transaction is waiting to be included in a block.' : text;
  return [
    recordTab(
      { id: 'transfers', label: 'Token transfers' },
      {
        label: 'Token transfers of the transaction',
        download: ['listTransactionTokenTransfers', ofTransaction],
        load: (position, signal) =>
          api.GET('/explorer/transactions/{transaction_hash}/token-transfers', {
            params: params(position),
            signal,
          }),
        keyOf: transferKey,
        columns: transferColumns(chainId, { isOfTransaction: true }),
        empty: emptyText('This transaction has no token transfers.'),
        inputs,
      },
    ),
    {
      id: 'calls',
      label: 'Internal transactions',
      content: () => h(CallTree, { chainId, transaction }),
    },
    recordTab(
      { id: 'logs', label: 'Logs' },
      {
        label: 'Logs of the transaction',
        download: ['listTransactionLogs', ofTransaction],
        load: (position, signal) =>
          api.GET('/explorer/transactions/{transaction_hash}/logs', { params: params(position), signal }),
        keyOf: logKey,
        view: logs => html`<div class="entries">
          ${logs.map(log => h(LogEntry, { key: logKey(log), chainId, log, isOfTransaction: true }))}
        </div>`,
        empty: emptyText('This transaction emitted no logs.'),
        inputs,
      },
    ),
    recordTab(
      { id: 'state', label: 'State changes' },
      {
        label: 'State changes of the transaction',
        load: (position, signal) =>
          api.GET('/explorer/transactions/{transaction_hash}/state-changes', {
            params: params(position),
            signal,
          }),
        keyOf: stateChangeKey,
        columns: stateChangeColumns(chainId),
        empty: emptyText('This transaction changed no balances.'),
        inputs,
      },
    ),
    {
      id: 'trace',
      label: 'Raw trace',
      content: () => h(RawTrace, { chainId, transaction }),
    },
  ];
}
