import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { Reference } from '#pages/browser/reference.ts';
import type { Column } from '#pages/browser/table.ts';
import { api, type Explorer } from '../api.ts';
import type { Chain } from '../chains.ts';
import { addressPage } from '../exact-page.ts';
import { pageQuery, recordList } from '../records/record-list.ts';
import { ageCell } from '../records/transaction-columns.ts';
import { resultOf } from '../search-result.ts';
import type { SearchText } from '../search-text.ts';

type Item = Explorer['SearchItem'];

/** Results of one chain for a text, page by page. */
export function ChainResults({ chain, search }: { chain: Chain; search: SearchText }): VNode {
  const unused = addressPage(search, chain.id);
  const read = (item: Item) => resultOf(item, chain.id);
  const columns: readonly Column<Item>[] = [
    {
      name: 'Result',
      cell: item => {
        const { name, href } = read(item);
        return html`<a href=${href}>${name}</a>`;
      },
    },
    { name: 'Type', cell: item => h(Badge, { children: read(item).kind }) },
    {
      name: 'Address or hash',
      cell: item => h(Reference, { value: hashOf(item), href: read(item).href }),
    },
    { name: 'Age', cell: item => ageCell('timestamp' in item ? item.timestamp : null) },
  ];
  return recordList({
    label: `Results on ${chain.name}`,
    columns,
    keyOf: (item: Item) => `${item.type} ${hashOf(item)}`,
    empty:
      unused === undefined
        ? 'No results on this chain. Parts of addresses and hashes are not searched.'
        : html`This address has no activity on this chain. <a href=${unused}>See its page</a>`,
    load: (position: { cursor: string } | undefined, signal) =>
      api.GET('/explorer/search', {
        params: { query: { ...pageQuery(chain.id, position), q: search.text } },
        signal,
      }),
  });
}

function hashOf(item: Item): string {
  if (item.type === 'block') return item.block_hash;
  return item.type === 'transaction' ? item.transaction_hash : item.address_hash;
}
