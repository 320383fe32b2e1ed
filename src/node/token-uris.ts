import { type Address, encodeFunctionData, erc721Abi, type Hex, numberToHex, parseAbi, size } from 'viem';
import { textOf, wordOf } from '../evm/call-result.ts';
import type { InstanceKey } from '../evm/token-id.ts';
import type { ChainClient } from './client.ts';
import { nodeAnswered } from './node-refusal.ts';

const ERC1155 = parseAbi(['function uri(uint256 id) view returns (string)']);

/** Longer URIs are nobody's metadata: a page may hold fifty of them. In bytes. Decision 43. */
const MAX_URI = 128 * 1024;
/** The ABI writes an offset and a length before a text, and fills up its last word. */
const ABI_OVERHEAD = 96;

/** As of which block, and until when the answer is wanted. */
export interface CallContext {
  blockNumber: number;
  signal: AbortSignal;
}

/**
 * The URI of each instance's metadata, in their order, from `tokenURI` or `uri`. `{id}` is replaced as ERC-1155 wants
 * it, by 64 hex digits. Null where the contract has none. All of them travel in one request.
 * @throws when the node cannot be reached, or when the signal aborts.
 */
export async function tokenUris(
  client: ChainClient,
  wanted: readonly InstanceKey[],
  context: CallContext,
): Promise<(string | null)[]> {
  if (wanted.length === 0) return [];
  await client.verify();
  return Promise.all(
    wanted.map(async ({ token, tokenId, type }) => {
      if (type === 'ERC-721') {
        const data = encodeFunctionData({ abi: erc721Abi, functionName: 'tokenURI', args: [tokenId] });
        return uriOf(await callAt(client, { to: token, data }, context));
      }
      const data = encodeFunctionData({ abi: ERC1155, functionName: 'uri', args: [tokenId] });
      const uri = uriOf(await callAt(client, { to: token, data }, context));
      const named = uri?.replaceAll('{id}', tokenId.toString(16).padStart(64, '0')) ?? null;
      return named === null || named.length > MAX_URI ? null : named;
    }),
  );
}

/** `ownerOf` of ERC-721; null when the contract knows no owner. @throws as `tokenUris` does. */
export async function ownerOf(
  client: ChainClient,
  { token, tokenId }: Pick<InstanceKey, 'token' | 'tokenId'>,
  context: CallContext,
): Promise<Address | null> {
  await client.verify();
  const data = encodeFunctionData({ abi: erc721Abi, functionName: 'ownerOf', args: [tokenId] });
  const word = wordOf(await callAt(client, { to: token, data }, context));
  return word === null || word === 0n || word >> 160n !== 0n
    ? null
    : `0x${word.toString(16).padStart(40, '0')}`;
}

/** What a call returns; null when the node says that it fails. @throws as `tokenUris` does. */
export async function callAt(
  { request }: ChainClient,
  { to, data }: { to: Address; data: Hex },
  { blockNumber, signal }: CallContext,
): Promise<Hex | null> {
  try {
    const params = [{ to, data }, numberToHex(blockNumber)] as const;
    return await request({ method: 'eth_call', params: [...params] }, { signal });
  } catch (error) {
    if (nodeAnswered(error)) return null;
    throw error;
  }
}

/** The URI in a call's result; null when there is none, or a text that is too long for one. */
export function uriOf(result: Hex | null): string | null {
  return result === null || size(result) > MAX_URI + ABI_OVERHEAD ? null : textOf(result);
}
