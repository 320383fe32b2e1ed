import { NATIVE_COIN } from '../../model/payment-chain.ts';

/** Where payments may arrive on one chain: recipients by token, all lower case. */
export interface Places {
  /** Contracts with a watched recipient; the native coin is none. */
  readonly tokens: readonly string[];
  /** Recipients of any of those. */
  readonly recipients: readonly string[];
  readonly hasNative: boolean;
  /** Equal for equal places. */
  readonly fingerprint: string;
  has(tokenAddress: string, recipientAddress: string): boolean;
}

/** From the recipients that the store says were ever asked to be paid. */
export function places(
  recipients: readonly { readonly tokenAddress: string; readonly recipientAddress: string }[],
): Places {
  const ofTokens = recipients.filter(one => one.tokenAddress !== NATIVE_COIN);
  const keys = new Set(recipients.map(one => key(one.tokenAddress, one.recipientAddress)));
  return {
    tokens: [...new Set(ofTokens.map(one => one.tokenAddress))],
    recipients: [...new Set(ofTokens.map(one => one.recipientAddress))],
    fingerprint: [...keys].sort().join(),
    hasNative: recipients.length > ofTokens.length,
    has: (token, recipient) => keys.has(key(token, recipient)),
  };
}

function key(token: string, recipient: string): string {
  return `${token} ${recipient}`;
}
