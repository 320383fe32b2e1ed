import type { Clock } from '#lib/clock.ts';
import type { Refund, RefundFailureReason } from '../../model/refund.ts';
import type { Transfer } from '../../model/transfer.ts';
import { refundTurns } from '../../refunds/refund-turns.ts';
import { NOT_FOUND_MS } from '../look/claim-follower.ts';
import { type LaneResult, NOTHING_DONE } from '../look/lanes.ts';
import { confirmationsOf, type Look } from '../look/look.ts';
import { type HashLookup, lookUp } from '../node/by-hash.ts';
import { checkCompletedRefunds } from './completed-refunds.ts';
import { changed, moveRefunds, transfersOf } from './refund-transfers.ts';
import { refundSearch } from './sent-refunds.ts';

/** Most refunds that one look asks the node about. Each takes two or three requests. */
const REFUNDS_PER_LOOK = 25;
/** Most refunds of a chain that are followed at a time. */
const FOLLOWED = 500;
/** Divisor of the age of a search that gives the pause before its transaction is looked up again, within these bounds. */
const PAUSE_PART = 8;
const SHORTEST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 3 * 60_000;

/** Finding of the chain about the transaction of a refund. */
type Finding =
  | { readonly kind: 'seen'; readonly transfer: Transfer; readonly confirmations: number }
  | { readonly kind: 'failed'; readonly reason: RefundFailureReason }
  /** In the pool, in a block without enough confirmations to judge it, or missing. */
  | { readonly kind: 'unseen' };

/**
 * Follows the transactions of refunds by their hashes (Decision 352). A refund whose transfer was seen is looked up with
 * each head, so that it loses its block when the chain does; any other one less and less often.
 */
export function refundFollower({ clock }: { clock: Clock }) {
  let looks = 0;
  const lookedAt = new Map<string, { readonly head: string; readonly at: number }>();
  const search = refundSearch();

  function isDue({ id, blockHash, searchedSince }: Refund, { head }: Look): boolean {
    const last = lookedAt.get(id);
    if (last === undefined) return true;
    if (blockHash !== null && last.head !== head.hash) return true;
    const pauseMs = (last.at - (searchedSince ?? last.at)) / PAUSE_PART;
    return clock.now() - last.at >= Math.min(Math.max(pauseMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
  }

  async function follow(look: Look): Promise<number> {
    const { chain, db, head } = look;
    const followed = await refundTurns(db).followed(chain.id, looks++, FOLLOWED);
    const due = followed.filter(one => isDue(one, look)).slice(0, REFUNDS_PER_LOOK);
    const known = new Set(followed.map(({ id }) => id));
    for (const id of lookedAt.keys()) if (!known.has(id)) lookedAt.delete(id);
    const lookups = await lookUp(
      due.flatMap(({ txHash }) => txHash ?? []),
      look,
    );
    for (const { id } of due) lookedAt.set(id, { head: head.hash, at: clock.now() });
    const answered = due.flatMap(refund => {
      const lookup = lookups.get(refund.txHash ?? '');
      return lookup === undefined ? [] : [{ refund, lookup }];
    });
    return changed(look, answered, async ({ refund, lookup }, { handle, refunds }) => {
      const { id } = refund;
      const { hasMoved, taken } = await moveRefunds({ handle, refunds, look }, refund, lookup);
      const finding = findingOf(refund, lookup, { look, taken });
      if (finding.kind === 'seen')
        return (await refunds.seen(id, finding.transfer, finding.confirmations)) || hasMoved;
      if (finding.kind === 'failed') return refunds.fail(id, finding.reason);
      if (isGivenUp(refund, lookup)) return refunds.fail(id, 'not_found');
      return lookup.mined === undefined ? refunds.unseen(id) : hasMoved;
    });
  }

  function isGivenUp({ blockHash, searchedSince }: Refund, { mined, transaction }: HashLookup): boolean {
    const isMissing = mined === undefined && transaction === undefined && blockHash === null;
    return isMissing && clock.now() - (searchedSince ?? clock.now()) >= NOT_FOUND_MS;
  }

  return {
    /** Returns what was done. No refund changes which transfers match a session. */
    async run(look: Look): Promise<LaneResult> {
      const lost = await checkCompletedRefunds(look);
      return { ...NOTHING_DONE, changes: lost + (await follow(look)) };
    },
    /** The same for refunds without a named transaction. */
    search: async (look: Look): Promise<LaneResult> => ({
      ...NOTHING_DONE,
      changes: await search.search(look),
    }),
    forget(): void {
      lookedAt.clear();
      search.forget();
    },
  };
}

/**
 * Judges a transaction that is in a block. A failure counts only with enough confirmations, because another block may
 * show the transfer.
 */
function findingOf(
  refund: Refund,
  lookup: HashLookup,
  { look, taken }: { look: Pick<Look, 'chain' | 'head' | 'coinLogsFrom'>; taken: ReadonlySet<number> },
): Finding {
  const { mined } = lookup;
  if (mined === undefined) return { kind: 'unseen' };
  const confirmations = confirmationsOf({ blockNumber: mined.header.number }, look);
  const transfer = transfersOf(refund, lookup, look).find(({ logIndex }) => !taken.has(logIndex));
  if (transfer !== undefined) return { kind: 'seen', transfer, confirmations };
  if (confirmations < refund.requiredConfirmations) return { kind: 'unseen' };
  return { kind: 'failed', reason: Number(mined.receipt.status) === 1 ? 'mismatch' : 'reverted' };
}
