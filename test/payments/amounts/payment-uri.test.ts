import { expect, test } from 'vitest';
import { paymentUri } from '#payments/amounts/payment-uri.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';

const recipientAddress = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const tokenAddress = '0x5fbdb2315678afecb367f032d93f642f64180aa3';

test('a token payment is a transfer call of the token contract', () => {
  expect(paymentUri({ chainId: 8453, tokenAddress, recipientAddress, amount: 12_500_000n })).toBe(
    `ethereum:${tokenAddress}@8453/transfer?address=${recipientAddress}&uint256=12500000`,
  );
});

test('a native coin payment has a value', () => {
  const asked = { chainId: 31_337, tokenAddress: NATIVE_COIN, recipientAddress, amount: 10n ** 15n };

  expect(paymentUri(asked)).toBe(`ethereum:${recipientAddress}@31337?value=1000000000000000`);
});

test('without an amount the payer chooses it', () => {
  const asked = { chainId: 8453, recipientAddress };

  expect(paymentUri({ ...asked, tokenAddress: NATIVE_COIN })).toBe(`ethereum:${recipientAddress}@8453`);
  expect(paymentUri({ ...asked, tokenAddress })).toBe(
    `ethereum:${tokenAddress}@8453/transfer?address=${recipientAddress}`,
  );
});

test('the largest possible amount is written in full, without an exponent', () => {
  const amount = 2n ** 256n - 1n;

  expect(paymentUri({ chainId: 1, tokenAddress, recipientAddress, amount })).toMatch(/uint256=\d{78}$/);
});
