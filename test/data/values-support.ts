import { type Address, createPublicClient, type Hex, http, type PublicClient } from 'viem';
import type { ExplorerSchemas } from '../../src/contract/contracts/explorer.ts';
import { httpRpc, type Rpc } from '../../src/devnet/chain/rpc.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { type Answer, client } from '../support/contract-client.ts';
import { test as servedTest } from '../support/served-devnet.ts';

export type Transaction = ExplorerSchemas['Transaction'];
export type Block = ExplorerSchemas['Block'];
export type Transfer = ExplorerSchemas['TokenTransfer'];
export type Log = ExplorerSchemas['Log'];

/** A page in the form of every list in the contract. */
export interface PageOf<Item> {
  items: Item[];
  next_page_params: Record<string, string | number | null> | null;
}

/** The node of an embedded chain, asked directly. */
export interface Node {
  readonly viem: PublicClient;
  readonly rpc: Rpc;
}

export function nodeOf({ rpcUrl }: EmbeddedChain): Node {
  return { viem: createPublicClient({ transport: http(rpcUrl) }), rpc: httpRpc(rpcUrl) };
}

/** Reads bodies of operations. Their types are the contract's, which the client has just checked. */
export function explorerAt(url: string) {
  const { get } = client(url);
  return {
    get,
    transaction: (hash: string) => read<Transaction>(get, `/explorer/transactions/${hash}`),
    block: (id: string | number | bigint) => read<Block>(get, `/explorer/blocks/${id}`),
    list: <Item>(path: string) => read<Item[]>(get, path),
    page: <Item>(path: string) => read<PageOf<Item>>(get, path),
  };
}

async function read<Body>(get: (path: string) => Promise<Answer>, path: string): Promise<Body> {
  const { status, body } = await get(path);
  if (status !== 200) throw new Error(`${path} → ${status} ${JSON.stringify(body)}`);
  return retyped(body);
}

/** JSON.parse returns `any`: the round trip gives a checked body its type. */
function retyped<Body>(body: unknown): Body {
  return JSON.parse(JSON.stringify(body));
}

/** Sends `next_page_params` back, in one of the allowed ways. */
export type Walk = 'cursor' | 'keys' | 'everything';

/** Visits every page of a list, at most 100; `between` runs before each page but the first. */
export async function walk<Item>(
  url: string,
  path: string,
  how: Walk,
  between: (page: number) => Promise<void> = async () => {},
): Promise<Item[]> {
  const { page } = explorerAt(url);
  const items: Item[] = [];
  let target = path;
  for (let at = 0; at < 100; at += 1) {
    if (at > 0) await between(at);
    const { items: found, next_page_params: next } = await page<Item>(target);
    items.push(...found);
    if (next === null) return items;
    const handed = Object.entries(next).filter(([name]) =>
      how === 'everything' ? true : how === 'cursor' ? name === 'cursor' : name !== 'cursor',
    );
    const query = new URLSearchParams(
      Object.fromEntries(handed.map(([name, value]) => [name, String(value)])),
    );
    target = `${path}${path.includes('?') ? '&' : '?'}${query}`;
  }
  throw new Error(`${path} does not end`);
}

/** Every block of a chain with its transactions and receipts, from the node. */
export async function everything({ viem }: Node) {
  const head = await viem.getBlockNumber();
  const numbers = Array.from({ length: Number(head) + 1 }, (_, at) => BigInt(at));
  const blocks = await Promise.all(
    numbers.map(blockNumber => viem.getBlock({ blockNumber, includeTransactions: true })),
  );
  const transactions = blocks.flatMap(block => block.transactions);
  const receipts = await Promise.all(transactions.map(({ hash }) => viem.getTransactionReceipt({ hash })));
  return { blocks, transactions, receipts };
}

/** Address in the last bytes of a topic, in lower case. */
export function addressIn(topic: Hex | undefined): Address {
  return `0x${(topic ?? '').slice(-40)}`;
}

export type Seen = Awaited<ReturnType<typeof everything>>;
export type Explorer = ReturnType<typeof explorerAt>;

/** `test` with the shared served chain and its node's data. */
export const test = servedTest
  .extend('node', { scope: 'worker' }, ({ chain }): Node => nodeOf(chain))
  .extend('seen', { scope: 'worker' }, ({ node }): Promise<Seen> => everything(node))
  .extend('explorer', { scope: 'worker' }, ({ service }): Explorer => explorerAt(service.url));

/** The only item. @throws when there is none. */
export function only<Item>(items: readonly Item[]): Item {
  const [item] = items;
  if (item === undefined) throw new Error('there is none');
  return item;
}
