import { numberToHex } from 'viem';
import { text } from '#test/lab/json.ts';
import { startNode } from '../growth/canned-node.ts';
import { CHAIN_ID, largeChain, TOKEN_PREFIX } from './large-block.ts';

const WORD = numberToHex(10n ** 18n, { size: 32 });

/** Serves the node of a chain of large blocks, with receipts and traces by block. */
export async function serveLargeChain(blocks: number): Promise<{ url: string; close(): Promise<void> }> {
  const chain = largeChain(blocks);
  const blockAt = (number: number) => {
    const found = chain[number];
    if (found === undefined) throw new RangeError(`there is no block ${number}`);
    return found;
  };

  function answer(method: string, params: readonly unknown[]): unknown {
    const [first] = params;
    switch (method) {
      case 'eth_chainId':
        return numberToHex(CHAIN_ID);
      case 'eth_getBlockByNumber': {
        const { block } = blockAt(first === 'latest' ? blocks - 1 : Number(first));
        const hashes = () => block.transactions.map(({ hash }) => hash);
        return params[1] === true ? block : { ...block, transactions: hashes() };
      }
      case 'eth_getBlockReceipts':
        return blockAt(Number(first)).receipts;
      case 'trace_block':
        return blockAt(Number(first)).traces;
      case 'eth_getCode':
        return text(first).startsWith(TOKEN_PREFIX) ? '0x6080604052' : '0x';
      case 'eth_getBalance':
      case 'eth_call':
      case 'eth_getStorageAt':
        return WORD;
      default:
        return null;
    }
  }

  const node = await startNode(answer);
  return { url: node.url, close: async () => await node[Symbol.asyncDispose]() };
}
