import type { Owner } from '../model/owner.ts';
import type { DepositAddress } from '../model/payment-chain.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { Transfer } from '../model/transfer.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { TransactionStore } from '../store/transaction-store.ts';

/** The session that a transfer pays, and what says so. */
export interface Match {
  readonly session: CheckoutSession;
  readonly matchedBy: 'wallet' | 'amount';
}

export interface MatchDeps {
  readonly sessions: SessionStore;
  readonly transactions: TransactionStore;
  /** Owner of the recipient; undefined when no organization names it any more. */
  readonly owner: Owner | undefined;
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
 * Finds the session of a transfer. A session of the wallet that sent it comes first, then the session that asks for
 * exactly this amount, then one that ended lately. Sessions of the recipient's owner come before those of other
 * organizations, which are paid by a wallet that signed only (Decision 137). Undefined also for a session that has
 * `MOST_PAYMENTS` already, and for an amount that is a price: a payer who rounded must not pay the session of another
 * payer (Decision 133).
 */
export async function match(transfer: Transfer, deps: MatchDeps): Promise<Match | undefined> {
  const { sessions, owner, transactions } = deps;
  const endedAfter = transfer.blockTime - LATE_MS;
  const place = depositAddressOf(transfer);
  const isOldEnough = (session: CheckoutSession) =>
    session.createdAt <= transfer.blockTime + CLOCK_ALLOWANCE_MS;
  const ofSender = (await sessions.byPayer(place, transfer.sender, endedAfter)).filter(isOldEnough);
  const ofAmount =
    owner === undefined ? [] : await sessions.byAmount({ ...place, ...owner }, transfer.amount, endedAfter);
  const isOwners = (session: CheckoutSession) => owner !== undefined && isOf(owner, session);
  const ofOwner = {
    ofSender: ofSender.filter(isOwners),
    ofAmount: await exactOnly(ofAmount.filter(isOldEnough), deps),
  };
  const ofOthers = { ofSender: ofSender.filter(session => !isOwners(session)), ofAmount: [] };
  // Of all else that a wallet sends, the owner is told.
  const isMeant = (session: CheckoutSession) =>
    deps.claimedBy.has(session.id) || asks(session, transfer.amount);
  const found =
    (await openMatch(transfer, deps, { ofOwner, ofOthers })) ??
    lateMatch(transfer, deps, ofOwner) ??
    lateMatch(transfer, deps, { ...ofOthers, ofSender: ofOthers.ofSender.filter(isMeant) });
  const isFull = found !== undefined && (await transactions.countOf(found.session.id)) >= MOST_PAYMENTS;
  return isFull ? undefined : found;
}

function isOf({ organizationId, mode }: Owner, session: CheckoutSession): boolean {
  return session.organizationId === organizationId && session.mode === mode;
}

/** Where the transfer went. */
export function depositAddressOf({ chainId, tokenAddress, recipient }: Transfer): DepositAddress {
  return { chainId, tokenAddress, recipientAddress: recipient };
}

/** True when the transfer went where the session is paid: the same chain, token and recipient. */
export function isToPlaceOf(session: CheckoutSession, transfer: Transfer): boolean {
  return (
    session.chainId === transfer.chainId &&
    session.tokenAddress === transfer.tokenAddress &&
    session.recipientAddress === transfer.recipient
  );
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
  { ofOwner, ofOthers }: { readonly ofOwner: Candidates; readonly ofOthers: Candidates },
): Promise<Match | undefined> {
  const own = await walletSessions(transfer, deps, ofOwner.ofSender.filter(isActive));
  if (own.meant !== undefined) return { session: own.meant, matchedBy: 'wallet' };

  // The wallet of an abandoned session, or of one that is paid, pays another one here.
  const asking = ofOwner.ofAmount.find(isActive);
  if (asking !== undefined) return { session: asking, matchedBy: 'amount' };

  const others = await walletSessions(transfer, deps, ofOthers.ofSender.filter(isActive));
  const session = own.owing ?? others.meant ?? others.owing ?? own.any;
  return session && { session, matchedBy: 'wallet' };
}

/** Open sessions of one wallet that a transfer may pay, the surest first. */
interface WalletSessions {
  /** It was claimed, asks for just this amount, or has a part of its price. */
  readonly meant: CheckoutSession | undefined;
  /** It still lacks a part of its price. */
  readonly owing: CheckoutSession | undefined;
  /** It is paid already. */
  readonly any: CheckoutSession | undefined;
}

async function walletSessions(
  transfer: Transfer,
  deps: MatchDeps,
  ofSender: readonly CheckoutSession[],
): Promise<WalletSessions> {
  const received = new Map<string, bigint>();
  for (const { id, paymentStatus } of ofSender) {
    if (paymentStatus !== 'awaiting_payment') received.set(id, await paidBy(transfer.sender, id, deps));
  }
  const paid = ({ id }: CheckoutSession) => received.get(id) ?? 0n;
  const owing = ofSender.filter(session => paid(session) < session.amount);
  return {
    meant:
      ofSender.find(session => deps.claimedBy.has(session.id)) ??
      owing.find(({ amountDue }) => amountDue === transfer.amount) ??
      owing.find(({ amount }) => amount === transfer.amount) ??
      // Whoever paid a part owes the rest, even if another session asks for just that.
      owing.find(session => paid(session) > 0n),
    owing: owing[0],
    any: ofSender.find(session => asks(session, transfer.amount)) ?? ofSender[0],
  };
}

function lateMatch(transfer: Transfer, deps: MatchDeps, candidates: Candidates): Match | undefined {
  // The latest first: whoever pays again pays for what they asked for last.
  const ended = candidates.ofSender.filter(session => !isActive(session)).reverse();
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
