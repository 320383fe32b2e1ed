import { refundStore } from '../../refunds/refund-store.ts';
import type { Look } from '../look/look.ts';
import { firstWatchedBlock } from '../look/reorgs.ts';
import { lookUp } from '../node/by-hash.ts';
import { canonicalRows } from '../node/canonical-rows.ts';
import { changed, moveRefunds } from './refund-transfers.ts';

/** Most refunds that one look asks the node about. */
const REFUNDS_PER_LOOK = 25;

/**
 * Checks completed refunds whose block is gone. Each moves to the block that has its transaction now. Without one, it
 * requires action again once the chain has grown beyond its confirmations. Returns the number of changes.
 */
export async function checkCompletedRefunds(look: Look): Promise<number> {
  const { chain, db, head, log } = look;
  const store = refundStore(db);
  const recorded = await store.completedBlocks(chain.id, firstWatchedBlock(look));
  const { gone } = await canonicalRows(recorded, look);
  if (gone.length === 0) return 0;
  const rows = await store.completedIn(chain.id, gone, REFUNDS_PER_LOOK);
  const lookups = await lookUp(
    rows.flatMap(({ txHash }) => txHash ?? []),
    look,
  );
  return changed(look, rows, async (refund, { handle, refunds }) => {
    const { id } = refund;
    const lookup = lookups.get(refund.txHash ?? '');
    if (lookup === undefined) return false;
    const { hasMoved } = await moveRefunds({ handle, refunds, look }, refund, lookup);
    const { status, blockNumber, blockHash, requiredConfirmations } = await refundStore(handle).byId(id);
    if (status !== 'completed' || blockHash === lookup.mined?.header.hash) return hasMoved;
    if (head.number <= (blockNumber ?? head.number) + requiredConfirmations) return hasMoved;
    log.error({ refund: id }, 'a completed refund was lost in a reorganisation');
    return refunds.fail(id, 'reorged');
  });
}
