import { bytesToHex, type Hash } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { keccak } from '#evm/proofs/bytes.ts';
import { encodedHeader } from '#evm/proofs/header-encoding.ts';
import type { RpcBlock } from '#evm/rpc.ts';
import { isObject } from '#lib/json.ts';
import { createChainClient } from '#node/client.ts';
import { sqliteDatabase } from '#test/support/databases.ts';
import { manualClock } from '#test/support/manual-clock.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { startNodeProxy } from '../node-proxy.ts';
import {
  CHAIN_ID,
  canonicalContent,
  log,
  openTestIndex,
  startTestChain,
  type TestChain,
} from '../support.ts';

type Header = Readonly<Record<string, unknown>>;

/** Blocks of the chain without the first one. */
const BLOCKS = 14;
/** First block of a fork that adds a field. */
const FORK = 4;
const WORD = `0x${'07'.repeat(32)}`;
const FIVE_MINUTES_MS = 5 * 60_000;

let chain: TestChain;
let clock: ReturnType<typeof manualClock>;
/** A chain with a legacy transaction, and with a transfer of a token. */
let own: TestChain;

beforeAll(async () => {
  [chain, own] = await Promise.all([startTestChain(), startTestChain()]);
  const token = await own.deploy('StableToken', ['Dollar', 'USD']);
  await own.mine();
  await own.send(0, token.call('mint', [own.accounts.signer(2).address, 1_000n]));
  const signer = own.accounts.signer(1);
  const legacy = { type: 'legacy', chainId: CHAIN_ID, gas: 21_000n, gasPrice: 10_000_000_000n } as const;
  const sent = { ...legacy, nonce: 0, to: own.accounts.signer(2).address, value: 5n };
  await own.rpc.call('eth_sendRawTransaction', await signer.signTransaction(sent));
  await own.mine();
  for (let number = 1; number <= BLOCKS; number += 1) {
    await chain.send(1, { to: chain.accounts.signer(2).address, value: BigInt(number) });
    await chain.mine();
  }
});

beforeEach(() => {
  clock = manualClock();
});

afterAll(async () => void (await Promise.all([chain.stop(), own.stop()])));

async function openOver(...rpcUrls: string[]) {
  const client = createChainClient({ id: CHAIN_ID, rpcUrls, timeoutMs: PATIENCE_MS, clock, log });
  const { options: database, remove } = await sqliteDatabase('index');
  const index = await openTestIndex({ database, client, clock });
  onTestFinished(async () => {
    await index.stop();
    await remove();
  });
  const isProven = async (number: number) => (await index.reader.blockByNumberOrHash(number))?.isProven;
  return { index, isProven, database };
}

/** A node that changes the headers from block `from` on, while `isChanging` is true. */
async function startNode(
  change: (header: Header) => Header,
  { from = 0, isChanging = () => true }: { from?: number; isChanging?: () => boolean } = {},
) {
  const proxy = await startNodeProxy(chain.rpcUrl, {
    change: (method, result) =>
      method === 'eth_getBlockByNumber' && isObject(result) && Number(result.number) >= from && isChanging()
        ? change(result)
        : result,
  });
  onTestFinished(() => proxy.stop());
  return proxy;
}

/** Headers of a fork with an unknown field, which the hash of the block is over. */
const withUnknownField = (header: Header) => ({ ...header, stateRoot: WORD, futureRoot: WORD });
/** Headers of a chain that hashes them otherwise. */
const withOtherHash = (header: Header) => ({ ...header, stateRoot: WORD });

test.each([1, 2])('a header field that is unknown here stops no chain of %i nodes', async count => {
  const nodes = await Promise.all(
    Array.from({ length: count }, () => startNode(withUnknownField, { from: FORK })),
  );
  const { index, isProven } = await openOver(...nodes.map(({ rpcUrl }) => rpcUrl));

  await index.runOnce();

  expect([await isProven(FORK - 1), await isProven(FORK)]).toEqual([true, false]);
  expect(index.status().head).toBe(BLOCKS);
  expect(index.warning()).toBeUndefined();
  expect(index.proofs.status()).toMatchObject({
    contradicting: [],
    unprovable: 'the header has unknown fields: futureRoot',
  });
});

