import type { RecordedBlock } from '../../store/chain-records.ts';
import type { Header, NodeView } from './node-view.ts';

/** Rows sorted by the chain's answer about their block. Rows above the head of the look are in none of the lists. */
export interface CanonicalRows<Row> {
  readonly standing: readonly Row[];
  readonly gone: readonly Row[];
  /** Rows that the node has no answer for yet. */
  readonly unknown: readonly Row[];
}

/**
 * Compares the block hashes of rows with those of the chain, up to the head of this look. All rows are unknown when
 * the chain no longer has that head, because confirmations are counted from it.
 */
export async function canonicalRows<Row extends RecordedBlock>(
  rows: readonly Row[],
  { view, head }: { view: NodeView; head: Header },
): Promise<CanonicalRows<Row>> {
  const reachable = rows.filter(row => row.blockNumber !== null && row.blockNumber <= head.number);
  if (reachable.length === 0) return { standing: [], gone: [], unknown: [] };
  const headers = await view.headers([...reachable.map(row => row.blockNumber ?? 0), head.number]);
  if (headers.get(head.number)?.hash !== head.hash) {
    return { standing: [], gone: [], unknown: reachable };
  }
  const isKnown = (row: Row) => headers.has(row.blockNumber ?? -1);
  const stands = (row: Row) => headers.get(row.blockNumber ?? -1)?.hash === row.blockHash;
  return {
    standing: reachable.filter(stands),
    gone: reachable.filter(row => isKnown(row) && !stands(row)),
    unknown: reachable.filter(row => !isKnown(row)),
  };
}
