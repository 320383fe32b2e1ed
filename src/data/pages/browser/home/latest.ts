import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { List } from '#pages/browser/list.ts';
import type { Column } from '#pages/browser/table.ts';
import { api, type Explorer, pageOf } from '../api.ts';
import { atNewBlocks, type Chain } from '../chains.ts';
import { Source } from '../frame.ts';
import { AddressReference } from '../records/address-reference.ts';
import { CoinAmount } from '../records/coin.ts';
import {
  ageCell,
  blockCell,
  methodCell,
  receiverCell,
  TransactionReference,
  TransactionStatus,
  transactionKey,
} from '../records/transaction-columns.ts';

type Block = Explorer['Block'];
type Transaction = Explorer['Transaction'];

/** Latest blocks of a chain, renewed while the page is visible. */
export function LatestBlocks({ chain }: { chain: Chain }): VNode {
  const { id } = chain;
  const columns: readonly Column<Block>[] = [
    {
      name: 'Block',
      cell: ({ height, timestamp }) =>
        h(TwoLines, { first: blockCell(id, height), second: ageCell(timestamp) }),
    },
    {
      name: 'Transactions',
      cell: ({ transaction_count, gas_used }) =>
        h(TwoLines, {
          first: `${countText(transaction_count)} ${transaction_count === 1 ? 'transaction' : 'transactions'}`,
          second: `${countText(gas_used)} gas`,
        }),
    },
    { name: 'Fee recipient', cell: ({ miner }) => h(AddressReference, { chainId: id, address: miner }) },
  ];
  return h(Card, {
    title: 'Latest blocks',
    aside: html`<a href=${pageOf.list(id, 'blocks')}>All blocks</a>`,
    children: html`
      <div class="moving">${h(List<Block, never, readonly Block[]>, {
        label: 'Latest blocks',
        load: (_, signal) =>
          api.GET('/explorer/main-page/blocks', { params: { query: { chain_id: id } }, signal }),
        pageOf: items => ({ items, next: null }),
        keyOf: ({ hash }) => hash,
        columns,
        ...atNewBlocks(chain),
        inputs: [id],
        empty: 'No blocks yet. The first one appears here automatically.',
        source: headers => h(Source, { headers }),
      })}</div>
    `,
  });
}

/** Latest transactions of a chain, renewed while the page is visible. */
export function LatestTransactions({ chain }: { chain: Chain }): VNode {
  const { id } = chain;
  const columns: readonly Column<Transaction>[] = [
    {
      name: 'Transaction',
      cell: transaction =>
        h(TwoLines, {
          first: h(TransactionReference, { chainId: id, hash: transaction.hash }),
          second: html`${ageCell(transaction.timestamp)} ${transaction.status !== 'ok' && h(TransactionStatus, { transaction })}`,
        }),
    },
    {
      name: 'Method and value',
      cell: ({ method, to, value, exchange_rate: rate }) =>
        h(TwoLines, {
          first: methodCell(method, to === null) ?? 'coin transfer',
          second: h(CoinAmount, { chainId: id, amount: value, rate }),
        }),
    },
    {
      name: 'From and to',
      cell: ({ from, to, created_contract }) =>
        h(TwoLines, {
          first: h(AddressReference, { chainId: id, address: from }),
          second: receiverCell(id, to, created_contract),
        }),
    },
  ];
  return h(Card, {
    title: 'Latest transactions',
    aside: html`<a href=${pageOf.list(id, 'txs')}>All transactions</a>`,
    children: html`
      <div class="moving">${h(List<Transaction, never, readonly Transaction[]>, {
        label: 'Latest transactions',
        load: (_, signal) =>
          api.GET('/explorer/main-page/transactions', { params: { query: { chain_id: id } }, signal }),
        pageOf: items => ({ items, next: null }),
        keyOf: transactionKey,
        columns,
        ...atNewBlocks(chain),
        inputs: [id],
        empty: 'No transactions yet. The first one appears here automatically.',
        source: headers => h(Source, { headers }),
      })}</div>
    `,
  });
}

function TwoLines({ first, second }: { first: ComponentChildren; second: ComponentChildren }): VNode {
  return html`<div>${first}</div><div class="small">${second}</div>`;
}

function countText(count: string | number | null): string {
  return count === null ? '–' : grouped(count);
}
