import { UsageError } from '#lib/command-line.ts';
import type { LinkDefaults } from '#payments/model/owner.ts';
import { NATIVE_COIN, normalToken, type PaymentChain, tokenOf } from '#payments/model/payment-chain.ts';
import type { TermsGiven } from './command-line.ts';

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/**
 * Defaults for the new links of an organization. Chains and tokens must be configured ones. Without configured chains,
 * as with embedded ones, any chain and address is accepted.
 * @throws UsageError
 */
export function linkDefaults(given: TermsGiven, chains: readonly PaymentChain[]): LinkDefaults {
  const chainId = given.chain === undefined ? null : parseChainId(given.chain);
  if (given.token !== undefined && chainId === null) throw new UsageError('--token needs --chain');
  const chain = chainId === null ? undefined : configured(chainId, chains);
  const tokenAddress = given.token === undefined ? null : tokenAddressOf(given.token, chain);
  const recipientAddress = given.recipient === undefined ? null : recipientOf(given.recipient);
  if (recipientAddress !== null && isToken(recipientAddress, tokenAddress, chain)) {
    throw new UsageError('--recipient is the contract of a token: payments to it would be lost');
  }
  return { chainId, tokenAddress, recipientAddress };
}

function isToken(address: string, tokenAddress: string | null, chain: PaymentChain | undefined): boolean {
  return address === tokenAddress || (chain !== undefined && tokenOf(chain, address) !== undefined);
}

export function parseChainId(text: string): number {
  const id = Number(text);
  if (!/^[1-9]\d*$/.test(text) || !Number.isSafeInteger(id))
    throw new UsageError('--chain takes the id of a chain');
  return id;
}

export function configured(id: number, chains: readonly PaymentChain[]): PaymentChain | undefined {
  if (chains.length === 0) return undefined;
  const chain = chains.find(one => one.id === id);
  if (chain === undefined) {
    const known = chains.map(one => `${one.id} (${one.name})`).join(', ');
    throw new UsageError(`payments are not configured for chain ${id}; chains with rpc are ${known}`);
  }
  return chain;
}

function tokenAddressOf(text: string, chain: PaymentChain | undefined): string {
  if (ADDRESS.test(text)) {
    if (chain !== undefined && tokenOf(chain, text) === undefined) throw unknownToken(text, chain);
    return normalToken(text);
  }
  if (chain === undefined) throw new UsageError('without a configured chain --token takes an address');
  const [token, ...more] = chain.tokens.filter(({ symbol }) => symbol.toLowerCase() === text.toLowerCase());
  if (token === undefined) throw unknownToken(text, chain);
  if (more.length > 0)
    throw new UsageError(`${chain.name} has more than one ${text}: give --token an address`);
  return token.address;
}

function unknownToken(text: string, { name, tokens }: PaymentChain): UsageError {
  const known = tokens.map(({ symbol }) => symbol).join(', ');
  return new UsageError(`${name} is not configured with a token ${text}, but with ${known}`);
}

export function recipientOf(text: string, what = '--recipient'): string {
  const address = text.toLowerCase();
  if (!ADDRESS.test(address) || address === NATIVE_COIN) {
    throw new UsageError(`${what} takes an address: 0x and 40 hex digits, not all zero`);
  }
  return address;
}
