import type { PaymentsHandlers, PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { faultError } from '../../contract/contracts/payments-errors.ts';
import type { Handle } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import { timestamp } from '../../lib/clock.ts';
import { missing, notNow, wrong } from '../model/fault.ts';
import { brokenDestinationRule, type StatedAddress } from '../model/refund.ts';
import type { CheckoutSession } from '../model/session.ts';
import { refundAddressStore } from '../refunds/refund-address-store.ts';
import { provesDestination } from '../refunds/refundable-money.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { transactionStore } from '../store/transaction-store.ts';
import { refundMessageOf } from './bodies.ts';
import { type CheckoutDeps, knownSession, type PayerRequest, refuseUnpaid, walletOrigins } from './proofs.ts';
import { useLink } from './refund-links.ts';

type RefundAddressHandlers = Pick<
  PaymentsHandlers<never, PayerRequest>,
  'getRefundAddress' | 'stateRefundAddress'
>;

/** Operations by which a payer states where a refund is to go, with or without a proof (Decision 351). */
export function refundAddresses(deps: CheckoutDeps): RefundAddressHandlers {
  const { db, seals, clock } = deps;

  return {
    async getRefundAddress({ path: { checkout_session_id: id }, query }, payer) {
      const { address, wallet_address: wallet } = query;
      const session = await knownSession(sessionStore(db, seals), id);
      const stated = await refundAddressStore(db).find(id);
      const [origin] = await walletOrigins(deps, session, payer);
      const message =
        address === undefined || wallet === undefined
          ? null
          : refundMessageOf(session, deps, {
              origin,
              address: wallet,
              to: address,
              proofs: proofsOf(stated),
            });
      return { status: 200, headers: { Vary: 'Origin' }, body: addressBody(session, stated, message) };
    },

    async stateRefundAddress({ path: { checkout_session_id: id }, body }, payer) {
      const session = await knownSession(sessionStore(db, seals), id);
      const address = body.address.toLowerCase();
      const rule = brokenDestinationRule(address, session);
      if (rule !== undefined) throw faultError(wrong('address', rule));
      const { signature, token } = body;
      if (signature !== undefined && token !== undefined) {
        throw faultError(wrong('token', "must not be used with 'signature'"));
      }
      const isSigned = signature !== undefined;
      const isProved = isSigned || token !== undefined;
      const before = await refundAddressStore(db).find(id);
      // The signature of a contract is verified over the network, which must not happen inside a transaction.
      if (isSigned) await checkProof(deps, { session, body, proofs: proofsOf(before), payer });
      const stated = await transaction(db, async handle => {
        const known = await refundAddressStore(handle).find(id);
        await refuseUnpaid(handle, id);
        if (token !== undefined) await useLink(handle, { sessionId: id, token }, deps);
        if (known?.address === address && (known.isProved || !isProved)) return known;
        if (known?.isProved === true && !(known.isByEmail ? token !== undefined : isSigned)) {
          const [way, other] = known.isByEmail
            ? ['through a mailed link', 'link']
            : ['with a signature', 'signature'];
          throw faultError(notNow(`The address was stated ${way}, so only another ${other} can change it.`));
        }
        if (proofsOf(known) !== proofsOf(before))
          throw faultError(
            notNow('The address was changed meanwhile. Read it again, and sign the new text.'),
          );
        const next: StatedAddress = {
          sessionId: id,
          address,
          isProved,
          isByEmail: token !== undefined,
          proofs: proofsOf(known) + (isSigned ? 1 : 0),
          previousAddress: known?.address ?? null,
          statedAt: clock.now(),
        };
        await refundAddressStore(handle).keep(next);
        return next;
      });
      return { status: 200, body: addressBody(session, stated, null) };
    },
  };
}

interface Proof {
  readonly session: CheckoutSession;
  readonly body: PaymentsSchemas['RefundAddressStatement'];
  readonly proofs: number;
  readonly payer: PayerRequest;
}

/** @throws HttpError 400 unless the wallet that paid, or that signed for the session before, signed the text */
async function checkProof(deps: CheckoutDeps, { session, body, proofs, payer }: Proof): Promise<void> {
  const { address: to, wallet_address, signature = '' } = body;
  if (wallet_address === undefined) throw faultError(missing('wallet_address'));
  const wallet = wallet_address.toLowerCase();
  if (!(await walletsOf(deps.db, session)).includes(wallet)) {
    const rule = 'must be the wallet that sent all money for this checkout or signed for it before';
    throw faultError(wrong('wallet_address', rule));
  }
  for (const origin of await walletOrigins(deps, session, payer)) {
    const message = refundMessageOf(session, deps, { origin, address: wallet, to, proofs });
    const { chainId } = session;
    if (await deps.verifySignature({ chainId, address: wallet, message, signature, isAccount: false }))
      return;
  }
  throw faultError(wrong('signature', "must be the signature of 'message' by 'wallet_address'"));
}

/** Wallets whose signature proves a refund address: the one that sent everything, or that signed before (Decision 488). */
async function walletsOf(handle: Handle, { id, signedAddress }: CheckoutSession): Promise<(string | null)[]> {
  const paid = (await transactionStore(handle).ofSession(id)).filter(({ status }) => status === 'completed');
  const [sender, another] = new Set(paid.map(one => one.sender));
  return [
    ...(provesDestination(signedAddress, paid) ? [signedAddress] : []),
    ...(sender === undefined || another !== undefined ? [] : [sender]),
  ];
}

function proofsOf(stated: StatedAddress | undefined): number {
  return stated?.proofs ?? 0;
}

function addressBody(
  { id }: CheckoutSession,
  stated: StatedAddress | undefined,
  message: string | null,
): PaymentsSchemas['RefundAddress'] {
  return {
    object: 'refund_address',
    session_id: id,
    address: stated?.address ?? null,
    proved: stated?.isProved ?? false,
    proof: stated?.isProved === true ? (stated.isByEmail ? 'email' : 'signature') : null,
    previous_address: stated?.previousAddress ?? null,
    stated_at: stated === undefined ? null : timestamp(stated.statedAt),
    message,
  };
}
