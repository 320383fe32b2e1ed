import { unitsText } from '#pages/browser/amounts.ts';
import type { Reply } from '#pages/browser/answer.ts';
import { ANSWER_MS, type CheckoutFacts, type FollowedSession, pathOf, payerApi } from './api.ts';
import { claim } from './claim.ts';
import { fieldOf, type WalletProvider } from './wallet-provider.ts';

/** Selectors of `transfer(address,uint256)` and `balanceOf(address)`. Source: EIP-20. */
const TRANSFER = '0xa9059cbb';
const BALANCE_OF = '0x70a08231';
const NATIVE = /^0x0{40}$/;

const REJECTED = 4001;
const UNKNOWN_CHAIN = 4902;
const ALREADY_ASKING = -32002;
/** Error codes of a wallet that has sent nothing. */
const NOT_SENT: readonly unknown[] = [REJECTED, UNKNOWN_CHAIN, ALREADY_ASKING];

const REASON_CHARACTERS = 160;

/** Text for the payer once the payment is on its way. */
export const SENT = 'Sent. You may close this page.';

/** Colour of a text for the payer. */
export type MessageTone = 'calm' | 'busy' | 'good' | 'bad';

/** A payment of a session by one wallet; `amount` in the token's smallest unit. */
export interface WalletPayment extends FollowedSession {
  readonly provider: WalletProvider;
  readonly amount: bigint;
  readonly tell: (text: string, tone: MessageTone) => void;
}

/** Text for the payer about a payment. `isSent` is true when the payment is on its way. */
interface Outcome {
  readonly text: string;
  readonly tone: MessageTone;
  readonly isSent: boolean;
}

/** Reason for stopping a payment, in words for the payer. */
class Stop extends Error {}

/**
 * Connects a wallet, lets it sign the session's message, sends the payment and claims it. Returns a text for the payer.
 * Until the wallet has returned a hash, a failure lets the payer try again. From then on the result is always that the
 * payment was sent. Sources: EIP-1193, EIP-3326.
 */
export async function payByWallet(payment: WalletPayment): Promise<Outcome> {
  const { checkout, tell } = payment;
  let hash: string;
  try {
    const account = await readyAccount(payment);
    tell('Step 3 of 3: confirm the payment in your wallet.', 'busy');
    await checkChain(payment);
    hash = await send(payment, account);
  } catch (error) {
    return {
      text: reason(error, checkout),
      tone: fieldOf(error, 'code') === REJECTED ? 'calm' : 'bad',
      isSent: false,
    };
  }
  tell('Sent. Looking for it on the network …', 'busy');
  await claim(payment, hash);
  return { text: SENT, tone: 'good', isSent: true };
}

/** Connects the paying account, checks its balance and binds it to the session. */
async function readyAccount(payment: WalletPayment): Promise<string> {
  const { provider, tell } = payment;
  tell('Step 1 of 3: allow the connection in your wallet.', 'busy');
  const account = fieldOf(await provider.request({ method: 'eth_requestAccounts' }), '0');
  if (typeof account !== 'string') throw new Stop('The wallet returned no account. Nothing was sent.');
  await switchChain(payment);
  await checkBalance(payment, account);
  if (payment.state().payer_address !== account.toLowerCase()) {
    tell('Step 2 of 3: sign the text in your wallet. This moves no money.', 'busy');
    await bind(payment, account);
  }
  await checkStillOpen(payment);
  return account;
}

/** Sends the payment and returns its hash. A wallet that fails without a refusal may still have sent it. */
async function send(payment: WalletPayment, account: string): Promise<string> {
  const params = [transaction(payment, account)];
  try {
    return String(await payment.provider.request({ method: 'eth_sendTransaction', params }));
  } catch (error) {
    if (NOT_SENT.includes(codeOf(error))) throw error;
    throw new Stop(
      `${failure(error)} Please check in your wallet that nothing was sent before you try again: a payment that is sent twice is paid twice.`,
    );
  }
}

async function switchChain({ checkout, provider }: WalletPayment): Promise<void> {
  const chainId = hex(BigInt(checkout.chain.id));
  if ((await currentChain(provider)) === checkout.chain.id) return;
  await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  await checkChain({ checkout, provider });
}

/** Checks the network again: payers can change it at any time, and a payment on another one is lost. */
async function checkChain({
  checkout,
  provider,
}: Pick<WalletPayment, 'checkout' | 'provider'>): Promise<void> {
  if ((await currentChain(provider)) === checkout.chain.id) return;
  throw new Stop(
    `Your wallet is on another network. Choose ${checkout.chain.name} in it and try again. Nothing was sent.`,
  );
}

async function currentChain(provider: WalletProvider): Promise<number> {
  return Number(await provider.request({ method: 'eth_chainId' }));
}

