import type { Owner } from '../model/owner.ts';
import type { PaidAddress } from '../model/payment-chain.ts';
import {
  type CheckoutSession,
  isTolerated,
  LIFE_ALLOWANCE,
  leastSum,
  MAX_PAYMENTS,
  mostPaymentsAtAddress,
} from '../model/session.ts';
import type { Transfer } from '../model/transfer.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { TransactionStore } from '../store/transaction-store.ts';

/** The session that a transfer pays, and the evidence for it. */
export interface Match {
  readonly session: CheckoutSession;
  readonly matchedBy: 'wallet' | 'amount' | 'deposit_address';
}

/** The reads that a match makes. */
export interface MatchReads
  extends Pick<SessionStore, 'byAmount' | 'byDepositAddress' | 'isOpenPrice'>,
    Pick<TransactionStore, 'countOf'> {
  readonly bySigner: (...given: Parameters<SessionStore['bySigner']>) => Promise<readonly CheckoutSession[]>;
  readonly paidBySigner: (
    ...given: Parameters<TransactionStore['paidBySigner']>
  ) => Promise<ReadonlyMap<string, bigint>>;
}

interface MatchDeps {
  readonly reads: MatchReads;
  /** Owner of the recipient; undefined when no organization lists it any more. */
  readonly owner: Owner | undefined;
  /** The sessions for which the transfer's transaction was claimed. */
  readonly claimedBy: ReadonlySet<string>;
}

/** Earliest block time of a session's payment, in UTC milliseconds. */
export function earliestPayment({ createdAt }: Pick<CheckoutSession, 'createdAt'>): number {
  return createdAt - LIFE_ALLOWANCE.beforeMs;
}

/** Time after a session's end in which a transfer still counts as its late payment (Decision 111). */
export const LATE_PAYMENT_MS = 24 * 3_600_000;

/** Latest block time of a session's payment, in UTC milliseconds. */
export function latestPayment({
  endedAt,
  expiresAt,
}: Pick<CheckoutSession, 'endedAt' | 'expiresAt'>): number {
  return (endedAt ?? expiresAt) + LATE_PAYMENT_MS;
}

/**
 * Finds the session of a transfer: that of its deposit address, whenever it came. Elsewhere a session that the sending
 * wallet signed for comes first, then the session that asks for exactly this amount, then a recently ended one. Sessions
 * of the recipient's owner come before those of other organizations, which only a signed wallet can pay (Decision 137).
 *
 * Undefined also for a session that already has `MAX_PAYMENTS`. That an address once paid makes no later transfer of it
 * anyone's payment: customers of one exchange share its addresses (Decision 337).
 */
export async function match(transfer: Transfer, deps: MatchDeps): Promise<Match | undefined> {
  const { reads, owner } = deps;
  const endedAfter = transfer.blockTime - LATE_PAYMENT_MS;
  const address = paidAddressOf(transfer);
  const itsOwn = await reads.byDepositAddress(address);
  if (itsOwn !== undefined) {
    const most = mostPaymentsAtAddress(itsOwn, transfer.amount);
    return unlessFull({ session: itsOwn, matchedBy: 'deposit_address' }, reads, most);
  }
  const isOldEnough = (session: CheckoutSession) =>
    session.createdAt <= transfer.blockTime + LIFE_ALLOWANCE.beforeMs;
  const ofSender = (await reads.bySigner(address, transfer.sender, endedAfter)).filter(isOldEnough);
  const ofAmount =
    owner === undefined ? [] : await reads.byAmount({ ...address, ...owner }, transfer.amount, endedAfter);
  const isOwners = (session: CheckoutSession) => owner !== undefined && isOf(owner, session);
  const ofOwner = {
    ofSender: ofSender.filter(isOwners),
    ofAmount: ofAmount.filter(isOldEnough),
  };
  const ofOthers = { ofSender: ofSender.filter(session => !isOwners(session)), ofAmount: [] };
  // An ended session of another organization is paid only by a claimed transfer or by one of the amount it asks for.
  // Any other transfer is listed for the owner.
  const isMeant = (session: CheckoutSession) =>
    deps.claimedBy.has(session.id) || asks(session, transfer.amount);
  const found =
    (await openMatch(transfer, deps, { ofOwner, ofOthers })) ??
    (await lateMatch(transfer, deps, ofOwner)) ??
    (await lateMatch(transfer, deps, { ...ofOthers, ofSender: ofOthers.ofSender.filter(isMeant) }));
  return found && unlessFull(found, reads);
}

async function unlessFull(
  found: Match,
  reads: MatchReads,
  most: number = MAX_PAYMENTS,
): Promise<Match | undefined> {
  return (await reads.countOf(found.session.id)) >= most ? undefined : found;
}

function isOf({ organizationId, mode }: Owner, session: CheckoutSession): boolean {
  return session.organizationId === organizationId && session.mode === mode;
}

