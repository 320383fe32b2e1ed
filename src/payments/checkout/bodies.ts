import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import type { Db } from '../../db/open.ts';
import type { HttpError } from '../../http/errors.ts';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { amountAskedOf } from '../amounts/asked-amount.ts';
import { acceptsPayment, outcomeOf } from '../model/outcome.ts';
import type { Contact } from '../model/owner.ts';
import { type PaymentChain, type PaymentChains, type PaymentToken, tokenOf } from '../model/payment-chain.ts';
import { withContact } from '../model/payment-link.ts';
import { type CheckoutSession, holdsUse, remainingAmount, type SessionState } from '../model/session.ts';
import { candidateStore, type PossiblePayment } from '../sessions/candidates.ts';
import { sessionStates } from '../sessions/session-store.ts';
import { fullLinks } from '../sessions/use-reservations.ts';
import { refundMessage, type WalletRequest, walletMessage } from './wallet-message.ts';

const ID_PREFIX = 'cs_';

/** Chains and base URL for the messages of checkouts. */
export interface Surroundings {
  readonly chains: PaymentChains;
  /** Base URL for payers, without a slash at the end. */
  readonly publicUrl: string;
}

/**
 * A session as its payer sees it, without metadata, customer and form. The message to sign names `wallet.origin`, by
 * default the origin of the pay page.
 */
export function checkoutBody(
  session: CheckoutSession,
  surroundings: Surroundings & { readonly contact: Contact },
  wallet: WalletRequest = { origin: publicOrigin(surroundings), address: undefined },
): PaymentsSchemas['Checkout'] {
  const { presentation } = session;
  const { chain, token } = paymentDestinationOf(session, surroundings);
  return {
    object: 'checkout',
    id: session.id,
    status: session.status,
    payment_status: session.paymentStatus,
    outcome: outcomeOf(session),
    merchant: withContact(presentation.merchant, surroundings.contact),
    client_reference_id: session.clientReferenceId,
    name: presentation.name,
    description: presentation.description,
    image_url: presentation.imageUrl,
    theme_color: presentation.themeColor,
    button_text: presentation.buttonText,
    items: [...presentation.items],
    subtotal: session.subtotal.toString(),
    shipping_option: session.shippingOption,
    amount: session.amount.toString(),
    ...amountAskedOf(session),
    amount_received: session.amountReceived.toString(),
    amount_overpaid: session.amountOverpaid.toString(),
    token,
    chain: {
      id: chain.id,
      name: chain.name,
      is_testnet: chain.mode === 'test',
      explorer_url: session.txHash === null ? null : (chain.explorerUrl?.(session.txHash) ?? null),
    },
    recipient_address: session.recipientAddress,
    wallet_only: isWalletOnly(session),
    wallet_message: walletMessageOf(session, surroundings, wallet),
    payer_address: session.payerAddress,
    tx_hash: session.txHash,
    confirmations: session.confirmations,
    required_confirmations: session.requiredConfirmations,
    return_url: returnUrlOf(session),
    return_label: presentation.returnLabel,
    cancel_url: redirectUrl(session.cancelUrl, session.id),
    expires_at: timestamp(session.expiresAt),
    completed_at: nullableTimestamp(session.completedAt),
  };
}

/** The part of a checkout that changes while its payer waits. Payers read it without a key (Decision 114). */
function checkoutState(
  session: SessionState,
  {
    isChainLate,
    candidates,
    nextUseAt,
  }: {
    readonly isChainLate: boolean;
    readonly candidates: readonly PossiblePayment[];
    /** Undefined when a use of its link is free or reserved for it. */
    readonly nextUseAt: number | null | undefined;
  },
): PaymentsSchemas['CheckoutState'] {
  return {
    object: 'checkout_state',
    id: session.id,
    status: session.status,
    payment_status: session.paymentStatus,
    outcome: outcomeOf(session),
    amount_due: session.amountDue.toString(),
    amount_remaining: remainingAmount(session).toString(),
    amount_received: session.amountReceived.toString(),
    amount_overpaid: session.amountOverpaid.toString(),
    amount_refunded: session.amountRefunded.toString(),
    amount_reserved: session.amountReserved.toString(),
    payer_address: session.payerAddress,
    tx_hash: session.txHash,
    confirmations: session.confirmations,
    required_confirmations: session.requiredConfirmations,
    failure_reason: session.failureReason,
    late: session.isLate,
    is_chain_late: isChainLate,
    accepts_payment: acceptsPayment(session, {
      hasUse: !session.isSoldOut && nextUseAt === undefined,
      isChainLate,
    }),
    use_reserved_until: nullableTimestamp(session.useReservedUntil),
    all_uses_reserved: nextUseAt !== undefined,
    next_use_at: nullableTimestamp(nextUseAt ?? null),
    candidates: candidates.map(({ amount, isOnly, confirmations }) => ({
      amount: amount.toString(),
      is_only: isOnly,
      confirmations,
      required_confirmations: session.requiredConfirmations,
    })),
    wallet_only: isWalletOnly(session),
    return_url: returnUrlOf(session),
    expires_at: timestamp(session.expiresAt),
    completed_at: nullableTimestamp(session.completedAt),
  };
}

