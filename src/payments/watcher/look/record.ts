import type { OwnedTransfer, Transfer } from '../../model/transfer.ts';
import { match } from '../../settlement/match.ts';
import { matchReads } from '../../settlement/match-reads.ts';
import { moveRows } from '../../settlement/moved-transactions.ts';
import { droppedTransfers } from '../../settlement/transfer-decisions.ts';
import { cursorStore, type ScanProgress } from '../../store/cursor-store.ts';
import { transactionStore } from '../../store/transaction-store.ts';
import { transferStore } from '../../store/transfer-store.ts';
import { watchedPayments } from '../../store/watched-payments.ts';
import { slices } from '../node/node-view.ts';
import { type ChosenTransfers, logKey } from './chosen-transfers.ts';
import { changeInParts, confirmationsOf, type EffectScope, type Look } from './look.ts';
import { repricedBy } from './replaced.ts';
import { type Candidate, recordedPayments, sortTransfers } from './sorted-transfers.ts';
import { inRotation, inTurns } from './turns.ts';

/** Transfers that the chain has now, and the changes that are stored with them. */
export interface Sighting {
  /** Not settled yet. Of a transaction with one of them, all that are not. */
  readonly transfers: readonly Transfer[];
  /** Those to be recorded now; all of them, as new ones, when absent. */
  readonly chosen?: ChosenTransfers;
  /** Ids of claimed transactions that continue under another hash, by that hash. */
  readonly repriced: ReadonlyMap<string, string>;
  /** Stored in the transaction of the last transfers; undefined leaves the cursor unchanged. */
  readonly cursor: ScanProgress | undefined;
}

interface Recorded {
  /** Keys (`logKey`) of transfers that need no other look while their block stands. */
  readonly done: readonly string[];
  /** Keys of transfers that pay nothing now. A later look tries them again. */
  readonly unmatched: readonly string[];
  readonly changes: number;
  /** False when there were more transfers than one look records. The cursor then stays, for the next look. */
  readonly isWhole: boolean;
}

/** Most new transfers that one look matches with sessions. Those of all organizations take turns. */
const MATCHED_PER_LOOK = 2_000;
/** Payments after which a look records no more. Each takes about as long as forty transfers that pay nothing. */
const PAYMENTS_PER_LOOK = 250;
/** Most unmatched transfers that one look matches again, because their session may have opened since. */
const KEPT_PER_LOOK = 100;
/** Most transfers of one transaction in a row, before it is the turn of another organization. */
const TRANSFERS_IN_A_ROW = 100;
/** Most transfers that one statement keeps as unmatched. */
const KEPT_TOGETHER = 200;
/** Matching a transfer takes about as long as keeping four, which count as one row. */
const KEPT_WEIGHT = 0.25;

/**
 * Records each transfer with the session that it pays, or as an unmatched one of the recipient's owner. Transfers
 * recorded before stay unchanged. The transfers of one transaction may be recorded in several parts and looks.
 */