test('headers that all nodes give with another hash are indexed, and after eight the others are not asked', async () => {
  const first = await startNode(withOtherHash);
  const second = await startNode(withOtherHash);
  const { index, isProven } = await openOver(first.rpcUrl, second.rpcUrl);

  await index.runOnce();

  const { contradicting, unprovable, provenShare } = index.proofs.status();
  expect([index.status().head, await isProven(BLOCKS), provenShare]).toEqual([BLOCKS, false, 0]);
  expect([contradicting, unprovable]).toEqual([
    [],
    'the fields of the header do not have the hash of the block',
  ]);
  const wholeBlocks = second.calls.filter(
    ({ method, params }) => method === 'eth_getBlockByNumber' && params?.[1] === true,
  );
  expect(wholeBlocks.length).toBeLessThanOrEqual(9);
});

test('one node whose headers have another hash is believed, and its blocks are not proven', async () => {
  const { rpcUrl } = await startNode(withOtherHash, { from: FORK });
  const { index, isProven } = await openOver(rpcUrl);

  await index.runOnce();

  expect([index.status().head, await isProven(FORK)]).toEqual([BLOCKS, false]);
  expect(index.proofs.status().contradicting).toEqual([]);
});

test('a node that contradicted a hash is asked again after five minutes', async () => {
  let isChanging = true;
  const liar = await startNode(withOtherHash, { from: FORK, isChanging: () => isChanging });
  const { index, isProven } = await openOver(liar.rpcUrl, chain.rpcUrl);
  await index.runOnce();
  const before = index.proofs.status().contradicting;
  isChanging = false;
  liar.calls.length = 0;

  await index.runOnce();
  const whileLeftOut = liar.calls.length;
  clock.advance(FIVE_MINUTES_MS);
  await index.runOnce();

  expect(before).toMatchObject([{ node: '127.0.0.1', until: clock.now() }]);
  expect(whileLeftOut).toBe(0);
  expect(liar.calls.length).toBeGreaterThan(0);
  expect(index.proofs.status().contradicting).toEqual([]);
  expect([await isProven(FORK), index.proofs.status().provenShare]).toEqual([true, 1]);
});

test('a chain that waited goes on when its only node is honest again', async () => {
  let isLying = true;
  const proxy = await startNodeProxy(chain.rpcUrl, {
    change: (method, result) =>
      isLying && method === 'eth_getBlockReceipts' && Array.isArray(result)
        ? result.map(one =>
            isObject(one) && Number(one.blockNumber) === FORK ? { ...one, status: '0x0' } : one,
          )
        : result,
  });
  onTestFinished(() => proxy.stop());
  const { index, isProven } = await openOver(proxy.rpcUrl);
  await expect(index.runOnce()).rejects.toThrow('The node contradicts itself about block 4');
  const waiting = index.warning();
  isLying = false;

  await index.runOnce();

  expect(waiting).toMatch(/^the index of chain 31337 waits at block 4: .*\(127\.0\.0\.1\)\.$/);
  expect([index.warning(), index.status().head, await isProven(FORK)]).toEqual([undefined, BLOCKS, true]);
});

test('a contradiction about an older block leaves the index waiting where it waits', async () => {
  const OLDER = 2;
  let isRefusing = true;
  const proxy = await startNodeProxy(chain.rpcUrl, {
    refuses: ({ method, params }) =>
      isRefusing &&
      (method === 'eth_getTransactionReceipt' ||
        (method === 'eth_getBlockReceipts' && Number(params?.[0]) === OLDER)),
    change: (method, result) =>
      method === 'eth_getBlockReceipts' && Array.isArray(result)
        ? result
            .filter(isObject)
            .map(one => ([OLDER, FORK].includes(Number(one.blockNumber)) ? { ...one, status: '0x0' } : one))
        : result,
  });
  onTestFinished(() => proxy.stop());
  const { index } = await openOver(proxy.rpcUrl);
  await expect(index.runOnce()).rejects.toThrow('The node contradicts itself about block 4');
  const waiting = index.warning();
  isRefusing = false;
  clock.advance(24 * 3_600_000);

  await index.refillOnce();

  expect(index.status().unreadBlocks).toBe(1);
  expect(waiting).toMatch(/^the index of chain 31337 waits at block 4:/);
  expect(index.warning()).toBe(waiting);
});

test('hosts that name the block at the depth of finality are counted once', async () => {
  const other = await startTestChain({ genesisTime: 1_600_000_000 });
  onTestFinished(() => other.stop());
  const sameHost = await startNode(header => header);
  const local = chain.rpcUrl.replace('127.0.0.1', 'localhost');
  const { index } = await openOver(chain.rpcUrl, sameHost.rpcUrl, local, other.rpcUrl);
  await index.runOnce();
  const unasked = index.proofs.status().headAgreedBy;

  await index.proofs.askNodes();

  expect([unasked, index.proofs.status().headAgreedBy]).toEqual([undefined, 2]);
});

