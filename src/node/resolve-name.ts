import { type Address, type Hash, isAddressEqual, parseAbi } from 'viem';
import { lowerCase, ZERO_ADDRESS } from '../evm/address.ts';
import { type ChainClient, nullIfAnswered } from './client.ts';

const REGISTRY = parseAbi(['function resolver(bytes32 node) view returns (address)']);
const RESOLVER = parseAbi(['function addr(bytes32 node) view returns (address)']);

/** Name to resolve, as its hash, and the registry to ask. */
export interface NameQuestion {
  registry: Address;
  node: Hash;
}

/**
 * Resolves a name to its current address, in lower case, through its resolver (EIP-137). Null when it has none.
 * @throws when the node cannot be reached.
 */
export async function resolveName(
  client: ChainClient,
  { registry, node }: NameQuestion,
): Promise<Address | null> {
  await client.verify();
  const args = [node] as const;
  try {
    const resolver = await client.public.readContract({
      address: registry,
      abi: REGISTRY,
      functionName: 'resolver',
      args,
    });
    if (isAddressEqual(resolver, ZERO_ADDRESS)) return null;
    const address = await client.public.readContract({
      address: resolver,
      abi: RESOLVER,
      functionName: 'addr',
      args,
    });
    return isAddressEqual(address, ZERO_ADDRESS) ? null : lowerCase(address);
  } catch (error) {
    // A resolver may be any contract: a missing or malformed answer means that there is no address.
    return nullIfAnswered(error);
  }
}