/** Paid address of a transfer. */
export function paidAddressOf({
  chainId,
  tokenAddress,
  recipient,
}: Pick<Transfer, 'chainId' | 'tokenAddress' | 'recipient'>): PaidAddress {
  return { chainId, tokenAddress, recipientAddress: recipient };
}

/** True when a session may be paid with the chain, the token and the recipient of a transfer. */
export function isToAddressOf(
  session: CheckoutSession,
  transfer: Pick<Transfer, 'chainId' | 'tokenAddress' | 'recipient'>,
): boolean {
  return (
    session.chainId === transfer.chainId &&
    session.tokenAddress === transfer.tokenAddress &&
    [session.recipientAddress, session.depositAddress].includes(transfer.recipient)
  );
}

interface Candidates {
  /** Oldest first. */
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

  // The wallet of an abandoned or paid session may pay another session by its exact amount.
  const asking = ofOwner.ofAmount.find(isActive);
  if (asking !== undefined) return { session: asking, matchedBy: 'amount' };

  const others = await walletSessions(transfer, deps, ofOthers.ofSender.filter(isActive));
  const session = own.owing ?? others.meant ?? others.owing ?? own.any;
  return session && { session, matchedBy: 'wallet' };
}

/** Open sessions of one wallet that a transfer may pay, the most certain first. */
interface WalletSessions {
  /** The transfer was claimed for it, it asks for exactly this amount, or it has received a part of its price. */
  readonly meant: CheckoutSession | undefined;
  /** Has not received its price; one that the transfer pays within its tolerance comes first. */
  readonly owing: CheckoutSession | undefined;
  /** Any open session, also one that is already paid. */
  readonly any: CheckoutSession | undefined;
}

async function walletSessions(
  transfer: Transfer,
  deps: MatchDeps,
  ofSender: readonly CheckoutSession[],
): Promise<WalletSessions> {
  const isPaid = ofSender.some(({ paymentStatus }) => paymentStatus !== 'awaiting_payment');
  const received = isPaid
    ? await deps.reads.paidBySigner(paidAddressOf(transfer), transfer.sender)
    : undefined;
  const paid = ({ id }: CheckoutSession) => received?.get(id) ?? 0n;
  const owing = ofSender.filter(session => paid(session) < leastSum(session));
  return {
    meant:
      ofSender.find(session => deps.claimedBy.has(session.id)) ??
      owing.find(({ amountDue }) => amountDue === transfer.amount) ??
      owing.find(({ amount }) => amount === transfer.amount) ??
      // A payer who paid a part owes the rest, even if another session asks for exactly this amount.
      owing.find(session => paid(session) > 0n),
    owing: owing.find(session => isTolerated(session, transfer.amount)) ?? owing[0],
    any: ofSender.find(session => asks(session, transfer.amount)) ?? ofSender[0],
  };
}

/**
 * The ended session that a transfer pays late. A wallet that sends the price of an open session, for which it did not
 * sign, may mean either: the merchant decides.
 */
async function lateMatch(
  transfer: Transfer,
  { reads, owner, claimedBy }: MatchDeps,
  candidates: Candidates,
): Promise<Match | undefined> {
  // Latest first: a late payment is most likely meant for the payer's last session.
  const ended = candidates.ofSender.filter(session => !isActive(session)).reverse();
  const { amount } = transfer;
  const certain =
    ended.find(session => claimedBy.has(session.id)) ??
    ended.find(session => session.amountDue === amount && !session.isWalletOnly);
  if (certain !== undefined) return { session: certain, matchedBy: 'wallet' };
  // Amounts of ended sessions are used again, so several may have asked for this one.
  const [exact, another] = candidates.ofAmount.filter(one => !isActive(one));
  // An exact amount says more than a wallet that signed for another price and sent nothing in time.
  const probable =
    ended.find(session => asks(session, amount) || fillsUp(session, amount)) ??
    (exact === undefined
      ? (ended.find(session => session.status === 'expired' && isTolerated(session, amount)) ??
        ended.find(session => session.status === 'expired'))
      : undefined);
  if (probable !== undefined) {
    const isOfOpen =
      owner !== undefined && (await reads.isOpenPrice({ ...paidAddressOf(transfer), ...owner }, amount));
    return isOfOpen ? undefined : { session: probable, matchedBy: 'wallet' };
  }
  return exact === undefined || another !== undefined ? undefined : { session: exact, matchedBy: 'amount' };
}

function isActive({ status }: CheckoutSession): boolean {
  return status === 'active';
}

/** True for what is missing of a price that was paid within its tolerance, or of which the chain dropped a part. */
function fillsUp(
  { status, amount: price, amountReceived, acceptedAt }: CheckoutSession,
  amount: bigint,
): boolean {
  return status === 'completed' && acceptedAt === null && amount === price - amountReceived;
}

function asks({ amount: price, amountDue }: CheckoutSession, amount: bigint): boolean {
  return amount === price || amount === amountDue;
}
