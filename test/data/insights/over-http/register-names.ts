import { type Address, encodeFunctionData, labelhash, namehash, numberToHex } from 'viem';
import { nameRegistryAbi, nameResolverAbi } from '#devnet/activity/abis.ts';
import { deriveAccounts } from '#devnet/chain/accounts.ts';
import { httpRpc } from '#devnet/chain/rpc.ts';
import type { EmbeddedChain } from '#devnet/embedded-chain.ts';
import { gasOn } from '#devnet/transaction.ts';
import { chainKind } from '#test/lab/chain-kind.ts';

/** Names that only the first embedded chain knows, for contracts of it. */
export const NAMES = { 'coin.eth': 'Community Token', 'cards.eth': 'Postcards' } as const;

/** Registers `NAMES` on the first embedded chain, whose deployer owns `eth`, in one block. */
export async function registerNames({
  rpcUrl,
  names: { registry },
  contracts,
}: EmbeddedChain): Promise<void> {
  const [owner] = deriveAccounts().addresses;
  if (owner === undefined) throw new Error('there is nobody');
  const rpc = httpRpc(rpcUrl);
  const of = (wanted: string): Address => {
    const found = contracts.find(({ name }) => name === wanted);
    if (found === undefined) throw new Error(`no contract is called ${wanted}`);
    return found.address;
  };
  const resolver = of('Name Resolver');
  for (const [name, contract] of Object.entries(NAMES)) {
    const node = namehash(name);
    const label = labelhash(name.replace(/\.eth$/, ''));
    for (const [to, data] of [
      [
        registry,
        encodeFunctionData({
          abi: nameRegistryAbi,
          functionName: 'setSubnodeOwner',
          args: [namehash('eth'), label, owner],
        }),
      ],
      [
        registry,
        encodeFunctionData({ abi: nameRegistryAbi, functionName: 'setResolver', args: [node, resolver] }),
      ],
      [
        resolver,
        encodeFunctionData({ abi: nameResolverAbi, functionName: 'setAddr', args: [node, of(contract)] }),
      ],
    ] as const) {
      await rpc.call('eth_sendTransaction', {
        from: owner,
        to,
        data,
        gas: numberToHex(gasOn(chainKind.hardfork, 100_000n)),
      });
    }
  }
  await rpc.call('anvil_mine', '0x1');
}
