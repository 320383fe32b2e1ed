import { type Address, encodeFunctionData, erc20Abi, numberToHex } from 'viem';
import { wordOf } from '../evm/call-result.ts';
import type { ChainClient } from './client.ts';
import { nodeAnswered } from './node-refusal.ts';

const data = encodeFunctionData({ abi: erc20Abi, functionName: 'totalSupply' });

/**
 * Supply of a token at the end of a block, in its smallest unit. Null when the contract does not say it, or the node
 * has thrown that state away.
 * @throws when the node cannot be reached.
 */
export async function totalSupplyAt(
  client: ChainClient,
  token: Address,
  blockNumber: number,
): Promise<bigint | null> {
  await client.verify();
  const params = [{ to: token, data }, numberToHex(blockNumber)] as const;
  const word = await client.request({ method: 'eth_call', params: [...params] }).catch((error: unknown) => {
    if (nodeAnswered(error)) return null;
    throw error;
  });
  return wordOf(word);
}
