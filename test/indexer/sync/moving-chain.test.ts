import { join } from 'node:path';
import { type Address, numberToHex } from 'viem';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { ChainIndex, IndexOptions } from '#indexer/index-service.ts';
import { createLogger } from '#lib/logger.ts';
import { callsInLoop, deployCode, times } from '../hostile-contracts.ts';
import { startNodeProxy } from '../node-proxy.ts';
import {
  canonicalContent,
  clientOf,
  type Deployed,
  openTestIndex,
  startTestChain,
  type TestChain,
} from '../support.ts';

const CONFIRMATIONS = 3;

let chain: TestChain;
let token: Deployed;
let files = 0;

beforeAll(async () => {
  chain = await startTestChain();
  token = await chain.deploy('StableToken', ['Dollar', 'USD']);
  await chain.mine();
  for (const holder of [0, 1, 2]) await chain.send(0, token.call('mint', [addressOf(holder), 1_000n]));
  await chain.mine();
});

afterAll(() => chain.stop());

function addressOf(account: number): Address {
  return chain.accounts.signer(account).address;
}

async function headOf({ rpc } = chain): Promise<number> {
  return Number(await rpc.call('eth_blockNumber'));
}

/** An index in a new file, or in the one that is named, of the chain or of another node. */
async function opened({ file, rpcUrl, ...options }: Partial<OpenOptions> = {}) {
  files += 1;
  const path = file ?? join(chain.folder, `moving-${files}.sqlite`);
  const index = await openTestIndex({
    chain: { id: chain.client.id, confirmations: CONFIRMATIONS },
    ...options,
    file: path,
    client: clientOf(rpcUrl ?? chain.rpcUrl),
  });
  onTestFinished(() => index.stop());
  return { index, file: path };
}

type OpenOptions = { file: string; rpcUrl: string } & Pick<IndexOptions, 'log' | 'hasRoom' | 'fromBlock'>;

/** Content of an index that knows only the chain as it is now. */
async function freshContent(rpcUrl = chain.rpcUrl) {
  const { index, file } = await opened({ rpcUrl });
  await index.runOnce();
  return canonicalContent(file);
}

async function transferBlock(amount: bigint) {
  const sent = await chain.send(1, token.call('transfer', [addressOf(2), amount]));
  await chain.mine();
  return sent;
}

const staleBlocks = async ({ reader }: ChainIndex) =>
  (await reader.blocks({ kind: 'reorg', limit: 10 })).items.map(({ number }) => number);

/**
 * A node that hides its blocks above a limit, and changes the parent of the block `torn` the next times that it shows its transactions. `looks`
 * counts the questions for its head.
 */
async function hidingNode() {
  const state = { limit: Number.POSITIVE_INFINITY, torn: -1, times: 0 };
  const proxy = await startNodeProxy(chain.rpcUrl, {
    async change(method, result) {
      if (method !== 'eth_getBlockByNumber' || result === null) return result;
      const { number: hex, transactions } = Object(result);
      const number = Number(hex);
      if (number > state.limit) return chain.rpc.call(method, numberToHex(state.limit), false);
      const isWhole = typeof transactions[0] === 'object';
      if (number !== state.torn || !isWhole || state.times === 0) return result;
      state.times -= 1;
      return { ...Object(result), parentHash: numberToHex(1, { size: 32 }) };
    },
  });
  onTestFinished(() => proxy.stop());
  const looks = () => proxy.calls.filter(({ params }) => params?.[0] === 'latest').length;
  return { state, rpcUrl: proxy.rpcUrl, looks };
}

test('blocks that were replaced leave nothing behind, and one run reads the new ones', async () => {
  const { index, file } = await opened();
  const before = await headOf();
  await transferBlock(10n);
  await transferBlock(11n);
  await index.runOnce();

  await chain.reorg(2);
  await transferBlock(12n);
  const written = await index.runOnce();

  expect(written).toBe(3);
  expect(index.status()).toMatchObject({ head: before + 3, complete: true });
  expect(index.epoch()).toBe(0);
  expect(await staleBlocks(index)).toEqual([before + 2, before + 1]);
  expect(await canonicalContent(file)).toEqual(await freshContent());
});

