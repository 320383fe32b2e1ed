import { type Address, encodeFunctionData, erc20Abi, type Hex, numberToHex, parseAbi, size } from 'viem';
import { textOf, wordOf } from '../evm/call-result.ts';
import { ownerCall, uriCall } from '../evm/contract-calls.ts';
import type { InstanceKey, NftType } from '../evm/token-id.ts';
import { type ChainClient, nullIfAnswered } from './client.ts';

/** Maximum length of a metadata URI in bytes, since a page may hold fifty. Long URIs are dropped (Decision 43). */
const MAX_URI = 128 * 1024;
/** ABI encoding adds an offset and a length before a text, and pads its last word. */
const ABI_OVERHEAD = 96;

/** Block to read at, and the signal that cancels the read. */
interface CallContext {
  blockNumber: number;
  signal: AbortSignal;
}

/**
 * Returns the metadata URI of each NFT, in their order, from `tokenURI` or `uri`. `{id}` is replaced by 64 hex digits,
 * as ERC-1155 requires. Null when the contract has none. All reads share one request.
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
      const uri = uriOf(await callAt(client, { to: token, data: uriCall(type, tokenId) }, context));
      if (type === 'ERC-721') return uri;
      const named = uri?.replaceAll('{id}', tokenId.toString(16).padStart(64, '0')) ?? null;
      return named === null || named.length > MAX_URI ? null : named;
    }),
  );
}

/** Calls `ownerOf` of ERC-721; null when the contract reports no owner. @throws as `tokenUris` does. */
export async function ownerOf(
  client: ChainClient,
  { token, tokenId }: Pick<InstanceKey, 'token' | 'tokenId'>,
  context: CallContext,
): Promise<Address | null> {
  await client.verify();
  const word = wordOf(await callAt(client, { to: token, data: ownerCall(tokenId) }, context));
  return word === null || word === 0n || word >> 160n !== 0n
    ? null
    : `0x${word.toString(16).padStart(40, '0')}`;
}

/** Result of a call; null when the node reports that it failed. @throws as `tokenUris` does. */
async function callAt(
  { request }: ChainClient,
  { to, data }: { to: Address; data: Hex },
  { blockNumber, signal }: CallContext,
): Promise<Hex | null> {
  const params = [{ to, data }, numberToHex(blockNumber)] as const;
  return request({ method: 'eth_call', params: [...params] }, { signal }).catch(nullIfAnswered);
}

/** URI in a call's result; null when there is none or it is too long. */
function uriOf(result: Hex | null): string | null {
  return result === null || size(result) > MAX_URI + ABI_OVERHEAD ? null : textOf(result);
}

const NFT_CONTRACT = parseAbi([
  'function supportsInterface(bytes4 id) view returns (bool)',
  'function contractURI() view returns (string)',
]);

/** Interface ids of ERC-721 and ERC-1155, and the id that no contract may support according to ERC-165. */
const INTERFACES = { 'ERC-721': '0x80ac58cd', 'ERC-1155': '0xd9b67a26', none: '0xffffffff' } as const;

/**
 * NFT standard that a contract reports (ERC-165); null for anything else.
 * @throws when the node cannot be reached, or when the signal aborts.
 */
export async function nftStandard(
  client: ChainClient,
  address: Address,
  context: CallContext,
): Promise<NftType | null> {
  await client.verify();
  const supports = async (id: (typeof INTERFACES)[keyof typeof INTERFACES]) => {
    const data = encodeFunctionData({ abi: NFT_CONTRACT, functionName: 'supportsInterface', args: [id] });
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

/** URI of a contract's own metadata (ERC-7572); null when it has none. @throws as `nftStandard` does. */
export async function contractUri(
  client: ChainClient,
  address: Address,
  context: CallContext,
): Promise<string | null> {
  await client.verify();
  const data = encodeFunctionData({ abi: NFT_CONTRACT, functionName: 'contractURI' });
  return uriOf(await callAt(client, { to: address, data }, context));
}

const TOTAL_SUPPLY = encodeFunctionData({ abi: erc20Abi, functionName: 'totalSupply' });

/**
 * Total supply of a token at the end of a block, in its smallest unit. Null when the contract does not report it or the
 * node has pruned that state.
 * @throws when the node cannot be reached.
 */
export async function totalSupplyAt(
  client: ChainClient,
  token: Address,
  blockNumber: number,
): Promise<bigint | null> {
  await client.verify();
  const params = [{ to: token, data: TOTAL_SUPPLY }, numberToHex(blockNumber)] as const;
  const word = await client.request({ method: 'eth_call', params: [...params] }).catch(nullIfAnswered);
  return wordOf(word);
}
