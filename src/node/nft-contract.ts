import { type Address, encodeFunctionData, parseAbi } from 'viem';
import { wordOf } from '../evm/call-result.ts';
import type { NftType } from '../evm/token-id.ts';
import type { ChainClient } from './client.ts';
import { type CallContext, callAt, uriOf } from './token-uris.ts';

const ABI = parseAbi([
  'function supportsInterface(bytes4 id) view returns (bool)',
  'function contractURI() view returns (string)',
]);

/** Identifiers from ERC-721, ERC-1155, and the one that ERC-165 says nobody supports. */
const INTERFACES = { 'ERC-721': '0x80ac58cd', 'ERC-1155': '0xd9b67a26', none: '0xffffffff' } as const;

/**
 * The standard that a contract says it keeps (ERC-165); null for anything else.
 * @throws when the node cannot be reached, or when the signal aborts.
 */
export async function nftStandard(
  client: ChainClient,
  address: Address,
  context: CallContext,
): Promise<NftType | null> {
  await client.verify();
  const supports = async (id: (typeof INTERFACES)[keyof typeof INTERFACES]) => {
    const data = encodeFunctionData({ abi: ABI, functionName: 'supportsInterface', args: [id] });
    return wordOf(await callAt(client, { to: address, data }, context)) === 1n;
  };
  const [isErc721, isErc1155, isAnything] = await Promise.all([
    supports(INTERFACES['ERC-721']),
    supports(INTERFACES['ERC-1155']),
    supports(INTERFACES.none),
  ]);
  if (isAnything) return null;
  return isErc721 ? 'ERC-721' : isErc1155 ? 'ERC-1155' : null;
}

/** Where a contract describes itself (ERC-7572); null when it does not. @throws as `nftStandard` does. */
export async function contractUri(
  client: ChainClient,
  address: Address,
  context: CallContext,
): Promise<string | null> {
  await client.verify();
  const data = encodeFunctionData({ abi: ABI, functionName: 'contractURI' });
  return uriOf(await callAt(client, { to: address, data }, context));
}
