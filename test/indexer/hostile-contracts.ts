import { type Address, concatHex, getContractAddress, type Hex, numberToHex, size } from 'viem';
import type { TestChain } from './support.ts';

/** Account that the loop calls. It has no code. */
export const CALLED: Address = '0x000000000000000000000000000000000000beef';

/**
 * Runtime code: calls an account as often as the first word of the input says, with `bytes` of input and `wei` each
 * time. The trace has the whole input of every call, which costs almost no gas.
 */
export function callsInLoop({ bytes = 0, wei = 0 }: { bytes?: number; wei?: number }): Hex {
  return concatHex([
    '0x5f35', // count = calldataload(0)
    '0x5b', // loop:
    '0x5f5f', // no output
    '0x63',
    numberToHex(bytes, { size: 4 }), // length of the input
    '0x5f', // its start
    '0x60',
    numberToHex(wei, { size: 1 }),
    '0x61beef', // receiver
    '0x5a', // all gas
    '0xf150', // call, and drop the result
    '0x6001900380600257', // count -= 1, loop while it is not 0
    '0x00',
  ]);
}

/** Runtime code: emits as many empty logs without topics as the first word of the input says. */
export const LOGS_IN_LOOP: Hex = '0x5f355b5f5fa0600190038060025700';

/** Deploys a contract with this runtime code. The transaction waits to be mined. */
export async function deployCode(chain: TestChain, runtime: Hex): Promise<Address> {
  const from = chain.accounts.signer(0).address;
  const nonce = BigInt(Number(await chain.rpc.call('eth_getTransactionCount', from, 'pending')));
  const length = numberToHex(size(runtime), { size: 1 });
  await chain.send(0, { data: concatHex(['0x60', length, '0x8060095f395ff3', runtime]) });
  return getContractAddress({ from, nonce });
}

/** Input of one of these contracts. */
export function times(count: number): Hex {
  return numberToHex(count, { size: 32 });
}
