import { type Address, concatHex, getContractAddress, type Hex, numberToHex, size } from 'viem';
import type { TestPaymentChain } from './payment-chain.ts';

/** A step of a contract that sends coins. Failures of calls are ignored. */
export type Step =
  | { readonly kind: 'call' | 'callcode'; readonly to: Address; readonly value: bigint }
  | { readonly kind: 'delegatecall'; readonly to: Address }
  /** Creates an empty contract with these coins. */
  | { readonly kind: 'create' | 'create2'; readonly value: bigint }
  /** Ends the contract, which sends all that it has. */
  | { readonly kind: 'selfdestruct'; readonly to: Address }
  | { readonly kind: 'revert' };

const CODES = {
  call: '0xf1',
  callcode: '0xf2',
  delegatecall: '0xf4',
  create: '0xf0',
  create2: '0xf5',
  selfdestruct: '0xff',
  revert: '0xfd',
} as const;
const ZERO: Hex = '0x5f';
const GAS: Hex = '0x5a';
const POP: Hex = '0x50';

/** Deploys a contract that takes these steps when it is called, whatever it is called with. */
export async function deploySteps(chain: TestPaymentChain, steps: readonly Step[]): Promise<Address> {
  const runtime = concatHex([...steps.map(codeOf), '0x00']);
  const length = numberToHex(size(runtime), { size: 2 });
  // Copies what follows the first ten bytes, and returns it as the code of the contract.
  const data = concatHex(['0x61', length, '0x80600a5f395ff3', runtime]);
  const [deployer = '0x'] = chain.accounts;
  const nonce = BigInt(Number(await chain.call('eth_getTransactionCount', deployer, 'latest')));
  await chain.send({ from: 0, data });
  await chain.mine();
  return getContractAddress({ from: deployer, nonce });
}

function codeOf(step: Step): Hex {
  const code = CODES[step.kind];
  switch (step.kind) {
    case 'call':
    case 'callcode':
      return concatHex([ZERO, ZERO, ZERO, ZERO, pushed(step.value), pushed(BigInt(step.to)), GAS, code, POP]);
    case 'delegatecall':
      return concatHex([ZERO, ZERO, ZERO, ZERO, pushed(BigInt(step.to)), GAS, code, POP]);
    case 'create':
      return concatHex([ZERO, ZERO, pushed(step.value), code, POP]);
    case 'create2':
      return concatHex([ZERO, ZERO, ZERO, pushed(step.value), code, POP]);
    case 'selfdestruct':
      return concatHex([pushed(BigInt(step.to)), code]);
    case 'revert':
      return concatHex([ZERO, ZERO, code]);
  }
}

function pushed(value: bigint): Hex {
  return concatHex(['0x7f', numberToHex(value, { size: 32 })]);
}
