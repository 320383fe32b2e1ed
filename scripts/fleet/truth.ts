import { isObject } from '#lib/json.ts';
import type { Reply } from '../../src/command/api/client.ts';
import type { FleetChain } from './chain.ts';

/** Compares answers with the chain. Each method returns the first difference, or undefined when there is none. */
export interface Truth {
  aboutBlock(height: number, answer: unknown): Promise<string | undefined>;
  aboutTransaction(hash: string, answer: unknown): Promise<string | undefined>;
}

/** Facts from the chain itself, not through the fleet's node. They are cached, because this chain has no reorgs. */
export function truth({ ask }: Pick<FleetChain, 'ask'>): Truth {
  const kept = new Map<string, Promise<Readonly<Record<string, string>>>>();

  const remember = (key: string, read: () => Promise<Readonly<Record<string, string>>>) => {
    const facts = kept.get(key) ?? read();
    kept.set(key, facts);
    return facts;
  };

  return {
    async aboutBlock(height, answer) {
      const facts = await remember(`block ${height}`, async () => {
        const block = recordOf(await ask('eth_getBlockByNumber', `0x${height.toString(16)}`, false));
        return {
          hash: textOf(block.hash),
          parent_hash: textOf(block.parentHash),
          height: String(height),
          transaction_count: String(Array.isArray(block.transactions) ? block.transactions.length : -1),
        };
      });
      return difference(`block ${height}`, facts, answer);
    },
    async aboutTransaction(hash, answer) {
      const facts = await remember(hash, async () => {
        const transaction = recordOf(await ask('eth_getTransactionByHash', hash));
        const receipt = recordOf(await ask('eth_getTransactionReceipt', hash));
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
export function bodyOf(reply: Reply<unknown>): unknown {
  return reply.kind === 'done' ? reply.body : undefined;
}
