import type { Handle } from '#db/open.ts';
import type { Owner } from '../../model/owner.ts';
import { tokenOf } from '../../model/payment-chain.ts';
import type { PaymentTransaction } from '../../model/payment-transaction.ts';
import type { Transfer, UnmatchedTransfer } from '../../model/transfer.ts';
import { recipientStore } from '../../recipients/recipient-store.ts';
import { sessionStore } from '../../sessions/session-store.ts';
import { suggestedSession } from '../../sessions/suggested-session.ts';
import { CLOCK_ALLOWANCE_MS, depositAddressOf, LATE_MS, match } from '../../settlement/match.ts';
import { moveRows } from '../../settlement/moved-transactions.ts';
import { cursorStore, type ScanProgress } from '../../store/cursor-store.ts';
import { transactionStore } from '../../store/transaction-store.ts';
import { transferStore } from '../../store/transfer-store.ts';
import { changeInParts, confirmationsOf, type EffectScope, type Round } from './round.ts';

/** Transfers that the chain has now, and the changes that are stored with them. */
export interface Sighting {
  readonly transfers: readonly Transfer[];
  /** Ids of claimed transactions that continue under another hash, by that hash. */
  readonly repriced: ReadonlyMap<string, string>;
  /** Stored in the transaction of the last transfers; undefined leaves the cursor unchanged. */
  readonly cursor: ScanProgress | undefined;
}

/**
 * Records each transfer with the session that it pays, or as an unmatched one of the recipient's owner. Transfers
 * recorded before stay unchanged. `done` has the keys (`logKey`) of transfers that need no other look while their block
 * stands.
 */
export async function record(
  round: Round,
  { transfers, repriced, cursor }: Sighting,
): Promise<{ done: readonly string[]; changes: number }> {
  const rows = byTransaction(transfers);
  if (rows.length === 0 && cursor !== undefined) rows.push([]);
  const parts = { name: 'record', rows, weightOf: (ofOne: readonly Transfer[]) => ofOne.length } as const;
  const recorded = await changeInParts(round, parts, async (part, scope, isLast) => {
    const ofPart = await recordPart(round, scope, { part, repriced });
    if (isLast && cursor !== undefined) await cursorStore(scope.handle).set(round.chain.id, cursor);
    return ofPart;
  });
  return {
    done: recorded.flatMap(one => one.done),
    changes: recorded.reduce((sum, one) => sum + one.changes, 0),
  };
}

/** Key of a transfer in a block. */
export function logKey({ txHash, logIndex, blockHash }: Transfer): string {
  return `${blockHash} ${txHash} ${logIndex}`;
}

async function recordPart(
  round: Round,
  scope: EffectScope,
  { part, repriced }: { part: readonly (readonly Transfer[])[]; repriced: ReadonlyMap<string, string> },
): Promise<{ done: string[]; changes: number }> {
  const { handle, settle } = scope;
  const transactions = transactionStore(handle);
  const hashes = part.flatMap(([first]) => first?.txHash ?? []);
  const unmatched = await transferStore(handle).openOf(round.chain.id, hashes);
  const done: string[] = [];
  let changes = 0;
  for (const transfers of part) {
    const [{ txHash } = { txHash: '' }] = transfers;
    const claim = repriced.get(txHash);
    if (claim !== undefined) await settle.follow(claim, txHash);
    const rows = await moveRows(transactions, await transactions.byHash(round.chain.id, txHash), transfers);
    for (const transfer of transfers) {
      const found = unmatched.filter(one => isSameLog(one, transfer));
      const outcome =
        (await recordAgain(round, scope, { transfer, rows })) ??
        (await recordNew(round, scope, { transfer, rows, found }));
      if (outcome !== 'open') done.push(logKey(transfer));
      if (outcome === 'changed') changes += 1;
    }
  }
  return { done, changes };
}

/** `same`: nothing to do, now or later. `open`: it may still match a session. */
type Outcome = 'changed' | 'same' | 'open';

/**
 * Records a transfer that is already a payment; undefined for any other. `rows` are from before the first transfer of
 * the transaction. They need no update, because each log index is recorded once.
 */
async function recordAgain(
  round: Round,
  { settle }: EffectScope,
  { transfer, rows }: { transfer: Transfer; rows: readonly PaymentTransaction[] },
): Promise<Outcome | undefined> {
  if (rows.length === 0) return undefined;
  const before = rows.find(one => one.logIndex === transfer.logIndex);
  const after = await settle.sightAgain(transfer, confirmationsOf(transfer, round));
  if (after === undefined) return undefined;
  return before?.id === after.id && before.blockHash === after.blockHash ? 'same' : 'changed';
}

async function recordNew(
  round: Round,
  { handle, settle, now }: EffectScope,
  {
    transfer,
    rows,
    found,
  }: { transfer: Transfer; rows: readonly PaymentTransaction[]; found: readonly UnmatchedTransfer[] },
): Promise<Outcome> {
  const here = found.filter(one => one.blockHash === transfer.blockHash);
  if (here.some(one => one.confirmedAt !== null)) return 'same';
  const claimedBy = new Set(rows.filter(one => one.sender === null).map(one => one.sessionId));
  const sessions = sessionStore(handle, round.seals);
  const owner = await recipientStore(handle).ownerOf({
    chainId: transfer.chainId,
    address: transfer.recipient,
  });
  const transactions = transactionStore(handle);
  const matched = await match(transfer, { sessions, transactions, owner, claimedBy });
  const unmatched = transferStore(handle);
  if (matched !== undefined) {
    const { session, matchedBy } = matched;
    await settle.sightNew(session, transfer, { matchedBy, confirmations: confirmationsOf(transfer, round) });
    if (found.length > 0) await unmatched.remove(found.map(one => one.id));
    return 'changed';
  }
  if (here.length > 0) return 'open';
  if (owner !== undefined) {
    const suggestedSessionId = await suggestionFor(round, { handle, owner, transfer });
    await unmatched.upsert(owner, { ...transfer, suggestedSessionId }, now);
  }
  return 'open';
}

/** The session that the payer probably meant. The merchant decides about a rounded amount (Decision 133). */
function suggestionFor(
  { chain }: Round,
  { handle, owner, transfer }: { handle: Handle; owner: Owner; transfer: Transfer },
): Promise<string | null> {
  return suggestedSession(handle, owner, {
    ...depositAddressOf(transfer),
    amount: transfer.amount,
    tokenDecimals: tokenOf(chain, transfer.tokenAddress)?.decimals ?? 0,
    openedBy: transfer.blockTime + CLOCK_ALLOWANCE_MS,
    endedAfter: transfer.blockTime - LATE_MS,
  });
}

function isSameLog(a: Transfer, b: Transfer): boolean {
  return a.txHash === b.txHash && a.logIndex === b.logIndex;
}

/**
 * The transfers of each transaction. Drops duplicates, for example from a node that repeats a log, because a second row
 * with the same log index would violate a unique index.
 */
function byTransaction(transfers: readonly Transfer[]): Transfer[][] {
  const unique = new Map(transfers.map(one => [`${one.txHash} ${one.logIndex}`, one]));
  return [...Map.groupBy(unique.values(), one => one.txHash).values()];
}
