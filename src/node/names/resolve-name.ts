import {
  type Address,
  decodeAbiParameters,
  encodeFunctionData,
  type Hex,
  isAddressEqual,
  namehash,
  parseAbi,
  toHex,
} from 'viem';
import { lowerCase, ZERO_ADDRESS } from '../../evm/address.ts';
import { type ChainClient, nullIfAnswered } from '../client.ts';
import type { Gateways } from './gateways.ts';
import { offChainCall } from './off-chain-call.ts';

const REGISTRY = parseAbi(['function resolver(bytes32 node) view returns (address)']);
const RESOLVER = parseAbi([
  'function addr(bytes32 node) view returns (address)',
  'function supportsInterface(bytes4 id) view returns (bool)',
  'function resolve(bytes name, bytes data) view returns (bytes)',
]);
/** Interface of a resolver that also resolves the names below its own. Source: ENSIP-10. */
const EXTENDED_RESOLVER = '0x9061b923';
/** Labels of a name for which a resolver is looked for. */
const MAX_LABELS = 16;
/** The length of a label is one byte. Source: ENSIP-10. */
const MAX_LABEL_BYTES = 255;

/** Name to resolve, and the registry to ask. */
export interface NameQuestion {
  readonly registry: Address;
  /** Normalised (ENSIP-15). */
  readonly name: string;
  /** Reads names outside of the chain (Decision 283). Without it, such a name has no address. */
  readonly gateways?: Gateways | undefined;
}

/**
 * Resolves a name to its current address, in lower case, through its resolver (EIP-137). Null when it has none.
 * @throws when the node cannot be reached.
 */
export async function resolveName(client: ChainClient, question: NameQuestion): Promise<Address | null> {
  await client.verify();
  try {
    const address = await (question.gateways === undefined
      ? addressOnChain(client, question)
      : addressAnywhere(client, question, question.gateways));
    return address === null || isAddressEqual(address, ZERO_ADDRESS) ? null : lowerCase(address);
  } catch (error) {
    // A resolver may be any contract: a missing or malformed answer means that there is no address.
    return nullIfAnswered(error);
  }
}

async function addressOnChain(
  client: ChainClient,
  { registry, name }: NameQuestion,
): Promise<Address | null> {
  const resolver = await resolverOf(client, registry, name);
  if (isAddressEqual(resolver, ZERO_ADDRESS)) return null;
  const args = [namehash(name)] as const;
  return client.public.readContract({ address: resolver, abi: RESOLVER, functionName: 'addr', args });
}

async function addressAnywhere(
  client: ChainClient,
  { registry, name }: NameQuestion,
  gateways: Gateways,
): Promise<Address | null> {
  const labels = name.split('.');
  const names = labels.map((_, index) => labels.slice(index).join('.')).slice(0, MAX_LABELS);
  const resolvers = await Promise.all(names.map(one => resolverOf(client, registry, one)));
  const index = resolvers.findIndex(one => !isAddressEqual(one, ZERO_ADDRESS));
  const to = resolvers[index];
  if (to === undefined) return null;
  const data = encodeFunctionData({ abi: RESOLVER, functionName: 'addr', args: [namehash(name)] });
  if (await isExtended(client, to)) {
    const encoded = encodedName(labels);
    if (encoded === null) return null;
    const question = encodeFunctionData({ abi: RESOLVER, functionName: 'resolve', args: [encoded, data] });
    const [answer] = decodeAbiParameters(
      [{ type: 'bytes' }],
      await offChainCall(client, { to, data: question }, gateways),
    );
    return addressIn(answer);
  }
  return index === 0 ? addressIn(await offChainCall(client, { to, data }, gateways)) : null;
}

function resolverOf(client: ChainClient, address: Address, name: string): Promise<Address> {
  const args = [namehash(name)] as const;
  return client.public.readContract({ address, abi: REGISTRY, functionName: 'resolver', args });
}

async function isExtended(client: ChainClient, address: Address): Promise<boolean> {
  const args = [EXTENDED_RESOLVER] as const;
  const asked = client.public.readContract({
    address,
    abi: RESOLVER,
    functionName: 'supportsInterface',
    args,
  });
  return (await asked.catch(nullIfAnswered)) ?? false;
}

function addressIn(answer: Hex): Address {
  const [address] = decodeAbiParameters([{ type: 'address' }], answer);
  return address;
}

/** A name in the form of DNS; null when a label is too long for it. Source: ENSIP-10. */
function encodedName(labels: readonly string[]): Hex | null {
  const bytes = labels.map(label => Buffer.from(label));
  if (bytes.some(label => label.length > MAX_LABEL_BYTES)) return null;
  return toHex(Buffer.concat([...bytes.flatMap(label => [Buffer.of(label.length), label]), Buffer.of(0)]));
}
