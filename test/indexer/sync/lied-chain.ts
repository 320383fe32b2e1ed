import { expect, onTestFinished } from 'vitest';
import type { DatabaseOptions } from '#db/open.ts';
import { KEYS_PER_BLOCK } from '#indexer/schema/block-position.ts';
import { createChainClient } from '#node/client.ts';
import type { ChainKind } from '../../lab/chain-kind.ts';
import { faultyNode } from '../../lab/faulty-node.ts';
import { FORK_MARK } from '../../lab/lies/false-fork.ts';
import type { NodeLie } from '../../lab/lies/node-lies.ts';
import { PATIENCE_MS, until } from '../../lab/until.ts';
import type { TestDatabases } from '../../support/databases.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { CHAIN_ID, canonicalContent, clientOf, log, openTestIndex, startTestChain } from '../support.ts';

/** Block about which nodes lie, and the newest one. */
const BLOCK = 2;
const HEAD = 3;
/** Longer than a node is left out, and than it takes until one that is behind is asked last. */
const LATER_MS = 10 * 60_000;
/** Kinds of lies about a block that may be stored, and not as proven. */
const MAKES_UNPROVEN: readonly NodeLie['kind'][] = ['header', 'hash', 'receipt'];
/** Runs after which an index has left a fork. */
const RUNS = 4;

/** That block: four transactions, and the positions of those with a log. On Amsterdam coins have one too. */
export function liedBlock({ hardfork }: Pick<ChainKind, 'hardfork'>) {
  return { transactions: 4, logs: hardfork === 'amsterdam' ? [0, 1, 2, 3] : [0, 1, 3] };
}

export type LiedChain = Awaited<ReturnType<typeof startLiedChain>>;

/** Starts a chain with that block, and indexes it through an honest node. */
export async function startLiedChain(kind: ChainKind) {
  const chain = await startTestChain(kind);
  const token = await chain.deploy('StableToken', ['Dollar', 'USD']);
  await chain.mine();
  const [owner, other] = [chain.accounts.signer(0).address, chain.accounts.signer(2).address];
  await chain.send(0, token.call('mint', [owner, 1_000n]));
  await chain.send(0, token.call('transfer', [other, 7n]));
  await chain.send(1, { to: other, value: 5n });
  await chain.send(0, token.call('transfer', [other, 8n]));
  await chain.mine();
  await chain.send(0, token.call('transfer', [other, 9n]));
  await chain.mine();
  const file = `${chain.folder}/plain.sqlite`;
  const index = await openTestIndex({ file, client: clientOf(chain.rpcUrl) });
  await index.runOnce().finally(() => index.stop());
  return { ...chain, content: await canonicalContent(file), truth: await provenBlocks({ file }) };
}

/**
 * Expects that an index whose only node tells the lie stores nothing as proven that is false, says what it waits for,
 * and has the blocks of the chain once the node is honest again.
 */
export async function expectNoLieOf(lie: NodeLie, chain: LiedChain, databases: TestDatabases): Promise<void> {
  const index = await openBehind(lie, chain, { databases, isAlone: true });
  await index.runOnce().catch(() => undefined);

  const stored = await index.reader.blockByNumberOrHash(BLOCK);
  const { contradicting } = index.proofs.status();
  if (lie.kind === 'contents') {
    expect(stored).toBeNull();
    expect(contradicting).toMatchObject([{ node: '127.0.0.1', block: BLOCK }]);
    expect(index.warning()).toMatch(
      /^the index of chain 31337 waits at block 2: The node contradicts.{1,300}$/,
    );
  } else if (lie.kind !== 'receipt') {
    expect(contradicting).toEqual([]);
  }
  if (MAKES_UNPROVEN.includes(lie.kind)) expect(stored?.isProven ?? false).toBe(false);
  expect(await index.falseBlocks()).toEqual([]);

  await index.turnHonest();

  expect(await index.falseBlocks()).toEqual([]);
  expect(index.status().head).toBe(HEAD);
  if (stored === null) expect(index.proofs.status().provenShare).toBe(1);
}

