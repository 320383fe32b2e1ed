import { isObject } from '#lib/json.ts';
import type { ApiReply } from '../../src/command/api/client.ts';
import type { FleetChain } from './chain.ts';

export interface ChainBlock {
  readonly chainId: number;
  readonly height: number;
}

export interface ChainTransaction {
  readonly chainId: number;
  readonly transactionHash: string;
}

/** Compares answers with the chains. Each method returns the first difference, or undefined when there is none. */
export interface Truth {
  aboutBlock(block: ChainBlock, answer: unknown): Promise<string | undefined>;
  aboutTransaction(transaction: ChainTransaction, answer: unknown): Promise<string | undefined>;
}

/** Path of a block in the data API. */
export function pathOfBlock({ chainId, height }: ChainBlock): string {
  return `/explorer/blocks/${height}?chain_id=${chainId}`;
}

/** Path of a transaction in the data API. */
export function pathOfTransaction({ chainId, transactionHash }: ChainTransaction): string {
  return `/explorer/transactions/${transactionHash}?chain_id=${chainId}`;
}

/** Facts from the chains themselves, not through the fleet's nodes. They are cached, because there are no reorgs. */
export function truth(chains: readonly Pick<FleetChain, 'id' | 'ask'>[]): Truth {
  const kept = new Map<string, Promise<Readonly<Record<string, string>>>>();

  const remember = (key: string, read: () => Promise<Readonly<Record<string, string>>>) => {
    const facts = kept.get(key) ?? read();
    kept.set(key, facts);
    return facts;
  };

  const askChain = async (chainId: number, method: string, ...params: readonly unknown[]) =>
    recordOf(await chains.find(({ id }) => id === chainId)?.ask(method, ...params));

  return {
    async aboutBlock({ chainId, height }, answer) {
      const name = `block ${height} of chain ${chainId}`;
      const facts = await remember(name, async () => {
        const block = await askChain(chainId, 'eth_getBlockByNumber', `0x${height.toString(16)}`, false);
        return {
          hash: textOf(block.hash),
          parent_hash: textOf(block.parentHash),
          height: String(height),
          transaction_count: String(Array.isArray(block.transactions) ? block.transactions.length : -1),
        };
      });
      return difference(name, facts, answer);
    },
    async aboutTransaction({ chainId, transactionHash: hash }, answer) {
      const facts = await remember(hash, async () => {
        const transaction = await askChain(chainId, 'eth_getTransactionByHash', hash);
        const receipt = await askChain(chainId, 'eth_getTransactionReceipt', hash);
        return {
          hash,
          block_number: String(Number(receipt.blockNumber)),
          from: textOf(transaction.from),
          to: textOf(transaction.to),
          value: String(BigInt(textOf(transaction.value))),
          status: receipt.status === '0x1' ? 'ok' : 'error',
        };
      });
      return difference(hash, facts, answer);
    },
  };
}

function difference(
  name: string,
  facts: Readonly<Record<string, string>>,
  answer: unknown,
): string | undefined {
  if (!isObject(answer)) return `${name}: the answer is no record`;
  const wrong = Object.entries(facts).filter(
    ([field, fact]) => plain(answer[field]).toLowerCase() !== fact.toLowerCase(),
  );
  const [first] = wrong;
  return first && `${name}: ${first[0]} is ${plain(answer[first[0]])}, on the chain ${first[1]}`;
}

/** Text of a value. An address is a record, and its text is its hash. */
function plain(value: unknown): string {
  return String(isObject(value) ? value.hash : value);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new Error('the chain does not know it');
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new Error(`the chain has no text, but ${String(value)}`);
  return value;
}

/** Body of a successful answer. */
export function bodyOf(reply: ApiReply<unknown>): unknown {
  return reply.kind === 'done' ? reply.body : undefined;
}

/** True for a successful answer from a cache, sent because no back end could answer. */
export function isStale(reply: ApiReply<unknown>): boolean {
  return reply.kind === 'done' && reply.headers.get('x-cache') === 'STALE';
}
