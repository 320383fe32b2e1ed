import { inTokens } from './amounts.js';
import { claim } from './claim.js';

/** Selectors of `transfer(address,uint256)` and `balanceOf(address)`. Source: EIP-20. */
const TRANSFER = '0xa9059cbb';
const BALANCE_OF = '0x70a08231';
const NATIVE = /^0x0{40}$/;

const REJECTED = 4001;
const UNKNOWN_CHAIN = 4902;
const ALREADY_ASKING = -32002;
/** Codes with which a wallet says that it has sent nothing. */
const NOT_SENT = [REJECTED, UNKNOWN_CHAIN, ALREADY_ASKING];

const ANSWER_MS = 15_000;

/** Text for the payer once the payment is on its way. */
export const SENT = 'Sent. You may close this page.';

/** Why a payment does not go on, in words for the payer. */
class Stop extends Error {}

/**
 * Connects a wallet, has it sign the session's text, sends the payment and claims it. Returns what to tell the payer.
 * Before the payment every failure leaves the payer free to try again. Once the wallet has given a hash the answer is
 * always that the payment was sent. Source: EIP-1193, EIP-3326.
 */
export async function payByWallet(payment) {
  const { checkout, tell } = payment;
  let hash;
  try {
    const account = await readyAccount(payment);
    tell('Step 3 of 3: confirm the payment in your wallet.', 'busy');
    await checkChain(payment);
    hash = await send(payment, account);
  } catch (error) {
    return { text: reason(error, checkout), tone: error?.code === REJECTED ? 'calm' : 'bad', isSent: false };
  }
  tell('Sent. Looking for it on the network …', 'busy');
  await claim(payment, hash);
  return { text: SENT, tone: 'good', isSent: true };
}

/** The account that pays, connected, able to pay and bound to the session. */
async function readyAccount(payment) {
  const { provider, tell } = payment;
  tell('Step 1 of 3: allow the connection in your wallet.', 'busy');
  const [account] = await provider.request({ method: 'eth_requestAccounts' });
  if (account === undefined) throw new Stop('The wallet gave no account. Nothing was sent.');
  await switchChain(payment);
  await checkBalance(payment, account);
  if (payment.state().payer_address !== account.toLowerCase()) {
    tell('Step 2 of 3: sign the text in your wallet. This moves no money.', 'busy');
    await bind(payment, account);
  }
  await checkStillOpen(payment);
  return account;
}

/** The hash of the payment. A wallet that fails without a refusal may have sent it all the same. */
async function send(payment, account) {
  const params = [transaction(payment, account)];
  try {
    return await payment.provider.request({ method: 'eth_sendTransaction', params });
  } catch (error) {
    if (NOT_SENT.includes(codeOf(error))) throw error;
    throw new Stop(
      `${failure(error)} Please check in your wallet that nothing was sent before you try again: what is sent twice is paid twice.`,
    );
  }
}

async function switchChain({ checkout, provider }) {
  const chainId = hex(BigInt(checkout.chain.id));
  if ((await currentChain(provider)) === checkout.chain.id) return;
  await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  await checkChain({ checkout, provider });
}

/** Payers change the network in the wallet at any time, and a payment on another one is lost. */
async function checkChain({ checkout, provider }) {
  if ((await currentChain(provider)) === checkout.chain.id) return;
  throw new Stop(
    `Your wallet is on another network. Choose ${checkout.chain.name} in it and try again. Nothing was sent.`,
  );
}

async function currentChain(provider) {
  return Number(await provider.request({ method: 'eth_chainId' }));
}

async function checkBalance({ checkout, provider, amount }, account) {
  const { token, chain } = checkout;
  const held = await balance(provider, token, account).catch(() => undefined); // the wallet will say it itself
  if (held === undefined || held >= amount) return;
  const text = units => `${inTokens(units, token.decimals)} ${token.symbol}`;
  throw new Stop(
    `This account holds ${text(held)} on ${chain.name}, and ${text(amount)} are needed. Nothing was sent.`,
  );
}

