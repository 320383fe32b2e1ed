import { isAddress } from 'viem';
import type { NamedAddress } from '#indexer/read/search.ts';
import { BackendError } from '../../port/backend-error.ts';
import type { CursorPosition } from '../../port/cursor.ts';

/** Kinds that a search finds by name. All tokens come before all contracts. */
export const NAMED_KINDS = ['token', 'contract'] as const;
type NamedKind = (typeof NAMED_KINDS)[number];

export interface NamedPosition extends NamedAddress {
  readonly kind: NamedKind;
}

/** Search prefix and position of a page. */
export interface SearchPosition {
  readonly prefix: string;
  /** Undefined on the first page. */
  readonly after: NamedPosition | undefined;
}

/** Document's keys of a position, and additional keys in positions of other back ends. */
const NEEDED = ['item_type', 'name', 'address_hash'] as const;
const OTHERS = ['block_hash', 'holder_count', 'inserted_at', 'transaction_hash'] as const;

type Keys = Readonly<Record<string, unknown>>;

/**
 * Reads a position from our cursor, or else from the document's keys with `q`. The cursor stores the prefix as a length
 * within the last term (Decision 4).
 * @throws BackendError `rejected` when it is incomplete or not of this search.
 */
export function searchPosition(
  position: CursorPosition | undefined,
  query: Keys & { q?: string },
  keyOf: (text: string) => string,
): SearchPosition {
  if (position !== undefined) {
    const after = namedPosition(position);
    const length = position.prefix_length;
    if (after === undefined || typeof length !== 'number' || length < 1) throw notOurs();
    return { prefix: [...after.term].slice(0, length).join(''), after };
  }
  const prefix = keyOf(query.q ?? '');
  const given = [...NEEDED, ...OTHERS].find(name => query[name] !== undefined);
  if (given === undefined) return { prefix, after: undefined };
  const lost = NEEDED.find(name => query[name] === undefined);
  if (lost !== undefined) {
    throw new BackendError('rejected', 'bad_input', `${lost}: must be given together with ${given}`);
  }
  const after = namedPosition(query);
  if (after === undefined || prefix === '' || !after.term.startsWith(prefix)) throw notOurs();
  return { prefix, after };
}

/** Cursor position after an item. */
export function cursorPosition({ kind, term, address }: NamedPosition, prefix: string): CursorPosition {
  return { item_type: kind, name: term, address_hash: address, prefix_length: [...prefix].length };
}

function namedPosition({ item_type: type, name, address_hash: hash }: Keys): NamedPosition | undefined {
  const kind = NAMED_KINDS.find(one => one === type);
  const address = typeof hash === 'string' ? hash.toLowerCase() : '';
  if (kind === undefined || typeof name !== 'string' || !isAddress(address, { strict: false })) {
    return undefined;
  }
  return { kind, term: name, address };
}

function notOurs(): BackendError {
  return new BackendError(
    'rejected',
    'bad_input',
    'cursor: must be the cursor of an earlier page of this search',
  );
}