test('a chain whose blocks fit no rule that is known is indexed, and its nodes are not left out', async () => {
  const proxies = await Promise.all(
    [1, 2].map(() =>
      startNodeProxy(chain.rpcUrl, {
        change: (method, result) =>
          method === 'eth_getBlockReceipts' && Array.isArray(result)
            ? result.map(receipt => ({ ...receipt, cumulativeGasUsed: '0x1' }))
            : result,
      }),
    ),
  );
  onTestFinished(async () => void (await Promise.all(proxies.map(one => one.stop()))));
  const { index } = await openOver(...proxies.map(({ rpcUrl }) => rpcUrl));

  await index.runOnce();

  expect(index.status().head).toBe(BLOCKS);
  expect(index.warning()).toBeUndefined();
  expect(index.proofs.status()).toMatchObject({
    provenShare: expect.closeTo(1 / (BLOCKS + 1)),
    contradicting: [],
    unprovable: expect.stringContaining('receipts'),
  });
});

/** A block whose contents fit its hash, and which no chain has. */
function inventedBlock(real: RpcBlock): RpcBlock {
  const block: RpcBlock = { ...real, extraData: '0x07' };
  const hash = bytesToHex(keccak(encodedHeader(block)));
  return { ...block, ...inBlock(block, hash) };
}

function inBlock(block: RpcBlock, hash: Hash): Pick<RpcBlock, 'hash' | 'transactions'> {
  const transactions = block.transactions.map(one =>
    typeof one === 'string' ? one : { ...one, blockHash: hash },
  );
  return { hash, transactions };
}

test('a block that one node invented does not replace one of unknown rules', async () => {
  const honest = await startNode(withOtherHash, { from: FORK });
  let hash: Hash | null = null;
  const inventor = await startNodeProxy(chain.rpcUrl, {
    change(method, result) {
      if (Array.isArray(result))
        return result
          .filter(isObject)
          .map(one => (Number(one.blockNumber) === FORK ? { ...one, blockHash: hash } : one));
      if (method !== 'eth_getBlockByNumber' || !isObject(result) || Number(result.number) < FORK)
        return result;
      if (Number(result.number) > FORK) return null;
      const block = inventedBlock(JSON.parse(JSON.stringify(result)));
      ({ hash } = block);
      return block;
    },
  });
  onTestFinished(() => inventor.stop());
  const { index, isProven } = await openOver(honest.rpcUrl, inventor.rpcUrl);

  await index.runOnce();

  expect(hash).not.toBeNull();
  expect([index.status().head, await isProven(FORK)]).toEqual([BLOCKS, false]);
  expect(index.proofs.status().contradicting).toEqual([]);
});

test('what no hash commits to is not stored of a proven transaction, and digits may be in any case', async () => {
  const upper = (text: unknown) => `0x${String(text).slice(2).toUpperCase()}`;
  const authorization = {
    chainId: '0x1',
    address: WORD.slice(0, 42),
    nonce: '0x0',
    yParity: '0x0',
    r: WORD,
    s: WORD,
  };
  const node = await startNodeProxy(own.rpcUrl, {
    change(method, result) {
      if (method === 'eth_getBlockByNumber' && isObject(result) && Array.isArray(result.transactions))
        return {
          ...result,
          transactions: result.transactions.filter(isObject).map(one => ({
            ...one,
            ...(one.type === '0x0'
              ? { accessList: [{ address: authorization.address, storageKeys: [] }], maxFeePerGas: '0x7' }
              : { v: '0x7' }),
            blobVersionedHashes: [WORD],
            authorizationList: [authorization],
          })),
        };
      if (method !== 'eth_getBlockReceipts' || !Array.isArray(result)) return result;
      return result.filter(isObject).map(({ logs, ...one }) => ({
        ...one,
        logs: [logs]
          .flat()
          .filter(isObject)
          .map(log => ({
            ...log,
            address: upper(log.address),
            topics: [log.topics].flat().map(upper),
            data: upper(log.data),
          })),
      }));
    },
  });
  onTestFinished(() => node.stop());
  const [plain, changed] = [await openOver(own.rpcUrl), await openOver(node.rpcUrl)];

  for (const { index } of [plain, changed]) await index.runOnce();

  expect(changed.index.proofs.status().provenShare).toBe(1);
  expect(await canonicalContent(changed.database)).toEqual(await canonicalContent(plain.database));
});