async function checkBalance({ checkout, provider, amount }: WalletPayment, account: string): Promise<void> {
  const { token, chain } = checkout;
  const held = await balance(provider, token, account).catch(() => undefined); // the wallet reports it itself
  if (held === undefined || held >= amount) return;
  throw new Stop(
    `This account holds ${unitsText(held, token)} on ${chain.name}, and ${unitsText(amount, token)} are needed. Nothing was sent.`,
  );
}

/** @throws SyntaxError when the wallet's answer is not a number */
async function balance(
  provider: WalletProvider,
  token: CheckoutFacts['token'],
  account: string,
): Promise<bigint> {
  const held = NATIVE.test(token.address)
    ? await provider.request({ method: 'eth_getBalance', params: [account, 'latest'] })
    : await provider.request({
        method: 'eth_call',
        params: [{ to: token.address, data: BALANCE_OF + word(BigInt(account)) }, 'latest'],
      });
  return BigInt(String(held));
}

async function bind(payment: WalletPayment, account: string): Promise<void> {
  const text = await messageFor(payment, account);
  const bytes = [...new TextEncoder().encode(text)].map(byte => byte.toString(16).padStart(2, '0'));
  const signature = await payment.provider.request({
    method: 'personal_sign',
    params: [`0x${bytes.join('')}`, account],
  });
  const { data: state } = await answered(
    payerApi.POST('/api/v1/pay/sessions/{checkout_session_id}/wallet', {
      params: { path: pathOf(payment) },
      body: { address: account, signature: String(signature) },
      signal: AbortSignal.timeout(ANSWER_MS),
    }),
  );
  if (state === undefined) {
    throw new Stop('The signature was not accepted. Nothing was sent; please try again.');
  }
  await shown(payment.learn(state));
}

/**
 * Awaits a reply of the server. @throws Stop when there is none, after too many requests, and for a fault of the server
 */
async function answered<Data>(asked: Promise<Reply<Data>>): Promise<Reply<Data>> {
  const reply = await asked.catch(() => {
    throw new Stop('The server could not be reached. Nothing was sent; please try again.');
  });
  const { status, headers } = reply.response;
  if (status === 429) {
    const seconds = headers.get('Retry-After') ?? '60';
    throw new Stop(
      `There were too many requests from your network. Nothing was sent; please try again in ${seconds} seconds.`,
    );
  }
  if (status >= 500) throw new Stop('The server reported an error. Nothing was sent; please try again.');
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
async function messageFor(payment: WalletPayment, account: string): Promise<string> {
  const { data, response } = await payerApi.GET('/api/v1/pay/sessions/{checkout_session_id}', {
    params: { path: pathOf(payment), query: { wallet_address: account } },
  });
  if (response.status === 429) throw new Stop('Too many attempts. Please wait a minute and try again.');
  if (data === undefined)
    throw new Stop('The server could not be reached. Nothing was sent; please try again.');
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
  if (state === undefined) throw new Stop('This checkout can no longer be opened. Nothing was sent.');
  const { status, payment_status: paid, expires_at: end } = state;
  const now = Date.parse(response.headers.get('Date') ?? '') || Date.now();
  if (status === 'active' && paid !== 'confirming' && Date.parse(end) > now) return;
  await shown(payment.learn(state));
  throw new Stop('This checkout is no longer open. Nothing was sent.');
}

function transaction({ checkout, amount }: WalletPayment, from: string) {
  const { token, recipient_address: recipient } = checkout;
  return NATIVE.test(token.address)
    ? { from, to: recipient, value: hex(amount) }
    : { from, to: token.address, value: '0x0', data: TRANSFER + word(BigInt(recipient)) + word(amount) };
}

function reason(error: unknown, { chain }: CheckoutFacts): string {
  if (error instanceof Stop) return error.message;
  const code = codeOf(error);
  if (code === REJECTED) return 'You declined in the wallet. Nothing was sent; you can try again.';
  if (code === UNKNOWN_CHAIN) {
    return `Your wallet does not know ${chain.name} (network id ${chain.id}). Add it in the wallet’s settings and try again. Nothing was sent.`;
  }
  if (code === ALREADY_ASKING) return 'Your wallet is already asking you. Please open it.';
  return failure(error);
}

function failure(error: unknown): string {
  const message = fieldOf(error, 'message');
  const said = typeof message === 'string' ? message.slice(0, REASON_CHARACTERS) : 'no reason';
  return `The wallet reported an error: ${said}`;
}

function codeOf(error: unknown): unknown {
  return fieldOf(fieldOf(fieldOf(error, 'data'), 'originalError'), 'code') ?? fieldOf(error, 'code');
}

function hex(number: bigint): string {
  return `0x${number.toString(16)}`;
}

function word(number: bigint): string {
  return number.toString(16).padStart(64, '0');
}
