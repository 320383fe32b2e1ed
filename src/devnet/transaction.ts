import { createHash } from 'node:crypto';
import { type Hex, hexToBytes, numberToHex } from 'viem';
import { MAX_TRANSACTION_GAS } from '#evm/transaction-gas.ts';
import type { Action, Envelope } from './activity/action.ts';
import type { Random } from './activity/random.ts';
import type { Accounts } from './chain/accounts.ts';
import type { Hardfork } from './chain/engine.ts';
import type { JsonRpcCall } from './chain/rpc.ts';

const GWEI = 10n ** 9n;
const BLOB_BYTES = 131_072;
const MAX_FEE_PER_BLOB_GAS = 10n * GWEI;

/** Multiple of the gas of Prague. New state costs about seven times as much since Amsterdam. */
const GAS_FACTORS: Readonly<Record<Hardfork, bigint>> = { prague: 1n, amsterdam: 8n };

/** Gas that is enough on a fork for what needs `gas` on Prague, within the most that a transaction may have. */
export function gasOn(hardfork: Hardfork, gas: bigint): bigint {
  const needed = gas * GAS_FACTORS[hardfork];
  return needed < MAX_TRANSACTION_GAS ? needed : MAX_TRANSACTION_GAS;
}

/** Prices that apply to every transaction of a block, in wei. */
interface Pricing {
  baseFeePerGas: bigint;
  random: Random;
}

/** Builds the call that sends an action with a nonce. */
export type TransactionWriter = (action: Action, nonce: number, pricing: Pricing) => Promise<JsonRpcCall>;

/**
 * Converts actions to calls that send them. The node signs most of them; blobs and authorizations are signed here.
 * Without `hasBlobs`, blobs are left out of their transactions, so that everything after them is equal on every engine.
 */
export function transactionWriter({
  accounts,
  chainId,
  hardfork,
  hasBlobs,
}: {
  accounts: Accounts;
  chainId: number;
  hardfork: Hardfork;
  hasBlobs: boolean;
}): TransactionWriter {
  return async function write(planned, nonce, { baseFeePerGas, random }) {
    const action = { ...planned, gas: gasOn(hardfork, planned.gas) };
    const tip = (BigInt(random.integer(1, 30)) * GWEI) / 10n;
    const fees = { maxFeePerGas: baseFeePerGas * 2n + tip, maxPriorityFeePerGas: tip };
    const prices = { ...fees, gasPrice: baseFeePerGas + tip };
    const isLegacy = random.chance(0.25);
    const { envelope } = action;
    if ((envelope?.kind === 'blob' && hasBlobs) || envelope?.kind === 'authorization') {
      return { method: 'eth_sendRawTransaction', params: [await sign({ action, envelope, nonce, fees })] };
    }
    return { method: 'eth_sendTransaction', params: [unsigned({ action, nonce, prices, isLegacy })] };
  };

  function unsigned({
    action: { from, to, data, value = 0n, gas, envelope },
    nonce,
    prices,
    isLegacy,
  }: {
    action: Action;
    nonce: number;
    prices: { gasPrice: bigint; maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };
    isLegacy: boolean;
  }): Record<string, unknown> {
    const fields = {
      from: accounts.addresses[from] ?? accounts.signer(from).address,
      ...(to === undefined ? {} : { to }),
      ...(data === undefined ? {} : { input: data }),
      value: numberToHex(value),
      gas: numberToHex(gas),
      nonce: numberToHex(nonce),
    };
    if (envelope?.kind === 'accessList') {
      const gasPrice = numberToHex(prices.gasPrice);
      return { ...fields, type: '0x1', gasPrice, accessList: envelope.accessList };
    }
    if (isLegacy) return { ...fields, type: '0x0', gasPrice: numberToHex(prices.gasPrice) };
    return {
      ...fields,
      type: '0x2',
      maxFeePerGas: numberToHex(prices.maxFeePerGas),
      maxPriorityFeePerGas: numberToHex(prices.maxPriorityFeePerGas),
    };
  }

  async function sign({
    action: { from, to, data, value = 0n, gas },
    envelope,
    nonce,
    fees,
  }: {
    action: Action;
    envelope: Extract<Envelope, { kind: 'blob' | 'authorization' }>;
    nonce: number;
    fees: { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };
  }): Promise<Hex> {
    const signer = accounts.signer(from);
    const fields = { chainId, nonce, value, gas, ...fees, ...(data === undefined ? {} : { data }) };
    if (envelope.kind === 'authorization') {
      const authority = accounts.authority(envelope.authority);
      const signed = await authority.signAuthorization({ address: envelope.delegate, chainId, nonce: 0 });
      const transaction = { ...fields, to: authority.address, authorizationList: [signed] };
      return signer.signTransaction({ ...transaction, type: 'eip7702' });
    }
    const sidecars = [{ blob: ZERO_BLOB, commitment: POINT_AT_INFINITY, proof: POINT_AT_INFINITY }];
    const blob = { blobVersionedHashes: [ZERO_BLOB_HASH], sidecars, maxFeePerBlobGas: MAX_FEE_PER_BLOB_GAS };
    return signer.signTransaction({ ...fields, ...blob, to: to ?? signer.address, type: 'eip4844' });
  }
}

// The polynomial of a blob of zeros is zero, so its commitment and its proof are the point at infinity
// (EIP-4844): no trusted setup is needed to write one.
const ZERO_BLOB: Hex = `0x${'00'.repeat(BLOB_BYTES)}`;
const POINT_AT_INFINITY: Hex = `0xc0${'00'.repeat(47)}`;
const ZERO_BLOB_HASH: Hex = `0x01${createHash('sha256')
  .update(hexToBytes(POINT_AT_INFINITY))
  .digest('hex')
  .slice(2)}`;