async function balance(provider, token, account) {
  if (NATIVE.test(token.address)) {
    return BigInt(await provider.request({ method: 'eth_getBalance', params: [account, 'latest'] }));
  }
  const call = { to: token.address, data: BALANCE_OF + word(BigInt(account)) };
  return BigInt(await provider.request({ method: 'eth_call', params: [call, 'latest'] }));
}

async function bind({ path, provider, learn }, account) {
  const text = await messageFor(path, account);
  const bytes = [...new TextEncoder().encode(text)].map(byte => byte.toString(16).padStart(2, '0'));
  const signature = await provider.request({
    method: 'personal_sign',
    params: [`0x${bytes.join('')}`, account],
  });
  const answer = await ask(`${path}/wallet`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ address: account, signature }),
  });
  if (!answer.ok) throw new Stop('The signature was not accepted. Nothing was sent; please try again.');
  await shown(learn, await answer.text());
}

/** An answer of the server. A request that it did not answer, or refused for its number, ends the payment in words. */
async function ask(url, options = {}) {
  const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => {
    throw new Stop('The server could not be reached. Nothing was sent; please try again.');
  });
  if (answer.status === 429) {
    const seconds = answer.headers.get('Retry-After') ?? '60';
    throw new Stop(
      `There were too many requests from your network. Nothing was sent; please try again in ${seconds} seconds.`,
    );
  }
  if (answer.status >= 500) throw new Stop('The server has a fault. Nothing was sent; please try again.');
  return answer;
}

/** Shows a state. Where that fails the page shows it later, and the payment goes on. */
function shown(learn, text) {
  return learn(text).catch(() => undefined);
}

/** The server writes the address with its checksum, which takes a hash that browsers do not have. Source: EIP-55. */
async function messageFor(path, account) {
  const answer = await fetch(`${path}?wallet_address=${encodeURIComponent(account)}`);
  if (answer.status === 429) throw new Stop('Too many attempts. Please wait a minute and try again.');
  if (!answer.ok) throw new Stop('The server could not be reached. Nothing was sent; please try again.');
  return (await answer.json()).wallet_message;
}

/** Signing takes as long as it takes; who pays after the end pays in vain. */
async function checkStillOpen({ path, learn }) {
  const answer = await ask(`${path}/status`);
  if (!answer.ok) throw new Stop('This checkout cannot be read any more. Nothing was sent.');
  const text = await answer.text();
  const { status, payment_status: payment, expires_at: end } = JSON.parse(text);
  const now = Date.parse(answer.headers.get('Date') ?? '') || Date.now();
  if (status === 'active' && payment !== 'confirming' && Date.parse(end) > now) return;
  await shown(learn, text);
  throw new Stop('This checkout is not open any more. Nothing was sent.');
}

function transaction({ checkout, amount }, from) {
  const { token, recipient_address: recipient } = checkout;
  return NATIVE.test(token.address)
    ? { from, to: recipient, value: hex(amount) }
    : { from, to: token.address, value: '0x0', data: TRANSFER + word(BigInt(recipient)) + word(amount) };
}

function reason(error, { chain }) {
  if (error instanceof Stop) return error.message;
  const code = codeOf(error);
  if (code === REJECTED) return 'You declined in the wallet. Nothing was sent; you can try again.';
  if (code === UNKNOWN_CHAIN) {
    return `Your wallet does not know ${chain.name} (network id ${chain.id}). Add it in the wallet’s settings and try again. Nothing was sent.`;
  }
  if (code === ALREADY_ASKING) return 'Your wallet is asking you already. Please open it.';
  return failure(error);
}

function failure(error) {
  const said = typeof error?.message === 'string' ? error.message.slice(0, 160) : 'no reason';
  return `The wallet could not do it. It said: ${said}`;
}

function codeOf(error) {
  return error?.data?.originalError?.code ?? error?.code;
}

function hex(number) {
  return `0x${number.toString(16)}`;
}

function word(number) {
  return number.toString(16).padStart(64, '0');
}
