import type { PaymentsHandlers } from '../../contract/contracts/payments.ts';
import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import type { Db, Handle } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import type { Client } from '../../http/client-address.ts';
import type { Clock } from '../../lib/clock.ts';
import { NATIVE_COIN } from '../model/payment-chain.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { Seals } from '../secrets/sealed.ts';
import { openTransfers } from '../sessions/open-transfers.ts';
import { type SessionStore, sessionStore } from '../sessions/session-store.ts';
import { reserveUse } from '../sessions/use-reservations.ts';
import { earliestPayment, LATE_PAYMENT_MS } from '../settlement/match.ts';
import { settlement } from '../settlement/settlement.ts';
import { contractCoinsOf, cursorStore } from '../store/cursor-store.ts';
import { organizationSettingsStore } from '../store/organization-store.ts';
import { transactionStore } from '../store/transaction-store.ts';
import {
  type IsChainLate,
  noSession,
  publicOrigin,
  type Surroundings,
  shownState,
  walletMessageOf,
} from './bodies.ts';
import type { StateWaits } from './state-waits.ts';

/**
 * Operation that binds a wallet to a session by its signature. A newer signature replaces the wallet until a transfer
 * is seen (Decision 114).
 */
export function walletBinding(deps: CheckoutDeps): Pick<PaymentsHandlers<never, PayerRequest>, 'bindWallet'> {
  const { db, seals, clock } = deps;
  return {
    async bindWallet({ path: { checkout_session_id }, body: { address, signature } }, payer) {
      const wallet = address.toLowerCase();
      const session = await knownSession(sessionStore(db, seals), checkout_session_id);
      const isProof = session.status !== 'active' && (await hasProof(deps, session, wallet));
      if (session.status !== 'active' && !isProof) {
        if (session.signedAddress === wallet)
          return { status: 200, body: await shownState(deps, session.id) };
        throw paymentsError(
          'invalid_status_transition',
          `The checkout is ${session.status}, so no wallet can be bound to it.`,
        );
      }
      const isAccount = !(await seesContracts(db, session));
      const origins = await walletOrigins(deps, session, payer);
      const isSigned = await isSignedBy(deps, { session, wallet, signature, isAccount, origins });
      if (!isSigned) {
        throw paymentsError(
          'invalid_field_value',
          isAccount
            ? "The 'signature' field must be the signature of 'wallet_message', with 'address' in it, by the account 'address'. A contract cannot pay in the chain's native coin."
            : "The 'signature' field must be the signature of 'wallet_message', with 'address' and its checksum in it, by 'address'.",
          { param: 'signature' },
        );
      }
      const bound = await transaction(db, async handle => {
        const [sessions, now] = [sessionStore(handle, seals), clock.now()];
        const signed = isProof
          ? await sessions.bindExpired(session.id, wallet, now)
          : await sessions.bindWallet(session.id, wallet, now);
        if (signed === undefined) return undefined;
        await reserveUse(handle, signed, now);
        await settlement({ handle, seals, now }).settleTransfersOf(signed.id, wallet, deps.chains);
        return signed;
      });
      if (bound !== undefined) return { status: 200, body: await shownState(deps, bound.id) };
      throw paymentsError(
        'invalid_status_transition',
        'The checkout has ended or a payment was seen, so its wallet cannot be changed.',
      );
    },
  };
}

/**
 * True when a payment for the session is seen also if a contract sends it (Decision 374): at a deposit address by its
 * balance at the latest.
 */
export async function seesContracts(
  db: Db,
  {
    chainId,
    tokenAddress,
    depositAddress,
  }: Pick<CheckoutSession, 'chainId' | 'tokenAddress' | 'depositAddress'>,
): Promise<boolean> {
  if (depositAddress !== null || tokenAddress !== NATIVE_COIN) return true;
  return contractCoinsOf(await cursorStore(db).find(chainId)) !== null;
}

/** True when an expired session may still be signed for: a transfer of the wallet has arrived (Decision 344). */
async function hasProof(
  { db, clock }: CheckoutDeps,
  session: CheckoutSession,
  wallet: string,
): Promise<boolean> {
  const { status, endedAt } = session;
  if (status !== 'expired' || (endedAt ?? 0) < clock.now() - LATE_PAYMENT_MS) return false;
  const sent = await openTransfers(db, session, { sender: wallet, since: earliestPayment(session) });
  return sent.length > 0;
}

interface SignedBinding {
  readonly session: CheckoutSession;
  readonly wallet: string;
  readonly signature: string;
  readonly isAccount: boolean;
  readonly origins: readonly string[];
}

