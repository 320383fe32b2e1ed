import type { Refund } from '../../model/refund.ts';
import { LIFE_ALLOWANCE } from '../../model/session.ts';
import type { Transfer } from '../../model/transfer.ts';
import { refundStore } from '../../refunds/refund-store.ts';
import { changeInParts, type EffectScope, type Look } from '../look/look.ts';
import { type HashLookup, transfersIn } from '../node/by-hash.ts';

type RefundLook = Pick<Look, 'chain' | 'coinLogsFrom'>;

/** The transfers of a transaction that send exactly what a refund asks for. */
export function transfersOf(
  refund: Refund,
  lookup: HashLookup,
  { chain, coinLogsFrom }: RefundLook,
): Transfer[] {
  const { tokenAddress, destination } = refund;
  const watched = {
    has: (token: string, recipient: string) => token === tokenAddress && recipient === destination,
  };
  return transfersIn(lookup, { chainId: chain.id, watched, coinLogsFrom }).filter(one =>
    isTransferOf(refund, one),
  );
}

/** True when the transfer sends exactly what the refund asks for, after it was created (Decision 352). */
export function isTransferOf(
  { tokenAddress, destination, amount, afterBlock, createdAt }: Refund,
  transfer: Transfer,
): boolean {
  return (
    transfer.tokenAddress === tokenAddress &&
    transfer.recipient === destination &&
    transfer.amount === amount &&
    transfer.blockNumber > (afterBlock ?? -1) &&
    transfer.blockTime >= createdAt - LIFE_ALLOWANCE.beforeMs
  );
}

/**
 * Moves the refunds of an organization that have a transaction to the block in which it is now. Returns true if one moved, and the log indexes there
 * that complete other refunds than this one.
 */
export async function moveRefunds(
  { handle, refunds, look }: Pick<EffectScope, 'handle' | 'refunds'> & { readonly look: RefundLook },
  { id, organizationId, mode }: Refund,
  lookup: HashLookup,
): Promise<{ readonly hasMoved: boolean; readonly taken: ReadonlySet<number> }> {
  if (lookup.mined === undefined) return { hasMoved: false, taken: new Set() };
  const { receipt, header } = lookup.mined;
  const txHash = receipt.transactionHash.toLowerCase();
  const at = { organizationId, mode, chainId: look.chain.id, txHash, blockHash: header.hash };
  const hasMoved = await refunds.moved(at, refund => transfersOf(refund, lookup, look));
  return { hasMoved, taken: await refundStore(handle).taken(at, id) };
}

/** Changes rows one by one, in parts with a transaction each. Returns the number of those that did change. */
export async function changed<Row>(
  look: Look,
  rows: readonly Row[],
  change: (row: Row, scope: EffectScope) => Promise<boolean>,
): Promise<number> {
  const counts = await changeInParts(look, { name: 'refunds', rows }, async (part, scope) => {
    let count = 0;
    for (const row of part) if (await change(row, scope)) count += 1;
    return count;
  });
  return counts.reduce((sum, count) => sum + count, 0);
}
