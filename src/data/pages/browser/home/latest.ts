import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { Card } from '#pages/browser/layout.ts';
import { type Column, List } from '#pages/browser/list.ts';
import { api, type Explorer, pageOf } from '../api.ts';
import { atNewBlocks, type Chain } from '../chains.ts';
import { Source } from '../frame.ts';
import { AddressReference } from '../records/address-reference.ts';
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
      cell: ({ height, timestamp }) => html`<${TwoLines}
        first=${blockCell(id, height)}
        second=${ageCell(timestamp)}
      />`,
    },
    {
      name: 'Holds',
      cell: ({ transaction_count, gas_used }) => html`<${TwoLines}
        first=${`${countText(transaction_count)} ${transaction_count === 1 ? 'transaction' : 'transactions'}`}
        second=${`${countText(gas_used)} gas`}
      />`,
    },
    { name: 'Miner', cell: ({ miner }) => html`<${AddressReference} chainId=${id} address=${miner} />` },
  ];
  return html`<${Card} title="Latest blocks" aside=${html`<a href="${pageOf.chain(id)}?tab=blocks">All blocks</a>`}>
    <div class="moving"><${List}
      label="Latest blocks"
      load=${(_: unknown, signal: AbortSignal) =>
        api.GET('/explorer/main-page/blocks', { params: { query: { chain_id: id } }, signal })}
      pageOf=${(items: readonly Block[]) => ({ items, next: null })}
      keyOf=${({ hash }: Block) => hash}
      columns=${columns}
      ...${atNewBlocks(chain)}
      inputs=${[id]}
      empty="There is no block yet. The first one appears here by itself."
      source=${(headers: Headers) => html`<${Source} headers=${headers} />`}
    /></div>
  <//>`;
}

/** Latest transactions of a chain, renewed while the page is visible. */
export function LatestTransactions({ chain }: { chain: Chain }): VNode {
  const { id } = chain;
  const columns: readonly Column<Transaction>[] = [
    {
      name: 'Transaction',
      cell: ({ hash, timestamp }) => html`<${TwoLines}
        first=${html`<${TransactionReference} chainId=${id} hash=${hash} />`}
        second=${ageCell(timestamp)}
      />`,
    },
    {
      name: 'Call',
      cell: transaction => html`<${TwoLines}
        first=${methodCell(transaction.method, transaction.to === null) ?? 'coin transfer'}
        second=${html`<${TransactionStatus} transaction=${transaction} />`}
      />`,
    },
    {
      name: 'From and to',
      cell: ({ from, to, created_contract }) => html`<${TwoLines}
        first=${html`<${AddressReference} chainId=${id} address=${from} />`}
        second=${receiverCell(id, to, created_contract)}
      />`,
    },
  ];
  return html`<${Card} title="Latest transactions" aside=${html`<a href="${pageOf.chain(id)}?tab=transactions">All transactions</a>`}>
    <div class="moving"><${List}
      label="Latest transactions"
      load=${(_: unknown, signal: AbortSignal) =>
        api.GET('/explorer/main-page/transactions', { params: { query: { chain_id: id } }, signal })}
      pageOf=${(items: readonly Transaction[]) => ({ items, next: null })}
      keyOf=${transactionKey}
      columns=${columns}
      ...${atNewBlocks(chain)}
      inputs=${[id]}
      empty="There is no transaction yet. The first one appears here by itself."
      source=${(headers: Headers) => html`<${Source} headers=${headers} />`}
    /></div>
  <//>`;
}

function TwoLines({ first, second }: { first: ComponentChildren; second: ComponentChildren }): VNode {
  return html`<div>${first}</div><div class="small">${second}</div>`;
}

function countText(count: string | number | null): string {
  return count === null ? '–' : grouped(count);
}
