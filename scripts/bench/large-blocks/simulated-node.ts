import {
  bytesToHex,
  decodeFunctionData,
  encodeFunctionResult,
  type Hex,
  multicall3Abi,
  numberToHex,
} from 'viem';
import { computedBloom } from '#evm/proofs/receipt-encoding.ts';
import type { RpcLog } from '#evm/rpc.ts';
import { CHAIN_ID, type LargeBlock } from './large-block.ts';

/** A node whose newest block is the one of a time, and which counts calls and the bytes of its answers. */
export function simulatedNode(chain: readonly LargeBlock[], hasMulticall: boolean) {
  const numbers = new Map(chain.map(({ block }, number) => [`${block.hash}`, number]));
  const calls = new Map<string, number>();
  let newest = 0;
  let bytes = 0;

  const shown = (number: number) => (number <= newest ? chain[number] : undefined);
  const numberOf = (value: unknown) => numbers.get(String(value)) ?? Number(value);

  function blockOf(found: LargeBlock | undefined, isFull: unknown): unknown {
    if (found === undefined || isFull === true) return found?.block ?? null;
    return { ...found.block, transactions: found.block.transactions.map(({ hash }) => hash) };
  }

  /** Receipts as nodes send them, with fields that the chain of the benches leaves out. */
  function receiptsOf({ block, receipts }: LargeBlock) {
    return receipts.map((receipt, index) => ({
      ...receipt,
      logsBloom: bytesToHex(computedBloom(receipt.logs)),
      from: block.transactions[index]?.from,
      to: block.transactions[index]?.to,
      contractAddress: null,
      transactionIndex: numberToHex(index),
      type: '0x2',
      logs: receipt.logs.map(log => placed(log, receipt)),
    }));
  }

  function logsOf({ fromBlock, toBlock, blockHash, address, topics = [] }: LogFilter): unknown[] {
    const [first, last] = [numberOf(blockHash ?? fromBlock), numberOf(blockHash ?? toBlock)];
    const tokens = new Set([address].flat());
    const recipients = new Set(topics[2]);
    return chain
      .slice(first, Math.min(last, newest) + 1)
      .flatMap(one => receiptsOf(one).flatMap(({ logs }) => logs))
      .filter(
        log => tokens.has(log.address) && (topics[2] === undefined || recipients.has(`${log.topics[2]}`)),
      );
  }

  function resultOf(method: string, [first, second]: readonly unknown[]): unknown {
    switch (method) {
      case 'eth_chainId':
        return numberToHex(CHAIN_ID);
      case 'eth_blockNumber':
        return numberToHex(newest);
      case 'eth_getBlockByNumber':
        return blockOf(shown(first === 'latest' ? newest : Number(first)), second);
      case 'eth_getBlockByHash':
        return blockOf(shown(numberOf(first)), second);
      case 'eth_getBlockReceipts': {
        const found = shown(numberOf(first));
        return found === undefined ? null : receiptsOf(found);
      }
      case 'eth_getTransactionReceipt': {
        const found = chain.find(({ receipts }) => receipts.some(one => one.transactionHash === first));
        return found === undefined ? null : receiptsOf(found).find(one => one.transactionHash === first);
      }
      case 'eth_getLogs':
        return logsOf(Object(first));
      case 'trace_block':
        return shown(Number(first))?.traces ?? null;
      case 'eth_getTransactionCount':
      case 'eth_getBalance':
        return '0x0';
      case 'eth_call':
        return hasMulticall ? noBalances(Object(first).data) : '0x';
      default:
        throw new Error(`the simulated node does not know ${method}`);
    }
  }

  return {
    answer(method: string, params: readonly unknown[]): unknown {
      const result = resultOf(method, params);
      calls.set(method, (calls.get(method) ?? 0) + 1);
      bytes += JSON.stringify(result ?? null).length;
      return result;
    },
    showAt(time: number): void {
      newest = chain.findLastIndex(({ block }) => Number(block.timestamp) * 1_000 <= time);
    },
    traffic: () => ({ calls: [...calls.values()].reduce((sum, count) => sum + count, 0), bytes }),
    /** Methods that were called, the most frequent first. */
    methods: () =>
      [...calls]
        .toSorted(([, a], [, b]) => b - a)
        .map(([name, count]) => `${name} ${count}`)
        .join(', '),
  };
}

/** Answer of Multicall3 to a call that reads balances of empty addresses. */
function noBalances(data: Hex): Hex {
  const { args } = decodeFunctionData({ abi: multicall3Abi, data });
  const empty = { success: true, returnData: numberToHex(0, { size: 32 }) };
  const result = Array.from({ length: args?.[0]?.length ?? 0 }, () => empty);
  return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result });
}

interface LogFilter {
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly blockHash?: string;
  readonly address?: string | readonly string[];
  readonly topics?: readonly (readonly string[] | string | null)[];
}

function placed(log: RpcLog, { blockHash, blockNumber, transactionHash }: object & Placed) {
  return { ...log, blockHash, blockNumber, transactionHash, removed: false };
}

interface Placed {
  readonly blockHash?: unknown;
  readonly blockNumber?: unknown;
  readonly transactionHash?: unknown;
}
