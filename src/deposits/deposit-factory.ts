import { readFileSync } from 'node:fs';
import {
  type Address,
  concat,
  encodeAbiParameters,
  getContractAddress,
  type Hex,
  keccak256,
  zeroAddress,
  zeroHash,
} from 'viem';
import { PROXY } from './deterministic-proxy.ts';

/** Contract that creates forwarders and has them pay, at one address on every chain. It keeps its bytes for ever. */
export interface DepositFactory {
  readonly version: number;
  readonly address: Address;
  readonly creationCode: Hex;
  readonly deployedCode: Hex;
  /** Hash of the deployed code. */
  readonly codeHash: Hex;
  /** Creation code of a forwarder, without its recipient. */
  readonly forwarderCode: Hex;
}

/** Salt with which the proxy creates a factory. */
export const FACTORY_SALT = zeroHash;

/** Factory of new forwarders. */
export const CURRENT_FACTORY: DepositFactory = compiledFactory(1);

/** Factories of all versions. */
export const FACTORIES: readonly DepositFactory[] = [CURRENT_FACTORY];

/** Factory of a version. Forwarders of each version are swept for ever. */
export function factoryOf(version: number): DepositFactory | undefined {
  return FACTORIES.find(one => one.version === version);
}

/**
 * Address of the forwarder of a recipient, computed offline. It is the same on every chain that creates contracts as
 * Ethereum does (EIP-1014). @throws RangeError for the zero address, at which money would be lost
 */
export function forwarderAddress(
  { recipient, salt }: { recipient: Address; salt: Hex },
  { address, forwarderCode }: DepositFactory = CURRENT_FACTORY,
): Address {
  if (recipient === zeroAddress) throw new RangeError('a forwarder of the zero address would burn money');
  const bytecode = concat([forwarderCode, encodeAbiParameters([{ type: 'address' }], [recipient])]);
  return getContractAddress({ opcode: 'CREATE2', from: address, salt, bytecode });
}

function compiledFactory(version: number): DepositFactory {
  const { bytecode: creationCode, deployedBytecode: deployedCode } = compiled('DepositFactory');
  return {
    version,
    address: getContractAddress({
      opcode: 'CREATE2',
      from: PROXY,
      salt: FACTORY_SALT,
      bytecode: creationCode,
    }),
    creationCode,
    deployedCode,
    codeHash: keccak256(deployedCode),
    forwarderCode: compiled('Forwarder').bytecode,
  };
}

/** Contract of `contracts/`. Source: `scripts/compile-contracts.ts`. */
function compiled(name: string): { readonly bytecode: Hex; readonly deployedBytecode: Hex } {
  return JSON.parse(readFileSync(new URL(`../../generated/deposits/${name}.json`, import.meta.url), 'utf8'));
}
