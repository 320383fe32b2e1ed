/** Stands in the template where the wallet's address belongs. Decision 114. */
const PLACEHOLDER = '{address}';

/** What a payer reads in the wallet before signing. All of it belongs to the session and never changes. */
export interface WalletMessageFacts {
  readonly merchant: string;
  /** The amount with its symbol, in tokens: `12.5 USDC`. */
  readonly amount: string;
  /** Where the checkout is hosted, without the scheme. */
  readonly host: string;
}

/**
 * The text that binds a wallet to a session, with `{address}` where the wallet's address has to stand. A signature
 * of it is worth nothing for another session, wallet or host. Decision 114.
 */
export function walletMessage(sessionId: string, { merchant, amount, host }: WalletMessageFacts): string {
  return [
    `${inLine(host)} asks which wallet is going to pay.`,
    '',
    `To: ${inLine(merchant)}`,
    `Amount: ${inLine(amount)}`,
    `Wallet: ${PLACEHOLDER}`,
    `Checkout: ${sessionId}`,
    '',
    'Signing costs nothing and moves no money.',
  ].join('\n');
}

/** The text that a wallet signs, and whose signature is checked: the template with the address in lower case. */
export function walletTextFor(template: string, address: string): string {
  return template.replaceAll(PLACEHOLDER, address.toLowerCase());
}

/** A foreign text that can neither add lines of its own nor stand for the wallet's address. */
function inLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll('{', '(')
    .replaceAll('}', ')');
}
