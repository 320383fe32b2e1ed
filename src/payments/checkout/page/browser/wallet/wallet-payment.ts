import type { Reply } from '#pages/browser/answer.ts';
import type { Texts } from '#payments/browser/languages/en.ts';
import { ANSWER_MS, type CheckoutState, type FollowedSession, pathOf, payerApi } from '../api.ts';
import { transferAddress } from '../offer.ts';
import type { Claims } from './claims.ts';
import type { WalletProvider } from './wallet-provider.ts';
import {
  connectedAccount,
  isDeclined,
  readyAccount,
  Stop,
  sendTransfer,
  signatureOf,
  stopReason,
  type WalletTransfer,
} from './wallet-transfer.ts';
import type { WalletMessage } from './wallet-way.ts';

/** Message for the payer once the payment is on its way. */
export function sentMessage({ wallet }: Texts): WalletMessage {
  return { text: wallet.sent, tone: 'good' };
}

/** A payment of a session by one wallet; `amount` in the token's smallest unit. */
interface WalletPayment extends FollowedSession {
  readonly claims: Claims;
  readonly provider: WalletProvider;
  readonly amount: bigint;
  readonly tell: (message: WalletMessage) => void;
  readonly texts: Texts;
}

/** Result of an attempt to pay. `isSent` is true when the payment is on its way. */
interface WalletResult {
  readonly message: WalletMessage;
  readonly isSent: boolean;
}

/**
 * Connects a wallet, lets it sign the session's message, sends the payment and claims it. What arrives at a deposit address
 * needs no signature (Decision 402). Until the wallet has returned a hash, a failure lets the payer try again. From then
 * on the result is always that the payment was sent.
 */
export async function payByWallet(payment: WalletPayment): Promise<WalletResult> {
  const { checkout, claims, tell, texts } = payment;
  const { chain, token } = checkout;
  const transfer = { ...payment, chain, token, recipient: transferAddress(checkout) };
  let hash: string;
  try {
    const account = await boundAccount(payment, transfer);
    tell({ text: texts.wallet.confirm(checkout.deposit_address === null ? 3 : 2), tone: 'busy' });
    hash = await sendTransfer(transfer, account);
  } catch (error) {
    const tone = isDeclined(error) ? 'calm' : 'bad';
    return { message: { text: stopReason(error, chain, texts), tone }, isSent: false };
  }
  tell({ text: texts.wallet.looking, tone: 'busy' });
  await claims.claim(hash);
  return { message: sentMessage(texts), isSent: true };
}

/**
 * Lets a wallet sign the session's message, so that a payment which it sent before counts (Decision 344). Returns a
 * message for the payer; never rejects.
 */
export async function proveByWallet(proof: Signing): Promise<WalletMessage> {
  const { provider, tell, texts } = proof;
  const { wallet } = texts;
  try {
    tell({ text: wallet.connectSender, tone: 'busy' });
    const account = await connectedAccount(provider);
    tell({ text: wallet.signText, tone: 'busy' });
    const before = proof.state();
    const after = await signedState(proof, account);
    // An ended session refuses a wallet that sent nothing.
    const counts =
      after !== undefined &&
      (after.outcome !== before.outcome || after.amount_received !== before.amount_received);
    return counts ? { text: wallet.proven, tone: 'good' } : { text: wallet.notProven(account), tone: 'bad' };
  } catch (error) {
    return { text: stopReason(error, proof.checkout.chain, texts), tone: isDeclined(error) ? 'calm' : 'bad' };
  }
}

/** A session, and the wallet that signs for it. */
type Signing = FollowedSession & Pick<WalletPayment, 'provider' | 'tell' | 'texts'>;

/** Connects the paying account, and binds it to a session that asks for an exact amount. */
async function boundAccount(payment: WalletPayment, transfer: WalletTransfer): Promise<string> {
  const { checkout, tell, texts } = payment;
  const hasToSign = checkout.deposit_address === null;
  const steps = hasToSign ? 3 : 2;
  tell({ text: texts.wallet.connect(steps), tone: 'busy' });
  const account = await readyAccount(transfer);
  if (hasToSign && payment.state().payer_address !== account.toLowerCase()) {
    tell({ text: texts.wallet.sign, tone: 'busy' });
    if ((await signedState(payment, account)) === undefined) throw new Stop(({ wallet }) => wallet.refused);
  }
  await checkStillOpen(payment);
  return account;
}

/** Binds a wallet to the session by a signature. Returns and shows the new state; undefined when it is refused. */
async function signedState(payment: Signing, account: string): Promise<CheckoutState | undefined> {
  const signature = await signatureOf(payment.provider, account, await messageFor(payment, account));
  const { data: state } = await answered(
    payerApi.POST('/api/v1/pay/sessions/{checkout_session_id}/wallet', {
      params: { path: pathOf(payment) },
      body: { address: account, signature },
      signal: AbortSignal.timeout(ANSWER_MS),
    }),
  );
  if (state !== undefined) await shown(payment.learn(state));
  return state;
}

/**
 * Awaits a reply of the server. @throws Stop when there is none, after too many requests, and for a fault of the server
 */
async function answered<Data>(asked: Promise<Reply<Data>>): Promise<Reply<Data>> {
  const reply = await asked.catch(() => {
    throw new Stop(({ wallet }) => wallet.unreachable);
  });
  const { status, headers } = reply.response;
  if (status === 429) {
    const seconds = headers.get('Retry-After') ?? '60';
    throw new Stop(({ wallet }) => wallet.manyRequests(seconds));
  }
  if (status >= 500) throw new Stop(({ wallet }) => wallet.broken);
  return reply;
}

/** Waits for a state to be shown. If that fails, the page shows it later and the payment continues. */
function shown(learning: Promise<void>): Promise<void> {
  return learning.catch(() => undefined);
}

/**
 * Loads the message to sign. The server fills in the address with its checksum, which needs a hash that browsers lack.
 * Source: EIP-55.
 */
async function messageFor(payment: Signing, account: string): Promise<string> {
  const { data, response } = await payerApi.GET('/api/v1/pay/sessions/{checkout_session_id}', {
    params: { path: pathOf(payment), query: { wallet_address: account } },
  });
  if (response.status === 429) throw new Stop(({ wallet }) => wallet.attempts);
  if (data === undefined) throw new Stop(({ wallet }) => wallet.unreachable);
  return data.wallet_message;
}

/** Checks that the session is still open. Signing may take long, and a late payment does not complete the session. */
async function checkStillOpen(payment: WalletPayment): Promise<void> {
  const { data: state, response } = await answered(
    payerApi.GET('/api/v1/pay/sessions/{checkout_session_id}/status', {
      params: { path: pathOf(payment), query: { wait: 0 } },
      signal: AbortSignal.timeout(ANSWER_MS),
    }),
  );
  if (state === undefined) throw new Stop(({ wallet }) => wallet.gone);
  const { status, payment_status: paid, expires_at: end } = state;
  const now = Date.parse(response.headers.get('Date') ?? '') || Date.now();
  if (status === 'active' && paid !== 'confirming' && Date.parse(end) > now) return;
  await shown(payment.learn(state));
  throw new Stop(({ wallet }) => wallet.closed);
}