/** True when only a wallet that signed can pay. */
function isWalletOnly({
  isWalletOnly: asksNoAmount,
  depositAddress,
}: SessionState | CheckoutSession): boolean {
  return asksNoAmount && depositAddress === null;
}

function nullableTimestamp(at: number | null): string | null {
  return at === null ? null : timestamp(at);
}

/** Sign-In with Ethereum message that a wallet signs for a session (Decision 156). */
export function walletMessageOf(
  session: CheckoutSession,
  surroundings: Surroundings,
  wallet: WalletRequest,
): string {
  const { token } = paymentDestinationOf(session, surroundings);
  const facts = {
    merchant: session.presentation.merchant.name,
    // The amount that the page asks the wallet to send. A wallet that signed owes no tail.
    amount: session.amount,
    token,
    uri: `${surroundings.publicUrl}/pay/s/${session.id}`,
    chainId: session.chainId,
    nonce: session.id.slice(ID_PREFIX.length),
    issuedAt: session.createdAt,
  };
  return walletMessage(facts, wallet);
}

/** Text that a wallet signs to state a refund address `to` (Decision 351). `proofs` counts earlier statements. */
export function refundMessageOf(
  session: CheckoutSession,
  { publicUrl }: Surroundings,
  { to, proofs, ...wallet }: WalletRequest & { readonly to: string; readonly proofs: number },
): string {
  const facts = {
    merchant: session.presentation.merchant.name,
    to,
    uri: `${publicUrl}/pay/s/${session.id}`,
    chainId: session.chainId,
    nonce: `${session.id.slice(ID_PREFIX.length)}${proofs}`,
    issuedAt: session.createdAt,
  };
  return refundMessage(facts, wallet);
}

/** Origin of the pay page. */
export function publicOrigin({ publicUrl }: Surroundings): string {
  return new URL(publicUrl).origin;
}

/** @throws HttpError 400 when the operator has removed the chain or the token, so that amounts cannot be shown */
function paymentDestinationOf(
  { chainId, tokenAddress }: CheckoutSession,
  { chains }: Surroundings,
): { chain: PaymentChain; token: PaymentToken } {
  const chain = chains.all.find(({ id }) => id === chainId);
  const token = chain && tokenOf(chain, tokenAddress);
  if (chain !== undefined && token !== undefined) return { chain, token };
  throw paymentsError(
    'invalid_status_transition',
    `Payments in this token on chain ${chainId} are no longer accepted.`,
  );
}

/** The merchant's success page; null until the session is completed. */
function returnUrlOf({
  status,
  successUrl,
  id,
}: Pick<SessionState, 'status' | 'successUrl' | 'id'>): string | null {
  return status === 'completed' ? redirectUrl(successUrl, id) : null;
}

/** Placeholder for the session's id in a URL. Source: `success_url` of the contract. */
const PLACEHOLDER = '{SESSION_ID}';

/** A merchant's URL with the session's id filled in; null stays null. */
function redirectUrl(url: string | null, sessionId: string): string | null {
  return url === null ? null : url.replaceAll(PLACEHOLDER, sessionId);
}

/** True while payments on a chain are detected late (Decision 131). */
export type IsChainLate = (chainId: number) => Promise<boolean>;

export type CheckoutState = PaymentsSchemas['CheckoutState'];

interface StateDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly isChainLate: IsChainLate;
}

/** States of checkouts as payers see them, by session id. Unknown ids are left out. */
export function shownStates({ db, clock, isChainLate }: StateDeps) {
  return async (ids: readonly string[]): Promise<ReadonlyMap<string, CheckoutState>> => {
    const stored = [...(await sessionStates(db, ids)).values()];
    const unpaid = stored.filter(({ status }) => status !== 'completed').map(({ id }) => id);
    const candidates = await candidateStore(db).ofSessions(unpaid);
    const now = clock.now();
    const linkIds = stored.map(state => (needsFreeUse(state, now) ? state.paymentLinkId : null));
    const named = new Set(linkIds.filter(id => id !== null));
    const full = await fullLinks(db, [...named], { now });
    const shown = await Promise.all(
      stored.map(async (state, index) =>
        checkoutState(state, {
          isChainLate: await isChainLate(state.chainId),
          candidates: candidates.get(state.id) ?? [],
          nextUseAt: full.get(linkIds[index] ?? ''),
        }),
      ),
    );
    return new Map(shown.map(state => [state.id, state]));
  };
}

/** True when an open session can be paid only with a use that is not reserved for others (Decision 359). */
function needsFreeUse(state: SessionState, now: number): boolean {
  const isUnpaid = state.status === 'active' && state.paymentStatus !== 'confirming';
  return state.reservesUses && isUnpaid && !holdsUse(state, now);
}

/** State of one checkout as its payer sees it. @throws HttpError 404 */
export async function shownState(deps: StateDeps, id: string): Promise<CheckoutState> {
  const state = (await shownStates(deps)([id])).get(id);
  if (state !== undefined) return state;
  throw noSession(id);
}

/** Refusal of an unknown session id. */
export function noSession(id: string): HttpError {
  return paymentsError('resource_not_found', `No checkout_session with id '${id}'.`);
}
