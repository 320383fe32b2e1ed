import { type Address, encodeFunctionData, labelhash, namehash, zeroHash } from 'viem';
import { nameRegistryAbi, nameResolverAbi } from './activity/abis.ts';
import type { Action } from './activity/action.ts';

/** Registers `alice.eth` for this address. By the owner of the registry's root. */
export function planNames({
  registry,
  resolver,
  alice,
  owner,
}: {
  registry: Address;
  resolver: Address;
  alice: Address;
  owner: { index: number; address: Address };
}): Action[] {
  const node = namehash('alice.eth');
  const calls = [
    registered(zeroHash, 'eth'),
    registered(namehash('eth'), 'alice'),
    {
      to: registry,
      data: encodeFunctionData({ abi: nameRegistryAbi, functionName: 'setResolver', args: [node, resolver] }),
    },
    {
      to: resolver,
      data: encodeFunctionData({ abi: nameResolverAbi, functionName: 'setAddr', args: [node, alice] }),
    },
  ];
  return calls.map(call => ({ from: owner.index, ...call, gas: 100_000n }));

  function registered(parent: `0x${string}`, label: string) {
    const args = [parent, labelhash(label), owner.address] as const;
    return {
      to: registry,
      data: encodeFunctionData({ abi: nameRegistryAbi, functionName: 'setSubnodeOwner', args }),
    };
  }
}
