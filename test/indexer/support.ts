import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  isHex,
} from 'viem';
import { type DatabaseOptions, openDatabase } from '../../src/db/open.ts';
import { rowsOf } from '../../src/db/query.ts';
import { type Accounts, deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { startChainProcess } from '../../src/devnet/chain/chain-process.ts';
import { findEngine } from '../../src/devnet/chain/engine.ts';
import { httpRpc, type Rpc } from '../../src/devnet/chain/rpc.ts';
import { gasOn } from '../../src/devnet/transaction.ts';
import { type ChainIndex, type IndexOptions, openIndex } from '../../src/indexer/index-service.ts';
import { indexOptions } from '../../src/indexer/schema/migrations/index-migrations.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { type ChainClient, createChainClient } from '../../src/node/client.ts';
import { type ChainKind, chainKind } from '../lab/chain-kind.ts';
import type { IndexedChain } from '../lab/data-service.ts';
import { PATIENCE_MS } from '../lab/until.ts';

export const CHAIN_ID = 31_337;
export const log = createLogger({ level: 'silent' });

/** The test chain as a data service configures it, with the node at `rpcUrl`. */
export function servedTestChain(rpcUrl: string, contracts: IndexedChain['contracts'] = []): IndexedChain {
  return { id: CHAIN_ID, name: 'test chain', rpcUrl, contracts, pids: { supervisor: 0, engine: 0 } };
}

/** A fresh folder, and a function that removes it. */
export async function temporaryFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'index-test-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

export function clientOf(rpcUrl: string, id: number = CHAIN_ID, maxAnswerBytes?: number): ChainClient {
  return createChainClient({ id, rpcUrls: [rpcUrl], timeoutMs: PATIENCE_MS, maxAnswerBytes, log });
}

type OpenTestIndex = Pick<IndexOptions, 'client'> &
  Partial<IndexOptions> &
  ({ file: string } | Pick<IndexOptions, 'database'>);

/** An index with test defaults, in an SQLite file or a database. */
export function openTestIndex(options: OpenTestIndex): Promise<ChainIndex> {
  const { database, file, ...others } = { database: undefined, file: '', ...options };
  return openIndex({
    database: database ?? { file },
    chain: { id: CHAIN_ID, confirmations: 12 },
    abis: [],
    clock: systemClock,
    log,
    ...others,
  });
}

export interface TestChain {
  rpcUrl: string;
  rpc: Rpc;
  client: ChainClient;
  accounts: Accounts;
  folder: string;
  /** Signs and sends without mining; `signed` can be passed to a later reorganisation. */
  send(
    from: number,
    transaction: { to?: Address; value?: bigint; data?: Hex; gas?: bigint },
  ): Promise<{ hash: Hex; signed: Hex }>;
  deploy(name: string, args: unknown[]): Promise<Deployed>;
  mine(): Promise<void>;
  /** Replaces the last `depth` blocks; each signed transaction goes into the block at its offset. */
  reorg(depth: number, transactions?: [signed: Hex, offset: number][]): Promise<void>;
  /** Removes the newest blocks without replacing them. */
  rollback(depth: number): Promise<void>;
  stop(): Promise<void>;
}

export interface Deployed {
  address: Address;
  abi: Abi;
  hash: Hex;
  call(functionName: string, args: unknown[]): { to: Address; data: Hex };
}

/** An empty chain that mines only on request. `genesisTime` in seconds. */
export async function startTestChain({
  genesisTime = 1_700_000_000,
  chainId = CHAIN_ID,
  engine = chainKind.engine,
  hardfork = chainKind.hardfork,
}: Partial<ChainKind> & {
  genesisTime?: number;
  chainId?: number;
} = {}): Promise<TestChain> {
  const { folder, remove } = await temporaryFolder();
  const process = await startChainProcess({
    engine: findEngine({ engine, hardfork }),
    chainId,
    hardfork,
    folder,
    genesisTime,
    isRunFolderDisposable: false,
  });
  const stop = async () => {
    await process.stop();
    await remove();
  };
  return testChainAt(process.rpcUrl, { chainId, hardfork, folder, stop });
}

/** A chain that runs already. */
export function testChainAt(
  rpcUrl: string,
  {
    chainId = CHAIN_ID,
    hardfork,
    folder,
    stop,
  }: { chainId?: number } & Pick<ChainKind, 'hardfork'> & Pick<TestChain, 'folder' | 'stop'>,
): TestChain {
  const rpc = httpRpc(rpcUrl);
  const accounts = deriveAccounts();
  const nonceOf = async (address: Address) =>
    Number(await rpc.call('eth_getTransactionCount', address, 'pending'));

  const send: TestChain['send'] = async (from, { gas = 3_000_000n, ...transaction }) => {
    const signer = accounts.signer(from);
    const signed = await signer.signTransaction({
      type: 'eip1559',
      chainId,
      nonce: await nonceOf(signer.address),
      gas: gasOn(hardfork, gas),
      maxFeePerGas: 10_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
      ...transaction,
    });
    const hash = await rpc.call('eth_sendRawTransaction', signed);
    if (!isHex(hash)) throw new Error('The node gave no transaction hash.');
    return { hash, signed };
  };

  return {
    rpcUrl,
    rpc,
    client: clientOf(rpcUrl, chainId),
    accounts,
    folder,
    send,
    async deploy(name, args) {
      const { abi, bytecode } = artifact(name);
      const from = accounts.signer(0).address;
      const address = getContractAddress({ from, nonce: BigInt(await nonceOf(from)) });
      const { hash } = await send(0, { data: encodeDeployData({ abi, bytecode, args }) });
      const call = (functionName: string, callArgs: unknown[]) => ({
        to: address,
        data: encodeFunctionData({ abi, functionName, args: callArgs }),
      });
      return { address, abi, hash, call };
    },
    async mine() {
      await rpc.call('evm_mine');
    },
    async rollback(depth) {
      await rpc.call('anvil_rollback', depth);
    },
    async reorg(depth, transactions = []) {
      await rpc.call('anvil_reorg', depth, transactions);
    },
    stop,
  };
}

export function artifact(name: string): { abi: Abi; bytecode: Hex } {
  const file = new URL(`../../generated/devnet/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** All visible content of the canonical chain, table by table, in one form for both databases. */
export async function canonicalContent(
  database: DatabaseOptions | string,
  chainId = CHAIN_ID,
): Promise<Record<string, unknown[]>> {
  const options = typeof database === 'string' ? { file: database } : indexOptions(database, chainId);
  const db = openDatabase(options.kind === 'postgres' ? options : { ...options, readonly: true });
  try {
    const content: Record<string, unknown[]> = {};
    for (const table of CANONICAL_TABLES) {
      const rows: object[] = await rowsOf(db, `select * from ${WITHOUT_NUMBERS[table] ?? table}`);
      content[table] = rows.map(comparable).sort();
    }
    return content;
  } finally {
    await db.destroy();
  }
}

/** A row as text; a value that one database stores in parts is one number. */
function comparable(row: object): string {
  const entries = Object.entries(row).map(([name, value]) => [
    name,
    name.endsWith('_parts') ? wholeOf(name, String(value)) : value,
  ]);
  return JSON.stringify(Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))));
}

function wholeOf(name: string, list: string): string {
  const parts = list.replaceAll(/[[\]"]/g, '').split(',');
  const base = ['supply_parts', 'fee_parts'].includes(name) ? 10n ** 10n : 2n ** 32n;
  return parts.reduce((sum, part) => sum * base + BigInt(part), 0n).toString();
}

/** What the numbers of rows stand for: numbers reflect the order in which an index learned of their keys. */
const WITHOUT_NUMBERS: Readonly<Record<string, string>> = {
  logs: `(select l.id, transaction_id, timestamp, l.address, l.topic0, topic1, topic2, topic3, data,
      k.address as kind_address, k.topic0 as kind_topic
    from logs l left join event_kinds k on k.id = l.kind) as numbered`,
  token_transfers: `(select x.id, transaction_id, log_index, batch_index, token, token_type, from_address, to_address,
      token_id, amount, t.address as numbered_token, f.address as numbered_from, r.address as numbered_to
    from token_transfers x join transfer_parties t on t.id = token_number
      join transfer_parties f on f.id = from_number join transfer_parties r on r.id = to_number) as numbered`,
};

const CANONICAL_TABLES = [
  'blocks',
  'block_details',
  'transactions',
  'transaction_details',
  'logs',
  'token_transfers',
  'internal_transactions',
  'withdrawals',
  'contracts',
  'tokens',
  'token_balances',
  'token_instances',
  // Their numbers reflect the order in which an index learned of them, which a reorganisation may change.
  '(select holder, type, token, token_id from holdings) as held',
  'transaction_counts',
  'address_counts',
  'addresses',
  'dirty',
  'totals',
  'block_sums',
  'days',
  'token_terms',
  'pairs',
  'pair_volumes',
];
