import { grouped } from '#pages/browser/amounts.ts';
import { clipped, shortened } from '#pages/browser/reference.ts';
import { isBlank } from '#pages/browser/text-direction.ts';
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
      const symbol = item.symbol === null || isBlank(item.symbol) ? '' : `(${item.symbol})`;
      const names = [item.name, symbol].filter(text => text !== null && !isBlank(text)).join(' ');
      const kind = kindOf(item.token_type === null ? 'token' : `${clipped(item.token_type)} token`, item);
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
        kind: kindOf(item.type, item),
        value: item.address_hash,
        href: pageOf.address(chainId, item.address_hash),
      });
  }
}

/** Kind of a result, with the warning of its back end (Decision 420). */
function kindOf(kind: string, { reputation }: { reputation?: 'scam' }): string {
  return reputation === undefined ? kind : `${kind}, marked as a scam`;
}

/** Result labelled with its name, or with its shortened value if it has none that can be seen. */
function named(
  name: string | null,
  { kind, value, href }: { kind: string; value: string; href: string },
): SearchResult {
  return name === null || isBlank(name)
    ? { name: shortened(value), kind, value: undefined, href }
    : { name: clipped(name), kind, value, href };
}