/** True when the wallet signed the session's message for one of the origins. */
async function isSignedBy(
  deps: CheckoutDeps,
  { session, wallet, signature, isAccount, origins }: SignedBinding,
): Promise<boolean> {
  const { chainId } = session;
  for (const origin of origins) {
    const message = walletMessageOf(session, deps, { origin, address: wallet });
    // The signature of a contract is verified over the network, which must not happen inside a transaction.
    if (await deps.verifySignature({ chainId, address: wallet, message, signature, isAccount })) return true;
  }
  return false;
}

/**
 * Maximum number of claimed transactions of a session under search at a time. Each costs requests to the chain's node.
 */
const MAX_CLAIMS = 10;

/** Operation that records a payer's claim to have paid with a transaction. Only a transfer counts (Decision 114). */
export function claims(deps: CheckoutDeps): Pick<PaymentsHandlers<never, unknown>, 'claimPayment'> {
  const { db, seals, clock } = deps;
  return {
    async claimPayment({ path: { checkout_session_id: id }, body: { tx_hash } }) {
      const hash = tx_hash.toLowerCase();
      await transaction(db, async handle => {
        const sessions = sessionStore(handle, seals);
        const session = await knownSession(sessions, id);
        const known = await transactionStore(handle).ofSession(id);
        const isKnown = known.some(({ txHash }) => txHash === hash);
        const refusal = whyNot(session, known);
        if (refusal !== undefined) {
          if (isKnown) return;
          throw paymentsError('invalid_status_transition', refusal);
        }
        // A known transaction is claimed again too, because the search for it may have been given up.
        await settlement({ handle, seals, now: clock.now() }).claim(session, hash);
      });
      return { status: 200, body: await shownState(deps, id) };
    },
  };
}

function whyNot(session: CheckoutSession, known: readonly PaymentTransaction[]): string | undefined {
  if (session.status !== 'active')
    return `The checkout is ${session.status}, so nothing can be claimed for it.`;
  if (session.signedAddress === null && session.depositAddress === null)
    return 'Bind the wallet that paid before claiming its payment.';
  if (known.filter(({ status }) => status === 'pending').length >= MAX_CLAIMS)
    return `${MAX_CLAIMS} claimed payments of this checkout are already being searched for.`;
  return undefined;
}

/** The session with an id. Knowing the id is enough to see and pay it. @throws HttpError 404 */
export async function knownSession(
  sessions: Pick<SessionStore, 'findById'>,
  id: string,
): Promise<CheckoutSession> {
  const session = await sessions.findById(id);
  if (session !== undefined) return session;
  throw noSession(id);
}

/** @throws HttpError 400 for a session without a confirmed payment, of which nothing can be refunded */
export async function refuseUnpaid(handle: Handle, sessionId: string): Promise<void> {
  const all = await transactionStore(handle).ofSession(sessionId);
  if (all.some(({ status }) => status === 'completed')) return;
  throw paymentsError('invalid_status_transition', 'No confirmed payment of the checkout can be refunded.');
}

/**
 * Origins that the wallet message of a request may name, the preferred one first. These are the request's origin, if
 * the session's organization lists it, and that of the pay page (Decision 156).
 */
export async function walletOrigins(
  deps: Pick<CheckoutDeps, 'db' | 'publicUrl' | 'chains'>,
  session: CheckoutSession,
  { origin }: Pick<PayerRequest, 'origin'>,
): Promise<readonly [string, ...string[]]> {
  const ours = publicOrigin(deps);
  if (origin === undefined || origin === ours) return [ours];
  const { origins } = await organizationSettingsStore(deps.db).find(session);
  return origins.includes(origin) ? [origin, ours] : [ours];
}

/** Verifies the signature of a text by a wallet, which is an account or a contract. Sources: EIP-191, EIP-1271. */
type VerifySignature = (input: {
  readonly chainId: number;
  readonly address: string;
  readonly message: string;
  readonly signature: string;
  /** True when only an account may have signed. */
  readonly isAccount: boolean;
}) => Promise<boolean>;

/** Part of a payer's request that the operations use, apart from its parameters and body. */
export interface PayerRequest {
  readonly client: Client;
  /** `Origin` of the requesting page; undefined without one. */
  readonly origin: string | undefined;
  /** `If-None-Match`: the state that the payer already has. */
  readonly ifNoneMatch: string | undefined;
  /** Returns a signal that aborts when the payer disconnects. */
  readonly hungUp: () => AbortSignal;
}

/** Dependencies of the payer's operations. */
export interface CheckoutDeps extends Surroundings {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  /** Lifetime of a session, in milliseconds. */
  readonly sessionLifetimeMs: number;
  readonly verifySignature: VerifySignature;
  readonly isChainLate: IsChainLate;
  readonly waits: Pick<StateWaits, 'change'>;
}
