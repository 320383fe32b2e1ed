import { checksumAddress, formatUnits } from 'viem';
import { lowerCase } from '../../evm/address.ts';
import type { Denomination } from '../amounts/token-amount.ts';

/** Placeholder for the wallet's address in the Sign-In with Ethereum message (Decision 156). */
const PLACEHOLDER = '{address}';

/** Characters of a statement. Source: EIP-4361, "ABNF Message Format"; RFC 3986, 2.2 and 2.3. */
const STATEMENT_TEXT = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;= ]+$/;

/** Facts that a payer reads in the wallet before signing. They belong to the session and never change. */
export interface WalletMessageFacts {
  readonly merchant: string;
  /** Requested amount, in smallest units. */
  readonly amount: bigint;
  readonly token: Denomination & { readonly address: string };
  /** URL of the checkout's page. */
  readonly uri: string;
  readonly chainId: number;
  /** At least 8 letters and digits that are unique to the session. */
  readonly nonce: string;
  /** UTC milliseconds. */
  readonly issuedAt: number;
}

/**
 * Origin of the page that asks for a signature, and the wallet's address. Without an address the message contains
 * `{address}`.
 */
export interface WalletRequest {
  /** Scheme and authority, in the form of `URL.origin`. */
  readonly origin: string;
  /** In any letter case. */
  readonly address: string | undefined;
}

/** Text that binds a wallet to a session. A signature is valid for this session, wallet and host only. */
export function walletMessage(facts: WalletMessageFacts, wallet: WalletRequest): string {
  return signInMessage(facts, wallet, paymentStatement(facts));
}

/** Text that states where a refund is to go. Its nonce contains the number of earlier statements. */
export function refundMessage(
  { merchant, to, ...facts }: Omit<WalletMessageFacts, 'amount' | 'token'> & { readonly to: string },
  wallet: WalletRequest,
): string {
  const name = statementText(merchant);
  const paid = `Refund what I paid${name === undefined ? '' : ` to ${name}`} to ${checksummed(to)}.`;
  return signInMessage(facts, wallet, `${paid} ${HARMLESS}`);
}

/** Built here because viem refuses hosts without a dot and IPv6 literals. Source: EIP-4361. */
function signInMessage(
  { uri, chainId, nonce, issuedAt }: Pick<WalletMessageFacts, 'uri' | 'chainId' | 'nonce' | 'issuedAt'>,
  { origin, address }: WalletRequest,
  statement: string,
): string {
  return [
    `${origin.replace(/^https:\/\//, '')} wants you to sign in with your Ethereum account:`,
    address === undefined ? PLACEHOLDER : checksummed(address),
    '',
    statement,
    '',
    `URI: ${uri}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${new Date(issuedAt).toISOString()}`,
  ].join('\n');
}

const HARMLESS = 'Signing costs nothing and moves no money.';

function paymentStatement({
  merchant,
  amount,
  token,
}: Pick<WalletMessageFacts, 'merchant' | 'amount' | 'token'>) {
  const units = statementText(token.symbol) ?? `of token ${token.address}`;
  const name = statementText(merchant);
  const payment = `Pay ${formatUnits(amount, token.decimals)} ${units}${name === undefined ? '' : ` to ${name}`}.`;
  return `${payment} ${HARMLESS}`;
}

/** A text without its accents; undefined when it has characters that a statement cannot contain. */
function statementText(text: string): string | undefined {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').trim();
  return STATEMENT_TEXT.test(plain) ? plain : undefined;
}

function checksummed(address: string): string {
  return checksumAddress(lowerCase(address));
}