export async function record(
  look: Look,
  { transfers, chosen = { fresh: transfers, again: [], hasAllFresh: true }, repriced, cursor }: Sighting,
): Promise<Recorded> {
  const again = new Set(chosen.again);
  const unique = withoutRepetitions([...chosen.fresh, ...again]);
  const { done, candidates, unpayable, idle } = await sortTransfers(look, { transfers: unique, repriced });
  const isOld = ({ isRecorded: isKept, transfer }: Candidate) => isKept || again.has(transfer);
  const fresh = inTurns(piecesOf(candidates.filter(one => !isOld(one))), ownerOf);
  const old = inRotation(piecesOf(candidates.filter(isOld)), look.head.number);
  const matched = upTo(MATCHED_PER_LOOK, fresh);
  const works: Work[] = [
    ...[...matched, ...upTo(KEPT_PER_LOOK, old)].map(workOf(transfers, repriced)),
    ...slices(unpayable, KEPT_TOGETHER).map(owned => ({ kind: 'keep' as const, owned })),
  ];
  if (works.length === 0 && cursor !== undefined) works.push({ kind: 'keep', owned: [] });

  const areAllMatched = chosen.hasAllFresh && matched.length === fresh.length;
  const isSpent = (results: readonly RecordedPart[]) =>
    results.reduce((sum, { paid }) => sum + paid.length, 0) >= PAYMENTS_PER_LOOK;
  const parts = { name: 'record', rows: works, weightOf, isSpent } as const;
  const results = await changeInParts(look, parts, async (part, scope, isLast) => {
    const recorded = await recordPart(look, scope, part);
    if (isLast && areAllMatched && cursor !== undefined)
      await cursorStore(scope.handle).set(look.chain.id, cursor);
    return { ...recorded, works: part.length };
  });
  const paid = results.flatMap(one => one.paid);
  const areAllDone = results.reduce((sum, one) => sum + one.works, 0) === works.length;
  return {
    done: [...done, ...paid].map(logKey),
    unmatched: [...idle, ...results.flatMap(one => one.unmatched)].map(logKey),
    changes: paid.length,
    isWhole: areAllMatched && areAllDone,
  };
}

/** Records all of these transfers, which were read behind the scan. */
export async function recordAll(
  look: Look,
  transfers: readonly Transfer[],
): Promise<Pick<Recorded, 'changes' | 'isWhole'>> {
  if (transfers.length === 0) return { changes: 0, isWhole: true };
  return record(look, { transfers, repriced: await repricedBy(look, transfers), cursor: undefined });
}

/** Transfers of a part of the works. */
interface RecordedPart {
  /** Recorded as payments. */
  readonly paid: readonly Transfer[];
  /** The others. */
  readonly unmatched: readonly Transfer[];
}

/** Transfers of one transaction and one owner, at least one. */
type Piece = readonly [Candidate, ...Candidate[]];

/** A part of the work that is done in one database transaction. */
type Work = MatchWork | { readonly kind: 'keep'; readonly owned: readonly OwnedTransfer[] };

interface MatchWork {
  readonly kind: 'match';
  readonly piece: Piece;
  /** All transfers that a moved transaction makes now; only before its first ones. */
  readonly moved: readonly Transfer[] | undefined;
  /** Id of the claim that continues with this transaction. */
  readonly claim: string | undefined;
}

function piecesOf(candidates: readonly Candidate[]): Piece[] {
  const ofOne = Map.groupBy(candidates, one => `${one.transfer.txHash} ${ownerOf([one])}`);
  return [...ofOne.values()]
    .flatMap(some => slices(some, TRANSFERS_IN_A_ROW))
    .flatMap(([first, ...others]): Piece[] => (first === undefined ? [] : [[first, ...others]]));
}

function ownerOf([{ owner }]: Piece): string {
  return `${owner?.organizationId} ${owner?.mode}`;
}

/** The first pieces with about as many transfers. */
function upTo(most: number, pieces: readonly Piece[]): readonly Piece[] {
  let count = 0;
  const end = pieces.findIndex(({ length }) => {
    count += length;
    return count > most;
  });
  return end < 0 ? pieces : pieces.slice(0, Math.max(end, 1));
}

function workOf(transfers: readonly Transfer[], repriced: ReadonlyMap<string, string>) {
  const byHash = Map.groupBy(transfers, one => one.txHash);
  const begun = new Set<string>();
  return (piece: Piece): MatchWork => {
    const [{ transfer, isMoved }] = piece;
    const isFirst = !begun.has(transfer.txHash);
    begun.add(transfer.txHash);
    const moved = isMoved && isFirst ? byHash.get(transfer.txHash) : undefined;
    return { kind: 'match', piece, moved, claim: repriced.get(transfer.txHash) };
  };
}

