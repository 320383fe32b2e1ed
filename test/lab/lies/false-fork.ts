import { keccak256 } from 'viem';
import { encodedHeader } from '#evm/proofs/header-encoding.ts';
import type { RpcBlock } from '#evm/rpc.ts';
import { isObject } from '#lib/json.ts';
import type { Lie, RealNode } from '../faulty-node.ts';
import {
  type Entry,
  hex,
  isIn,
  type LieAbout,
  type LiedAbout,
  listOf,
  numberOf,
  only,
} from './changed-answers.ts';

/** Root of an empty trie. Source: yellow paper, appendix D. */
const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
const NO_CONTENTS: Entry = {
  transactions: [],
  transactionsRoot: EMPTY_ROOT,
  receiptsRoot: EMPTY_ROOT,
  logsBloom: `0x${'00'.repeat(256)}`,
  gasUsed: '0x0',
  // As "fork", so that a block of the fork differs from an empty one of the chain.
  extraData: '0x666f726b',
};

/** True for the block of a false fork, as an index stores its extra data. */
export const FORK_MARK = `${NO_CONTENTS.extraData}`;

/**
 * Answers of a node that follows another fork from a block on: its blocks have no transactions, their hashes are true and
 * each names the one before. Only the nodes of the chain can say which fork is the chain.
 */
export function falseFork({ from }: LiedAbout): Lie {
  const blocks = { from, to: Number.POSITIVE_INFINITY };
  const forked = new Map<string, Promise<RpcBlock>>();
  /** Numbers of the blocks of the fork by their hashes. */
  const numbers = new Map<string, number>();

  /** Block of the fork in place of one of the chain. */
  function inPlaceOf(block: RpcBlock, node: RealNode): Promise<RpcBlock> {
    const known = forked.get(`${block.hash}`);
    const found = known ?? emptied(block, node);
    forked.set(`${block.hash}`, found);
    return found;
  }

  async function emptied(block: RpcBlock, node: RealNode): Promise<RpcBlock> {
    const parent = isIn(blocks, hex(Number(block.number) - 1))
      ? await inPlaceOf(blockOf(await node.ask('eth_getBlockByHash', block.parentHash, false)), node)
      : undefined;
    const header = blockOf({ ...block, ...NO_CONTENTS, parentHash: parent?.hash ?? block.parentHash });
    const hash = keccak256(encodedHeader(header));
    numbers.set(hash, Number(block.number));
    return { ...header, hash };
  }

  return async ({ method, params = [] }, answer, node) => {
    const [first, second] = params;
    switch (method) {
      case 'eth_getBlockByNumber':
        return isOfFork(answer) ? await inPlaceOf(blockOf(answer), node) : undefined;
      case 'eth_getBlockByHash': {
        const number = numbers.get(String(first));
        if (number === undefined) return isOfFork(answer) ? null : undefined;
        const block = await node.ask('eth_getBlockByNumber', hex(number), second);
        return isObject(block) ? await inPlaceOf(blockOf(block), node) : null;
      }
      case 'eth_getBlockReceipts':
      case 'trace_block':
        return Array.isArray(answer) && isIn(blocks, first) ? [] : undefined;
      case 'eth_getTransactionReceipt':
      case 'eth_getTransactionByHash':
        return isIn(blocks, numberOf(answer)) ? null : undefined;
      case 'eth_getLogs':
        return listOf(answer).filter(log => !isIn(blocks, numberOf(log)));
      default:
        return undefined;
    }
  };

  function isOfFork(answer: unknown): boolean {
    return isObject(answer) && isIn(blocks, Object(answer).number);
  }
}

/** Two forks behind one address, which take turns by HTTP request or by call. */
export function mixedForks(by: 'request' | 'call'): LieAbout {
  return blocks => {
    const fork = falseFork(blocks);
    let calls = 0;
    return (call, answer, node) => {
      calls += 1;
      return (by === 'call' ? calls : node.request) % 2 === 0 ? fork(call, answer, node) : undefined;
    };
  };
}

/** Another fork in answers of some methods only. */
export function partOfFork(methods: readonly string[]): LieAbout {
  return only(methods, falseFork);
}

function blockOf(value: unknown): RpcBlock {
  return Object(value);
}
