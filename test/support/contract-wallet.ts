import type { Address, Hex } from 'viem';
import { record, text } from '../lab/json.ts';
import { addressOf, type TestPaymentChain } from '../lab/payment-chain.ts';

/**
 * Deploys a contract wallet with one owner: `isValidSignature` accepts signatures of the owner's account (EIP-1271).
 * Written in bytecode, because the project has no compiler. Every call counts as one of `isValidSignature`.
 */
export async function deployContractWallet(chain: TestPaymentChain, owner: Address): Promise<Address> {
  const { hash } = await chain.send({ from: 0, data: creationOf(walletCode(owner)) });
  await chain.mine();
  const receipt = record(await chain.call('eth_getTransactionReceipt', hash));
  return addressOf(text(receipt.contractAddress).toLowerCase());
}

/** The arguments are the hash at byte 4 and 65 bytes of signature from byte 100: r, s and v. */
function walletCode(owner: Address): string {
  return [
    '600435600052', // memory[0] = hash
    '60a43560f81c602052', // memory[32] = v
    '606435604052', // memory[64] = r
    '608435606052', // memory[96] = s
    '6020600060806000', // output to memory[0], 32 bytes; input from memory[0], 128 bytes
    '60015afa50', // staticcall of ecrecover (precompile 1); a failure leaves the hash in memory[0]
    `60005173${owner.slice(2)}14`, // memory[0] == owner
    '631626ba7e60e01b02', // times the magic value
    '60005260206000f3', // returned as one word
  ].join('');
}

/** Creation code that returns this code, which follows its own 12 bytes. */
function creationOf(code: string): Hex {
  const length = (code.length / 2).toString(16).padStart(4, '0');
  return `0x61${length}80600c6000396000f3${code}`;
}
