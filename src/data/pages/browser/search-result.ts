import { grouped } from '#pages/browser/amounts.ts';
import { clipped, shortened } from '#pages/browser/reference.ts';
import { type Explorer, pageOf } from './api.ts';

/** A result of a search: its name, what it is, and where its page is. */
export interface SearchResult {
  readonly name: string;
  /** Kind in a word: `token`, `block`. */
  readonly kind: string;
  /** The address or hash where `name` is another text. */
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

/** A result that goes by a name, or by its short value where it has none. */
function named(
  name: string | null,
  { kind, value, href }: { kind: string; value: string; href: string },
): SearchResult {
  return name === null || name === ''
    ? { name: shortened(value), kind, value: undefined, href }
    : { name: clipped(name), kind, value, href };
}