test('a node that only lags is not followed, and one that stays behind is after three looks', async () => {
  const node = await hidingNode();
  const { index, file } = await opened({ rpcUrl: node.rpcUrl });
  await transferBlock(20n);
  const head = await headOf();
  await index.runOnce();

  node.state.limit = head - 1;
  const heads = [];
  for (let look = 0; look < 3; look += 1) {
    await index.runOnce();
    heads.push(index.status().head);
  }
  node.state.limit = head - 2;
  for (let look = 0; look < 3; look += 1) {
    await index.runOnce();
    heads.push(index.status().head);
  }
  const whileBehind = await staleBlocks(index);
  const content = await canonicalContent(file);
  const behind = await freshContent(node.rpcUrl);
  node.state.limit = Number.POSITIVE_INFINITY;
  await index.runOnce();

  expect(heads).toEqual([head, head, head - 1, head - 1, head - 1, head - 2]);
  expect(whileBehind).toEqual([head, head - 1]);
  expect(content).toEqual(behind);
  expect(index.status().head).toBe(head);
  expect(await staleBlocks(index)).toEqual([]);
  expect(await canonicalContent(file)).toEqual(await freshContent());
});

test('a node that reads its chain again from the start is not followed', async () => {
  await chain.rpc.call('anvil_mine', numberToHex(66));
  const node = await hidingNode();
  const { index } = await opened({ rpcUrl: node.rpcUrl });
  await index.runOnce();
  const head = await headOf();

  node.state.limit = head - 65;
  for (let look = 0; look < 4; look += 1) await index.runOnce();

  expect(index.status()).toMatchObject({ head, nodeHead: head - 65 });
});

test('a run asks once for the head of the node', async () => {
  const node = await hidingNode();
  const { index } = await opened({ rpcUrl: node.rpcUrl });

  await index.runOnce();
  await index.runOnce();

  expect(node.looks()).toBe(2);
});

test('blocks that do not follow one another are read again in the same run, and are no reorganisation', async () => {
  const lines: string[] = [];
  const node = await hidingNode();
  node.state.limit = await headOf();
  const { index, file } = await opened({
    rpcUrl: node.rpcUrl,
    log: createLogger({ level: 'warn', destination: { write: line => void lines.push(line) } }),
  });
  await index.runOnce();
  for (const amount of [1n, 2n, 3n]) await transferBlock(amount);

  Object.assign(node.state, { torn: node.state.limit + 2, times: 1, limit: await headOf() });
  const written = await index.runOnce();

  expect(written).toBe(3);
  expect(lines).toEqual([]);
  expect(await canonicalContent(file)).toEqual(await freshContent());
});

test('a chain of as many blocks as it has confirmations that begins again starts no new epoch', async () => {
  const node = await hidingNode();
  node.state.limit = CONFIRMATIONS - 1;
  const { index, file } = await opened({ rpcUrl: node.rpcUrl });
  await index.runOnce();
  await index.stop();
  const other = await startTestChain({ genesisTime: 1_800_000_000 });
  onTestFinished(() => other.stop());
  for (let block = 0; block < CONFIRMATIONS; block += 1) await other.mine();

  const { index: again } = await opened({ file, rpcUrl: other.rpcUrl });
  await again.runOnce();

  expect(again.status()).toMatchObject({ head: CONFIRMATIONS, complete: true });
  expect(again.epoch()).toBe(0);
  expect((await again.reader.transactions({ limit: 10 })).items).toEqual([]);
});

test('a creation is one of a token while the block that shows the token is there', async () => {
  const { index } = await opened();
  const second = await chain.deploy('StableToken', ['Second', 'TWO']);
  await chain.mine();
  await index.runOnce();
  const types = async () => (await index.reader.transactionByHash(second.hash))?.types;
  const before = await types();

  await chain.send(0, second.call('mint', [addressOf(1), 50n]));
  await chain.mine();
  await index.runOnce();
  const shown = await types();
  await chain.reorg(1);
  await index.runOnce();

  expect([before, shown, await types()]).toEqual([
    ['contract_creation'],
    ['contract_creation', 'token_creation'],
    ['contract_creation'],
  ]);
});

test('small blocks are written together, and large ones in a transaction each', async () => {
  const loop = await deployCode(chain, callsInLoop({}));
  await chain.mine();
  const small = await headOf();
  for (let block = 0; block < 2; block += 1) {
    await chain.send(1, { to: loop, data: times(400) });
    await chain.mine();
  }
  // One check comes before the run, and one before each transaction.
  let checks = 0;
  const { index } = await opened({
    fromBlock: small - 1,
    hasRoom() {
      checks += 1;
      return checks <= 2;
    },
  });
  await index.runOnce();

  expect((await index.reader.head())?.number).toBe(small + 1);
});
