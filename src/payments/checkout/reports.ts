import type { PaymentsHandlers, PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import { transaction } from '../../db/transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import { candidateStore } from '../sessions/candidates.ts';
import { openTransfers } from '../sessions/open-transfers.ts';
import { lookUpHash, MAX_HASHES } from '../sessions/reported-hash-store.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { isShownToPayer } from '../sessions/suggested-session.ts';
import { earliestPayment, latestPayment } from '../settlement/match.ts';
import { transactionStore } from '../store/transaction-store.ts';
import { shownState } from './bodies.ts';
import { type CheckoutDeps, knownSession } from './proofs.ts';

type ReportResult = PaymentsSchemas['ReportedPayment']['found'];

/** Operation that looks for a payment that a payer reports. Its sender does not become the payer (Decision 343). */
export function reports(deps: CheckoutDeps): Pick<PaymentsHandlers<never, unknown>, 'reportPayment'> {
  const { db, seals } = deps;
  return {
    async reportPayment({ path: { checkout_session_id: id }, body }) {
      const named = namedBy(body);
      const session = await knownSession(sessionStore(db, seals), id);
      const found = (await known(deps, session, named)) ?? (await lookedUp(deps, session, named));
      const state = await shownState(deps, id);
      return { status: 200, body: { object: 'reported_payment', found, state } };
    },
  };
}

/** A payment by its hash or by its sender, in lower case. */
interface NamedPayment {
  readonly txHash?: string;
  readonly sender?: string;
}

/** @throws HttpError 400 unless exactly one of both is given */
function namedBy({ tx_hash: hash, sender_address: sender }: PaymentsSchemas['PaymentReport']): NamedPayment {
  if (hash != null && sender == null) return { txHash: hash.toLowerCase() };
  if (sender != null && hash == null) return { sender: sender.toLowerCase() };
  throw paymentsError(
    'missing_required_field',
    "Either the 'tx_hash' or the 'sender_address' field is required, and not both.",
  );
}

async function known(
  deps: CheckoutDeps,
  session: CheckoutSession,
  named: NamedPayment,
): Promise<ReportResult | undefined> {
  return (await recorded(deps, session, named)) ?? (await candidate(deps, session, named));
}

/**
 * Has the nodes of the chain asked for a hash that no record has (Decision 362).
 * @throws HttpError 400 for a session with too many hashes
 */
async function lookedUp(
  deps: CheckoutDeps,
  session: CheckoutSession,
  named: NamedPayment,
): Promise<ReportResult> {
  const { txHash } = named;
  const now = deps.clock.now();
  if (txHash === undefined || session.status === 'completed' || now > latestPayment(session))
    return 'unknown';
  const status = await transaction(deps.db, handle => lookUpHash(handle, session, txHash, now));
  if (status === undefined) {
    const message = `${MAX_HASHES} hashes were looked up for this checkout, so no more can be.`;
    throw paymentsError('invalid_status_transition', message);
  }
  return status === 'mined' ? ((await known(deps, session, named)) ?? 'no_payment') : status;
}

/** The reported payment when it counts already. The hash of another checkout's payment says nothing of that checkout. */
async function recorded(
  { db }: CheckoutDeps,
  { id, chainId, recipientAddress }: CheckoutSession,
  { txHash, sender }: NamedPayment,
): Promise<ReportResult | undefined> {
  const own = (await transactionStore(db).ofSession(id)).filter(
    one => one.sender !== null && one.status !== 'failed',
  );
  if (own.some(one => one.txHash === txHash || one.sender === sender)) return 'counted';
  if (txHash === undefined) return undefined;
  const others = await transactionStore(db).byHash(chainId, txHash);
  return others.some(one => one.sender !== null && one.recipient === recipientAddress) ? 'other' : undefined;
}

/** Makes the session's candidates of what the payment may be. */
async function candidate(
  { db }: CheckoutDeps,
  session: CheckoutSession,
  named: NamedPayment,
): Promise<ReportResult | undefined> {
  if (session.status === 'completed') return undefined;
  return transaction(db, async handle => {
    const sent = await openTransfers(handle, session, { ...named, since: earliestPayment(session) });
    const possible = sent.filter(
      one =>
        one.organizationId === session.organizationId &&
        one.mode === session.mode &&
        one.blockTime <= latestPayment(session) &&
        isShownToPayer(one.amount, session.amount),
    );
    await candidateStore(handle).addNamed(
      session.id,
      possible.map(({ id }) => id),
    );
    return possible.length > 0 ? 'candidate' : undefined;
  });
}
