import type { Clock } from '#lib/clock.ts';
import type { PaymentTransaction } from '../../model/payment-transaction.ts';
import type { FailureReason } from '../../model/session.ts';
import type { Transfer } from '../../model/transfer.ts';
import { type WaitingClaim, watchedPayments } from '../../store/watched-payments.ts';
import { type HashLookup, lookUp, transfersIn } from '../node/by-hash.ts';
import { changeInParts, type Look } from './look.ts';
import { record } from './record.ts';
import { fateOf } from './replaced.ts';

/** Time after which a payment fails when its transaction is neither in a block nor in the pool. */
export const NOT_FOUND_MS = 30 * 60_000;

/** Most claims that one look asks the node about. Each takes two requests, and more when its transaction is known. */
export const CLAIMS_PER_LOOK = 25;
/** Divisor of a claim's age that gives the pause before it is looked up again, within these bounds. */
const PAUSE_PART = 8;
const SHORTEST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 3 * 60_000;

/** Result of looking up one claim. */
type Finding =
  | { readonly kind: 'mined'; readonly transfers: readonly Transfer[] }
  /** In the pool. `nonce` is given when it is the payer's and not recorded yet. */
  | { readonly kind: 'waiting'; readonly nonce: number | undefined }
  | { readonly kind: 'failed'; readonly reason: FailureReason }
  | { readonly kind: 'missing' };

/** Memory of a claim, in UTC milliseconds. */
interface FollowedClaim {
  /** Beginning of the search. A claim repeated after it failed as not found begins again. */
  readonly since: number;
  /** Time from which it counts as missing; undefined before the first lookup and while it is in the pool. */
  readonly missingSince: number | undefined;
  readonly lookedAt: number;
}

/**
 * Follows payments with a known hash that are in no block: claimed ones, and ones that lost their block. Older ones are
 * looked up less often. The number per look is limited, so that a flood of claims does not overload the node. Sessions
 * take turns: the first claim of each session comes before any second one.
 */
export function claimFollower({ clock }: { clock: Clock }) {
  let followed = new Map<string, FollowedClaim>();
  let lookedAt = Number.NEGATIVE_INFINITY;

  async function follow(look: Look): Promise<number> {
    const { chain, db } = look;
    const now = clock.now();
    if (now - lookedAt < SHORTEST_PAUSE_MS) return 0;
    const pending = await watchedPayments(db).claims(chain.id);
    // Drops claims that are no longer pending.
    followed = new Map(pending.flatMap(({ id }) => pairOf(id, followed.get(id))));
    const first = inTurn(pending.filter(one => isDue(followed.get(one.id), now))).slice(0, CLAIMS_PER_LOOK);
    if (first.length === 0) return 0;
    lookedAt = now;
    const rows = await watchedPayments(db).claimed(first.map(one => one.id));
    const byId = new Map(rows.map(one => [one.claim.id, one]));
    const due = first.flatMap(({ id }) => byId.get(id) ?? []).filter(({ claim }) => isWaiting(claim));
    const found = await lookUp(
      due.map(({ claim }) => claim.txHash ?? ''),
      look,
    );
    const findings: { id: string; finding: Finding }[] = [];
    for (const { claim, payer } of due) {
      const before = followed.get(claim.id) ?? begun(claim, now);
      const lookup = found.get(claim.txHash ?? '');
      if (lookup === undefined) {
        followed.set(claim.id, { ...before, lookedAt: now });
        continue;
      }
      const finding = await findingOf(look, { claim, payer, lookup });
      const missingSince = missingTime(claim, finding, { before, now });
      followed.set(claim.id, { ...before, missingSince, lookedAt: now });
      const isGivenUp = missingSince !== undefined && now - missingSince >= NOT_FOUND_MS;
      findings.push({
        id: claim.id,
        finding: isGivenUp ? { kind: 'failed', reason: 'not_found' } : finding,
      });
    }
    return settle(look, findings);
  }

  /** Orders claims by their rank within the session, then by the last lookup, then the newest first. */
  function inTurn(due: readonly WaitingClaim[]): WaitingClaim[] {
    const lookedAtOf = ({ id }: WaitingClaim) => followed.get(id)?.lookedAt ?? 0;
    const ordered = due.toSorted((a, b) => lookedAtOf(a) - lookedAtOf(b) || b.createdAt - a.createdAt);
    const bySession = Map.groupBy(ordered, one => one.sessionId);
    const ranks = [...bySession.values()].flatMap(claims =>
      claims.map((one, rank) => [one.id, rank] as const),
    );
    const rankOf = new Map(ranks);
    return ordered.toSorted((a, b) => (rankOf.get(a.id) ?? 0) - (rankOf.get(b.id) ?? 0));
  }

  return {
    /** Returns the number of changes. */
    follow,
    /** Forgets the claims, because there are none. */
    forget: () => followed.clear(),
  };
}

