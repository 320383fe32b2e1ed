import { NATIVE_COIN } from '../model/payment-chain.ts';

/** A transfer that a wallet is asked to send. Addresses are lower case, the amount is in the token's smallest unit. */
export interface PaymentRequest {
  readonly chainId: number;
  /** `NATIVE_COIN` for the native coin. */
  readonly tokenAddress: string;
  readonly recipientAddress: string;
  readonly amount: bigint;
}

/**
 * Returns the request as a URI for links and QR codes. Numbers are plain integers: the grammar also has exponents,
 * which not every wallet understands. Without an amount the payer types it. Source: EIP-681.
 */
export function paymentUri({
  chainId,
  tokenAddress,
  recipientAddress,
  amount,
}: Omit<PaymentRequest, 'amount'> & Partial<PaymentRequest>): string {
  const [value, units] = amount === undefined ? ['', ''] : [`?value=${amount}`, `&uint256=${amount}`];
  return tokenAddress === NATIVE_COIN
    ? `ethereum:${recipientAddress}@${chainId}${value}`
    : `ethereum:${tokenAddress}@${chainId}/transfer?address=${recipientAddress}${units}`;
}

/**
 * Returns the request as a transaction for a wallet. `value` is in wei. Source: EIP-1193, `eth_sendTransaction`; EIP-20,
 * `transfer`.
 */
export function transactionRequest({ tokenAddress, recipientAddress, amount }: PaymentRequest): {
  to: string;
  value: bigint;
  data: string;
} {
  if (tokenAddress === NATIVE_COIN) return { to: recipientAddress, value: amount, data: '0x' };
  const words = [recipientAddress.slice(2), amount.toString(16)].map(hex => hex.padStart(64, '0'));
  return { to: tokenAddress, value: 0n, data: `${TRANSFER_SELECTOR}${words.join('')}` };
}

/** Selector of `transfer(address,uint256)`. */
const TRANSFER_SELECTOR = '0xa9059cbb';
