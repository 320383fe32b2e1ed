import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  erc721Abi,
  type Hex,
  parseAbi,
  prepareEncodeFunctionData,
} from 'viem';
import type { NftType } from './token-id.ts';

const ERC1155 = parseAbi([
  'function balanceOf(address account, uint256 id) view returns (uint256)',
  'function uri(uint256 id) view returns (string)',
]);

// Prepared once: computing the selector's hash takes longer than everything else.
const TOKEN_BALANCE = prepareEncodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf' });
const INSTANCE_BALANCE = prepareEncodeFunctionData({ abi: ERC1155, functionName: 'balanceOf' });
const INSTANCE_URI = prepareEncodeFunctionData({ abi: ERC1155, functionName: 'uri' });
const OWNER = prepareEncodeFunctionData({ abi: erc721Abi, functionName: 'ownerOf' });
const TOKEN_URI = prepareEncodeFunctionData({ abi: erc721Abi, functionName: 'tokenURI' });

/** Input of ERC-20's `balanceOf`, or of ERC-1155's when an id is given. */
export function balanceCall(holder: Address, tokenId: bigint | null): Hex {
  return tokenId === null
    ? encodeFunctionData({ ...TOKEN_BALANCE, args: [holder] })
    : encodeFunctionData({ ...INSTANCE_BALANCE, args: [holder, tokenId] });
}

/** Input of ERC-721's `ownerOf`. */
export function ownerCall(tokenId: bigint): Hex {
  return encodeFunctionData({ ...OWNER, args: [tokenId] });
}

/** Input of ERC-721's `tokenURI`, or of ERC-1155's `uri`. */
export function uriCall(type: NftType, tokenId: bigint): Hex {
  return type === 'ERC-721'
    ? encodeFunctionData({ ...TOKEN_URI, args: [tokenId] })
    : encodeFunctionData({ ...INSTANCE_URI, args: [tokenId] });
}
