import {
  getContractAddress,
  type Hex,
  isAddressEqual,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerialized,
} from 'viem';
import { describe, expect, test } from 'vitest';
import { PROXY, PROXY_CODE, PROXY_CREATION } from '#deposits/deterministic-proxy.ts';
import { CHAIN_KINDS } from '../lab/chain-kind.ts';
import { startPaymentChain } from '../lab/payment-chain.ts';
import { manualClock } from '../support/manual-clock.ts';

test('the keyless transaction creates the proxy at its address, and costs what is said', async () => {
  const { raw, sender, costWei, gas, code } = PROXY_CREATION;
  if (!isLegacy(raw)) throw new Error('the transaction has a type');
  const { gas: limit = 0n, gasPrice = 0n, nonce = 0, data, chainId } = parseTransaction(raw);
  const from = await recoverTransactionAddress({ serializedTransaction: raw });

  expect(isAddressEqual(from, sender)).toBe(true);
  expect(isAddressEqual(getContractAddress({ from, nonce: BigInt(nonce) }), PROXY)).toBe(true);
  expect([limit, limit * gasPrice, data, chainId]).toEqual([gas, costWei, code, undefined]);
});

/** True for a list of RLP, as transactions without a type are. */
function isLegacy(raw: Hex): raw is TransactionSerialized {
  return raw.startsWith('0xf8');
}

describe.each(CHAIN_KINDS)('a chain of $engine with the rules of $hardfork', kind => {
  test('has the proxy from its first block on', async () => {
    await using chain = await startPaymentChain({ clock: manualClock(), ...kind });

    expect(await chain.call('eth_getCode', PROXY, '0x0')).toBe(PROXY_CODE);
  });
});
