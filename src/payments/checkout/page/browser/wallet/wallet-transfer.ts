import type { Texts } from '#payments/browser/languages/en.ts';
import { amountIn } from '../texts.ts';
import { fieldOf, NATIVE, type WalletProvider } from './wallet-provider.ts';

/** Selectors of `transfer(address,uint256)` and `balanceOf(address)`. Source: EIP-20. */
const TRANSFER = '0xa9059cbb';
const BALANCE_OF = '0x70a08231';

const REJECTED = 4001;
const UNKNOWN_CHAIN = 4902;
const ALREADY_ASKING = -32002;
/** Error codes of a wallet that has sent nothing. */
const NOT_SENT: readonly unknown[] = [REJECTED, UNKNOWN_CHAIN, ALREADY_ASKING];

const REASON_CHARACTERS = 160;

/** A wallet, and the chain on which it is to send. */
interface WalletOnChain {
  readonly provider: WalletProvider;
  readonly chain: { readonly id: number; readonly name: string };
}

/** A transfer of a token or coin by a wallet; `amount` in its smallest unit. */
export interface WalletTransfer extends WalletOnChain {
  readonly token: { readonly address: string; readonly symbol: string; readonly decimals: number };
  readonly recipient: string;
  readonly amount: bigint;
}

/** Reason for stopping a transfer, in words for the person at the wallet. */
export class Stop extends Error {
  readonly say: (texts: Texts) => string;

  constructor(say: (texts: Texts) => string) {
    super('stopped');
    this.say = say;
  }
}

/**
 * Connects an account of the wallet, on the transfer's chain and with enough of the token. Sources: EIP-1193, EIP-3326.
 * @throws Stop and errors of the wallet, both worded by `stopReason`
 */
export async function readyAccount(transfer: WalletTransfer): Promise<string> {
  const account = await accountOn(transfer);
  await checkBalance(transfer, account);
  return account;
}

/** Connects an account of the wallet on a chain. @throws Stop and errors of the wallet, both worded by `stopReason` */
export async function accountOn(wallet: WalletOnChain): Promise<string> {
  const account = await connectedAccount(wallet.provider);
  await switchChain(wallet);
  return account;
}

/** Connects an account of the wallet. @throws Stop and errors of the wallet, both worded by `stopReason` */
export async function connectedAccount(provider: WalletProvider): Promise<string> {
  const [account] = await connectedAccounts(provider);
  if (account === undefined) throw new Stop(({ wallet }) => wallet.noAccount);
  return account;
}

/** Connects accounts of the wallet, the selected one first. Source: EIP-1102. @throws errors of the wallet */
export async function connectedAccounts(provider: WalletProvider): Promise<readonly string[]> {
  const accounts = await provider.request({ method: 'eth_requestAccounts' });
  return Array.isArray(accounts) ? accounts.filter(account => typeof account === 'string') : [];
}

/** Has an account of the wallet sign a text, and returns the signature. Source: EIP-191. @throws errors of the wallet */
export async function signatureOf(provider: WalletProvider, account: string, text: string): Promise<string> {
  const bytes = [...new TextEncoder().encode(text)].map(byte => byte.toString(16).padStart(2, '0'));
  const params = [`0x${bytes.join('')}`, account];
  return String(await provider.request({ method: 'personal_sign', params }));
}

/**
 * Sends the transfer and returns its hash. A wallet that fails without a refusal may still have sent it.
 * @throws Stop and errors of the wallet, both worded by `stopReason`
 */
export function sendTransfer(transfer: WalletTransfer, account: string): Promise<string> {
  return sendByWallet(transfer, transaction(transfer, account), ({ wallet }) => wallet.checkWallet);
}

/** Sends a call of a contract and returns its hash. @throws Stop and errors of the wallet, both worded by `stopReason` */
export function sendCall(
  wallet: WalletOnChain,
  call: { readonly from: string; readonly to: string; readonly data: string },
): Promise<string> {
  return sendByWallet(wallet, { ...call, value: '0x0' }, ({ wallet: words }) => words.checkSent);
}

async function sendByWallet(
  wallet: WalletOnChain,
  sent: Readonly<Record<string, string>>,
  advice: (texts: Texts) => string,
): Promise<string> {
  await checkChain(wallet);
  try {
    return String(await wallet.provider.request({ method: 'eth_sendTransaction', params: [sent] }));
  } catch (error) {
    if (NOT_SENT.includes(codeOf(error))) throw error;
    throw new Stop(texts => `${failure(error, texts)} ${advice(texts)}`);
  }
}

async function switchChain(wallet: WalletOnChain): Promise<void> {
  const { chain, provider } = wallet;
  if ((await currentChain(provider)) === chain.id) return;
  const chainId = hex(BigInt(chain.id));
  await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  await checkChain(wallet);
}

/** Checks the network again: people can change it at any time, and a transfer on another one is lost. */
async function checkChain({ chain, provider }: WalletOnChain): Promise<void> {
  if ((await currentChain(provider)) === chain.id) return;
  throw new Stop(({ wallet }) => wallet.otherNetwork(chain.name));
}

async function currentChain(provider: WalletProvider): Promise<number> {
  return Number(await provider.request({ method: 'eth_chainId' }));
}

async function checkBalance(transfer: WalletTransfer, account: string): Promise<void> {
  const { token, chain, amount } = transfer;
  const held = await balance(transfer, account).catch(() => undefined); // the wallet reports it itself
  if (held === undefined || held >= amount) return;
  throw new Stop(texts =>
    texts.wallet.tooLittle(amountIn(texts, held, token), chain.name, amountIn(texts, amount, token)),
  );
}

/** @throws SyntaxError when the wallet's answer is not a number */
async function balance({ provider, token }: WalletTransfer, account: string): Promise<bigint> {
  const held = NATIVE.test(token.address)
    ? await provider.request({ method: 'eth_getBalance', params: [account, 'latest'] })
    : await provider.request({
        method: 'eth_call',
        params: [{ to: token.address, data: BALANCE_OF + word(BigInt(account)) }, 'latest'],
      });
  return BigInt(String(held));
}

function transaction({ token, recipient, amount }: WalletTransfer, from: string) {
  return NATIVE.test(token.address)
    ? { from, to: recipient, value: hex(amount) }
    : { from, to: token.address, value: '0x0', data: TRANSFER + word(BigInt(recipient)) + word(amount) };
}

/** True when the person at the wallet declined. */
export function isDeclined(error: unknown): boolean {
  return fieldOf(error, 'code') === REJECTED;
}

/** Why a transfer was not sent, in words for the person at the wallet. */
export function stopReason(error: unknown, chain: WalletTransfer['chain'], texts: Texts): string {
  if (error instanceof Stop) return error.say(texts);
  if (codeOf(error) === UNKNOWN_CHAIN) return texts.wallet.unknownNetwork(chain.name, chain.id);
  return signingFailure(error, texts);
}

/** Why an account was not connected or a text not signed, in words for the person at the wallet. */
export function signingFailure(error: unknown, texts: Texts): string {
  const code = codeOf(error);
  if (code === REJECTED) return texts.wallet.declined;
  if (code === ALREADY_ASKING) return texts.wallet.asking;
  return failure(error, texts);
}

function failure(error: unknown, { wallet }: Texts): string {
  const message = fieldOf(error, 'message');
  const said = typeof message === 'string' ? message.slice(0, REASON_CHARACTERS) : wallet.noReason;
  return wallet.failed(said);
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
