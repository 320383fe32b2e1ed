import { type Hash, isAddress, isHash } from 'viem';
import type { ExactMatch } from './records/search-result.ts';
import { findTransaction } from './source/mined.ts';
import type { IndexSource } from './source/source.ts';

export interface ExactSearch {
  /** The one thing that is meant, or null. */
  readonly match: ExactMatch | null;
  /** Whether the text could be a name as well: an address or a hash is nothing else. */
  readonly isNameToo: boolean;
  /** Whether the node's pool had a part in it, which changes without a block. */
  readonly isUnsettled: boolean;
}

/** A height as clients write it; Decision 28 has the same for paths. */
const HEIGHT = /^(0|[1-9][0-9]{0,17})$/;

/** Looks up a text that is an address, a hash or a height. */
export async function exactSearch(source: IndexSource, text: string): Promise<ExactSearch> {
  const { reader } = source;
  const hex = text.toLowerCase();
  if (isAddress(hex, { strict: false })) {
    const match = (await reader.isOnChain(hex)) ? ({ kind: 'address', address: hex } as const) : null;
    return { match, isNameToo: false, isUnsettled: false };
  }
  if (isHash(hex)) return { ...(await byHash(source, hex)), isNameToo: false };
  const row = HEIGHT.test(text) ? await reader.blockByNumberOrHash(Number(text)) : null;
  return { match: row === null ? null : { kind: 'block', row }, isNameToo: true, isUnsettled: false };
}

async function byHash(source: IndexSource, hash: Hash): Promise<Pick<ExactSearch, 'match' | 'isUnsettled'>> {
  // A block first: it costs nothing, and for a transaction that is not in the index the node is asked.
  const row = await source.reader.blockByNumberOrHash(hash);
  if (row !== null) return { match: { kind: 'block', row }, isUnsettled: false };
  const found = await findTransaction(source, hash);
  if (found === null) return { match: null, isUnsettled: true };
  const timestamp = found.mined?.row.timestamp ?? null;
  return { match: { kind: 'transaction', hash, timestamp }, isUnsettled: found.mined === undefined };
}