/** The transfers of a work that are not recorded in their block, with the owners of their recipients. */
function ownedOf(work: Work): readonly OwnedTransfer[] {
  if (work.kind === 'keep') return work.owned;
  return work.piece.flatMap(({ transfer, owner, isRecorded }) =>
    owner === undefined || isRecorded ? [] : { transfer, owner },
  );
}

function weightOf(work: Work): number {
  return work.kind === 'keep' ? KEPT_WEIGHT * work.owned.length : work.piece.length;
}

async function recordPart(
  { chain, seals, ...look }: Look,
  { handle, settle, now, breathe }: EffectScope,
  works: readonly Work[],
): Promise<RecordedPart> {
  const transactions = transactionStore(handle);
  const reads = matchReads(handle, seals);
  const paid: Transfer[] = [];
  const unmatched: Transfer[] = [];
  const kept: OwnedTransfer[] = [];

  async function recordPiece({ piece, moved, claim }: MatchWork): Promise<void> {
    const [
      {
        transfer: { txHash },
      },
    ] = piece;
    if (claim !== undefined) await settle.follow(claim, txHash);
    if (moved !== undefined) {
      await moveRows(transactions, await transactions.byHash(chain.id, txHash), moved);
    }
    const watched = watchedPayments(handle);
    const claimedBy = await watched.claimants(chain.id, txHash);
    const transfers = piece.map(one => one.transfer);
    const payments = recordedPayments(await watched.recorded(chain.id, [txHash]), transfers);
    for (const one of piece) {
      await breathe();
      const { transfer, owner, isRecorded: isKept } = one;
      if (await recordOne(one, { claimedBy, isNew: !payments.mayHave(transfer) })) {
        paid.push(transfer);
      } else {
        unmatched.push(transfer);
        if (!isKept && owner !== undefined) kept.push({ transfer, owner });
      }
    }
  }

  /** True when the transfer is recorded as a payment. */
  async function recordOne(
    { transfer, owner }: Candidate,
    { claimedBy, isNew }: { readonly claimedBy: ReadonlySet<string>; readonly isNew: boolean },
  ): Promise<boolean> {
    const confirmations = confirmationsOf(transfer, look);
    if (!isNew && (await settle.updateTransfer(transfer, confirmations)) !== undefined) {
      reads.forget();
      return true;
    }
    const matched = await match(transfer, { reads, owner, claimedBy });
    if (matched === undefined) return false;
    const { session, matchedBy } = matched;
    await settle.insertTransfer(session, transfer, { matchedBy, confirmations });
    reads.follow(session, transfer);
    return true;
  }

  /** Without those that were recorded as payments since they were sorted. */
  async function unpaid(owned: readonly OwnedTransfer[]): Promise<OwnedTransfer[]> {
    const hashes = [...new Set(owned.map(({ transfer }) => transfer.txHash))];
    const recorded = await watchedPayments(handle).recorded(chain.id, hashes);
    const paid = new Set(recorded.map(({ txHash, logIndex }) => `${txHash} ${logIndex}`));
    return owned.filter(({ transfer: { txHash, logIndex } }) => !paid.has(`${txHash} ${logIndex}`));
  }

  // Before they are matched: a refund of a transfer follows it to the session that it pays.
  for (const some of slices(works.flatMap(ownedOf), KEPT_TOGETHER))
    await droppedTransfers(handle).restore(some);
  for (const work of works) {
    if (work.kind === 'match') {
      await recordPiece(work);
    } else if (work.owned.length > 0) {
      kept.push(...(await unpaid(work.owned)));
      unmatched.push(...work.owned.map(one => one.transfer));
    }
  }
  const store = transferStore(handle);
  for (const some of slices(kept, KEPT_TOGETHER)) {
    await store.upsertAll(some, now);
    await breathe();
  }
  return { paid, unmatched };
}

/** Drops duplicates, for example from a node that repeats a log: a second row would violate a unique index. */
function withoutRepetitions(transfers: readonly Transfer[]): Transfer[] {
  return [...new Map(transfers.map(one => [`${one.txHash} ${one.logIndex}`, one])).values()];
}