/** Expects that an index with an honest node next to one that tells the lie has the whole chain, proven. */
export async function expectWholeChain(
  lie: NodeLie,
  chain: LiedChain,
  databases: TestDatabases,
): Promise<void> {
  const index = await openBehind(lie, chain, { databases, isAlone: false });
  await index.runOnce();

  expect(await index.falseBlocks()).toEqual([]);
  // Equally many nodes name each of two forks, so that none can be preferred.
  if (lie.kind !== 'fork' && lie.kind !== 'mixture') {
    const isNamed = lie.kind === 'contents' || lie.kind === 'header';
    if (lie.kind !== 'receipt')
      expect(index.proofs.status().contradicting).toMatchObject(
        isNamed ? [{ node: '127.0.0.1', block: BLOCK }] : [],
      );
    await until(
      async () => {
        index.clock.advance(LATER_MS);
        await index.runOnce();
        return index.status().head;
      },
      head => head === HEAD,
    );
    expect(index.proofs.status().provenShare).toBe(1);
    expect(index.warning()).toBeUndefined();
  }

  await index.turnHonest();

  expect(index.proofs.status().provenShare).toBe(1);
  expect(await canonicalContent(index.database)).toEqual(chain.content);
}

/** Opens an index over a node that tells the lie about the block, and an honest one as well unless `isAlone`. */
async function openBehind(
  { about }: NodeLie,
  { rpcUrl, truth }: LiedChain,
  { databases, isAlone }: { databases: TestDatabases; isAlone: boolean },
) {
  const node = await faultyNode(rpcUrl);
  onTestFinished(() => node[Symbol.asyncDispose]());
  node.tell(about({ from: BLOCK, to: BLOCK }));
  const clock = manualClock();
  const honest = rpcUrl.replace('127.0.0.1', 'localhost');
  const rpcUrls = isAlone ? [node.url] : [node.url, honest];
  const database = await databases.create('index');
  const client = createChainClient({ id: CHAIN_ID, rpcUrls, timeoutMs: PATIENCE_MS, clock, log });
  const index = await openTestIndex({ database, client, clock });
  onTestFinished(() => index.stop());
  return {
    ...index,
    clock,
    database,
    /** Proven blocks whose contents are not those of their hash, on the chain or on the false fork. */
    async falseBlocks(): Promise<readonly unknown[]> {
      const stored = await provenBlocks(database);
      return [...stored].filter(([number, one]) => !isFork(one) && one !== truth.get(number));
    },
    async turnHonest(): Promise<void> {
      node.tell(undefined);
      clock.advance(LATER_MS);
      for (let runs = 0; runs < RUNS; runs += 1) await index.runOnce();
    },
  };
}

/** Columns that the hash of a block commits to. */
const COMMITTED = {
  blocks: [
    'number',
    'hash',
    'parent_hash',
    'timestamp',
    'gas_used',
    'gas_limit',
    'miner',
    'extra_data',
    'state_root',
  ],
  transactions: ['id', 'hash', 'type', 'status', 'to_address', 'value', 'nonce', 'input'],
  logs: ['id', 'transaction_id', 'address', 'topic0', 'topic1', 'topic2', 'topic3', 'data'],
  withdrawals: ['id', 'withdrawal_index', 'address', 'amount'],
} as const;

/** What the hashes of proven blocks commit to, as text, by the number of the block. */
async function provenBlocks(database: DatabaseOptions): Promise<ReadonlyMap<number, string>> {
  const content = await canonicalContent(database);
  const rowsIn = (table: string): StoredRow[] => (content[table] ?? []).map(row => JSON.parse(String(row)));
  const committed = (table: keyof typeof COMMITTED, rows: StoredRow[]) =>
    rows.map(row => COMMITTED[table].map(column => row[column]));
  const ofBlock = (table: keyof typeof COMMITTED, number: number) =>
    committed(
      table,
      rowsIn(table).filter(({ id }) => Math.floor(Number(id) / KEYS_PER_BLOCK) === number),
    );
  return new Map(
    rowsIn('blocks')
      .filter(({ proven }) => Number(proven) === 1)
      .map(block => {
        const number = Number(block.number);
        const parts = (['transactions', 'logs', 'withdrawals'] as const).map(table => ofBlock(table, number));
        return [number, JSON.stringify([...committed('blocks', [block]), ...parts])];
      }),
  );
}

type StoredRow = Readonly<Record<string, unknown>>;

/** True for an empty block of the false fork. */
function isFork(block: string): boolean {
  const [header, ...parts] = JSON.parse(block);
  const mark = Buffer.from(FORK_MARK.slice(2), 'hex');
  const extraData = header[COMMITTED.blocks.indexOf('extra_data')];
  return Buffer.from(extraData).equals(mark) && parts.flat().length === 0;
}