function pairOf(id: string, known: FollowedClaim | undefined): [string, FollowedClaim][] {
  return known === undefined ? [] : [[id, known]];
}

/** True for a payment with a known hash that is in no block. */
function isWaiting({ status, txHash }: PaymentTransaction): boolean {
  return status === 'pending' && txHash !== null;
}

function isDue(known: FollowedClaim | undefined, now: number): boolean {
  if (known === undefined) return true;
  const pauseMs = (known.lookedAt - known.since) / PAUSE_PART;
  return now - known.lookedAt >= Math.min(Math.max(pauseMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
}

function begun({ createdAt }: PaymentTransaction, now: number): FollowedClaim {
  const isOld = now - createdAt >= NOT_FOUND_MS;
  return { since: isOld ? now : createdAt, missingSince: undefined, lookedAt: 0 };
}

/** Time from which a claim counts as missing; undefined for one that is in the pool or has failed. */
function missingTime(
  claim: PaymentTransaction,
  finding: Finding,
  { before, now }: { before: FollowedClaim; now: number },
): number | undefined {
  // A claim that is mined and still pending after its transfers were recorded is the payment of another session.
  if (finding.kind !== 'missing' && finding.kind !== 'mined') return undefined;
  const wasEverThere = finding.kind === 'mined' || claim.sender !== null || claim.nonce !== null;
  return before.missingSince ?? (wasEverThere ? now : before.since);
}

async function findingOf(
  look: Look,
  { claim, payer, lookup }: { claim: PaymentTransaction; payer: string | null; lookup: HashLookup },
): Promise<Finding> {
  const { chain, watched, coinLogsFrom, view, head } = look;
  const { transaction, mined } = lookup;
  if (mined !== undefined) {
    // A payer can claim any transaction, so only a failure of the payer's own transaction counts.
    const isOwn = mined.receipt.from.toLowerCase() === payer;
    if (isOwn && Number(mined.receipt.status) === 0) return { kind: 'failed', reason: 'reverted' };
    // A payment to the address of an ended checkout lost its block, and is not watched for any more.
    const isOfClaim = (tokenAddress: string, recipient: string) =>
      (tokenAddress === claim.tokenAddress && recipient === claim.recipient) ||
      watched.has(tokenAddress, recipient);
    const transfers = transfersIn(lookup, { chainId: chain.id, watched: { has: isOfClaim }, coinLogsFrom });
    return { kind: 'mined', transfers: transfers.filter(one => isPaymentOf(one, claim)) };
  }
  if (transaction !== undefined) {
    const isOwn = transaction.from.toLowerCase() === payer;
    const isNew = isOwn && claim.nonce === null;
    return { kind: 'waiting', nonce: isNew ? Number(transaction.nonce) : undefined };
  }
  if (claim.nonce === null || payer === null || claim.txHash === null) return { kind: 'missing' };
  const fate = await fateOf({ sender: payer, nonce: claim.nonce }, { view, head });
  // It may have been mined since the lookup and have used its nonce itself.
  const isMined = (await view.receipts([claim.txHash])).size > 0;
  return fate === 'unused' || isMined ? { kind: 'missing' } : { kind: 'failed', reason: fate };
}

async function settle(look: Look, findings: readonly { id: string; finding: Finding }[]): Promise<number> {
  const transfers = findings.flatMap(({ finding }) => (finding.kind === 'mined' ? finding.transfers : []));
  let changes = 0;
  if (transfers.length > 0) {
    const sighting = { transfers, repriced: new Map(), cursor: undefined };
    changes += (await record(look, sighting)).changes;
  }
  const moving = findings.filter(
    ({ finding }) => finding.kind === 'failed' || (finding.kind === 'waiting' && finding.nonce !== undefined),
  );
  await changeInParts(look, { name: 'claims', rows: moving }, async (part, { settle }) => {
    for (const { id, finding } of part) {
      if (finding.kind === 'failed') await settle.fail(id, finding.reason, null);
      if (finding.kind !== 'waiting' || finding.nonce === undefined) continue;
      await settle.waiting(id, finding.nonce);
    }
  });
  return changes + moving.length;
}

function isPaymentOf(transfer: Transfer, claim: PaymentTransaction): boolean {
  return transfer.tokenAddress === claim.tokenAddress && transfer.recipient === claim.recipient;
}
