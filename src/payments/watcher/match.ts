import type { Place } from '../model/place.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { Transfer } from '../model/transfer.ts';
import type { SessionStore } from '../store/session-store.ts';
import type { TransactionStore } from '../store/transaction-store.ts';

/** The session that a transfer pays, and what says so. */
export interface Match {
  readonly session: CheckoutSession;
  readonly matchedBy: 'wallet' | 'amount';
}

export interface MatchDeps {
  readonly sessions: SessionStore;
  readonly transactions: TransactionStore;
  /** The sessions for which the transfer's transaction was claimed. */
  readonly claimedBy: ReadonlySet<string>;
}

/** A block's clock may be behind ours; what is older than this before a session cannot be meant for it. */
export const CLOCK_ALLOWANCE_MS = 15_000;
/** How long after its end a session is still paid, as a late payment. Decision 111. */
export const LATE_MS = 24 * 3_600_000;

/** Each payment of a session is settled among all of them, so nobody may have it paid in thousands of parts. */
export const MOST_PAYMENTS = 100;

/**
 * Finds the session of a transfer: an open one of the wallet that sent it, or the open one that asks for exactly this
 * amount, else one that ended lately. Undefined also for one that has `MOST_PAYMENTS` already, and for an amount that
 * is a price: a payer who rounded must not pay the session of another one (Decision 133).
 */
export async function match(transfer: Transfer, deps: MatchDeps): Promise<Match | undefined> {
  const endedAfter = transfer.blockTime - LATE_MS;
  const place = placeOf(transfer);
  const isOldEnough = (session: CheckoutSession) =>
    session.createdAt <= transfer.blockTime + CLOCK_ALLOWANCE_MS;
  const ofSender = (await deps.sessions.byPayer(place, transfer.sender, endedAfter)).filter(isOldEnough);
  const ofAmount = await exactOnly(
    (await deps.sessions.byAmount(place, transfer.amount, endedAfter)).filter(isOldEnough),
    deps,
  );
  const found =
    (await openMatch(transfer, deps, { ofSender: ofSender.filter(isActive), ofAmount })) ??
    lateMatch(transfer, deps, { ofSender: ofSender.filter(session => !isActive(session)), ofAmount });
  const isFull = found !== undefined && (await deps.transactions.countOf(found.session.id)) >= MOST_PAYMENTS;
  return isFull ? undefined : found;
}

/** Where the transfer went. */
export function placeOf({ chainId, tokenAddress, recipient }: Transfer): Place {
  return { chainId, tokenAddress, recipientAddress: recipient };
}

/** Leaves out the sessions whose exact amount became the price of another session or a link after they were opened. */
async function exactOnly(
  ofAmount: readonly CheckoutSession[],
  { sessions }: MatchDeps,
): Promise<CheckoutSession[]> {
  const exact = [];
  for (const session of ofAmount) {
    const { amount: price, amountDue } = session;
    if (price === amountDue || !(await sessions.isPrice(session, amountDue))) exact.push(session);
  }
  return exact;
}

interface Candidates {
  /** The oldest first. */
  readonly ofSender: readonly CheckoutSession[];
  readonly ofAmount: readonly CheckoutSession[];
}

async function openMatch(
  transfer: Transfer,
  deps: MatchDeps,
  { ofSender, ofAmount }: Candidates,
): Promise<Match | undefined> {
  const received = new Map<string, bigint>();
  for (const { id, paymentStatus } of ofSender) {
    if (paymentStatus !== 'awaiting_payment') received.set(id, await paidBy(transfer.sender, id, deps));
  }
  const paid = ({ id }: CheckoutSession) => received.get(id) ?? 0n;
  const owing = ofSender.filter(session => paid(session) < session.amount);
  const ofWallet =
    ofSender.find(session => deps.claimedBy.has(session.id)) ??
    owing.find(({ amountDue }) => amountDue === transfer.amount) ??
    owing.find(({ amount }) => amount === transfer.amount) ??
    // Whoever paid a part owes the rest, even if somebody else is asked for just that.
    owing.find(session => paid(session) > 0n);
  if (ofWallet !== undefined) return { session: ofWallet, matchedBy: 'wallet' };

  // The wallet of an abandoned session, or of one that is paid, pays another one here.
  const asking = ofAmount.find(isActive);
  if (asking !== undefined) return { session: asking, matchedBy: 'amount' };

  const anyOfWallet = owing[0] ?? ofSender.find(session => asks(session, transfer.amount)) ?? ofSender[0];
  return anyOfWallet && { session: anyOfWallet, matchedBy: 'wallet' };
}

function lateMatch(transfer: Transfer, deps: MatchDeps, candidates: Candidates): Match | undefined {
  // The latest first: whoever pays again pays for what they asked for last.
  const ended = [...candidates.ofSender].reverse();
  const ofWallet =
    ended.find(session => deps.claimedBy.has(session.id)) ??
    ended.find(session => asks(session, transfer.amount)) ??
    ended.find(session => session.status === 'expired');
  if (ofWallet !== undefined) return { session: ofWallet, matchedBy: 'wallet' };

  const [expired, another] = candidates.ofAmount.filter(session => session.status === 'expired');
  return expired === undefined || another !== undefined
    ? undefined
    : { session: expired, matchedBy: 'amount' };
}

/** What a wallet has paid for a session so far, confirmed or not. */
async function paidBy(sender: string, sessionId: string, { transactions }: MatchDeps): Promise<bigint> {
  return (await transactions.ofSession(sessionId))
    .filter(one => one.sender === sender && (one.status === 'confirming' || one.status === 'completed'))
    .reduce((sum, { amount }) => sum + amount, 0n);
}

function isActive({ status }: CheckoutSession): boolean {
  return status === 'active';
}

function asks({ amount: price, amountDue }: CheckoutSession, amount: bigint): boolean {
  return amount === price || amount === amountDue;
}
