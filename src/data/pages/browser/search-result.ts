import { grouped } from '#pages/browser/amounts.ts';
import { clipped, shortened } from '#pages/browser/reference.ts';
import { type Explorer, pageOf } from './api.ts';

/** Search result: its name, kind and page. */
export interface SearchResult {
  readonly name: string;
  /** Kind in one word, for example `token` or `block`. */
  readonly kind: string;
  /** Address or hash; undefined when `name` already shows it. */
  readonly value: string | undefined;
  readonly href: string;
}

/** Reads an item of a search on one chain. */
export function resultOf(item: Explorer['SearchItem'], chainId: number): SearchResult {
  switch (item.type) {
    case 'token': {
      const names = [item.name, item.symbol && `(${item.symbol})`].filter(Boolean).join(' ');
      const kind = item.token_type === null ? 'token' : `${item.token_type} token`;
      return named(names, { kind, value: item.address_hash, href: pageOf.token(chainId, item.address_hash) });
    }
    case 'block':
      return {
        name: `Block ${grouped(item.block_number)}`,
        kind: 'block',
        value: item.block_hash,
        href: pageOf.block(chainId, item.block_hash),
      };
    case 'transaction':
      return named(null, {
        kind: 'transaction',
        value: item.transaction_hash,
        href: pageOf.transaction(chainId, item.transaction_hash),
      });
    default:
      return named(item.name ?? item.ens_info?.name ?? null, {
        kind: item.type,
        value: item.address_hash,
        href: pageOf.address(chainId, item.address_hash),
      });
  }
}

/** Result labelled with its name, or with its shortened value if it has none. */
function named(
  name: string | null,
  { kind, value, href }: { kind: string; value: string; href: string },
): SearchResult {
  return name === null || name === ''
    ? { name: shortened(value), kind, value: undefined, href }
    : { name: clipped(name), kind, value, href };
}
