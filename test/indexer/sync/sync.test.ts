import { join } from 'node:path';
import { type Address, erc20Abi, getAddress, numberToHex } from 'viem';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { hexOf, uintOf } from '#db/columns.ts';
import { openDatabase } from '#db/open.ts';
import { httpRpc, type Rpc } from '#devnet/chain/rpc.ts';
import { type Devnet, startDevnet } from '#devnet/start-devnet.ts';
import type { RpcBlock, RpcReceipt } from '#evm/rpc.ts';
import { tracesOfFrames, tracesOfParity } from '#evm/traces.ts';
import type { ChainIndex } from '#indexer/index-service.ts';
import { systemClock } from '#lib/clock.ts';
import { postgresDatabase } from '#test/support/databases.ts';
import { isAnvil } from '../../lab/chain-kind.ts';
import { canonicalContent, clientOf, log, openTestIndex, temporaryFolder } from '../support.ts';

const BLOCKS = 60;

let devnet: Devnet;
let rpc: Rpc;
let rpcUrl: string;
let folder: string;
let remove: () => Promise<void>;
let index: ChainIndex;
let chainBlocks: RpcBlock[];
let receipts: RpcReceipt[][];

async function ask<T>(method: string, ...params: unknown[]): Promise<T> {
  const results: T[] = JSON.parse(JSON.stringify([await rpc.call(method, ...params)]));
  const [result] = results;
  if (result === undefined) throw new Error(`${method} gave nothing`);
  return result;
}

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
  devnet = await startDevnet({
    folder,
    chains: 1,
    blocks: BLOCKS,
    trickleMs: 0,
    seed: 7,
    clock: { ...systemClock, now: () => Date.UTC(2026, 0, 1) },
    log,
  });
  await devnet.filled;
  rpcUrl = devnet.chains[0]?.rpcUrl ?? '';
  rpc = httpRpc(rpcUrl);
  index = await openTestIndex({ file: join(folder, 'index.sqlite'), client: clientOf(rpcUrl) });
  await index.runOnce();
  const numbers = Array.from({ length: BLOCKS + 1 }, (_, number) => numberToHex(number));
  chainBlocks = await Promise.all(numbers.map(number => ask<RpcBlock>('eth_getBlockByNumber', number, true)));
  receipts = await Promise.all(numbers.map(number => ask<RpcReceipt[]>('eth_getBlockReceipts', number)));
});

afterAll(async () => {
  await index.stop();
  await devnet.stop();
  await remove();
});

function hasBlobs({ transactions }: RpcBlock): boolean {
  return transactions.some(one => typeof one !== 'string' && one.type === '0x3');
}

test('one run indexes the whole chain and reports it', async () => {
  const whole = {
    lag: 0,
    lastLag: 0,
    lagSeconds: 0,
    firstBlock: 0,
    complete: true,
    unreadState: 0,
    unreadBlocks: 0,
    blocks: BLOCKS + 1,
    // Anvil's root of a block with blobs is not over what it gives.
    provenBlocks: isAnvil ? chainBlocks.filter(block => !hasBlobs(block)).length : BLOCKS + 1,
    stalled: false,
  };
  expect(index.status()).toEqual({ head: BLOCKS, nodeHead: BLOCKS, ...whole });
  await index.whenComplete();
  expect(await index.reader.head()).toMatchObject({
    number: BLOCKS,
    hash: chainBlocks.at(-1)?.hash,
    epoch: 0,
  });
});

test('every block has the node’s header and the sums of its receipts', async () => {
  const { items, hasMore } = await index.reader.blocks({ kind: 'block', limit: 100 });

  expect(hasMore).toBe(false);
  expect(items.map(({ number }) => number)).toEqual(chainBlocks.map((_, number) => BLOCKS - number));
  for (const block of items) {
    const theirs = chainBlocks[block.number];
    const paid = (receipts[block.number] ?? []).reduce(
      (sum, { gasUsed, effectiveGasPrice }) => sum + BigInt(gasUsed) * BigInt(effectiveGasPrice ?? 0),
      0n,
    );
    const burnt = BigInt(theirs?.baseFeePerGas ?? 0) * BigInt(theirs?.gasUsed ?? 0);
    expect(block).toMatchObject({
      hash: theirs?.hash,
      isCanonical: true,
      parentHash: theirs?.parentHash,
      timestamp: Number(theirs?.timestamp) * 1000,
      miner: theirs?.miner,
      gasLimit: BigInt(theirs?.gasLimit ?? 0),
      gasUsed: BigInt(theirs?.gasUsed ?? 0),
      baseFeePerGas: BigInt(theirs?.baseFeePerGas ?? 0),
      difficulty: BigInt(theirs?.difficulty ?? 0),
      nonce: theirs?.nonce,
      extraData: theirs?.extraData,
      stateRoot: theirs?.stateRoot,
      size: Number(theirs?.size),
      transactionCount: theirs?.transactions.length,
      withdrawalsCount: theirs?.withdrawals?.length,
      transactionFees: paid,
      burntFees: burnt,
      priorityFees: paid - burnt,
    });
    const parent = chainBlocks[block.number - 1];
    expect(block.parentTimestamp).toBe(parent === undefined ? null : Number(parent.timestamp) * 1000);
  }
});

test('every transaction of any type has the values of the node’s block and receipt', async () => {
  const types = new Set<number>();
  for (const [blockNumber, block] of chainBlocks.entries()) {
    for (const [position, theirs] of block.transactions.entries()) {
      if (typeof theirs === 'string') throw new Error('The node gave hashes.');
      const receipt = receipts[blockNumber]?.[position];
      const ours = await index.reader.transactionByHash(theirs.hash);
      types.add(Number(theirs.type));
      expect(ours).toMatchObject({
        blockNumber,
        index: position,
        blockHash: block.hash,
        timestamp: Number(block.timestamp) * 1000,
        from: theirs.from,
        to: theirs.to,
        value: BigInt(theirs.value),
        nonce: BigInt(theirs.nonce),
        gasLimit: BigInt(theirs.gas),
        gasUsed: BigInt(receipt?.gasUsed ?? 0),
        gasPrice: BigInt(receipt?.effectiveGasPrice ?? 0),
        type: Number(theirs.type),
        status: receipt?.status === '0x1' ? 'ok' : 'error',
        input: theirs.input,
        createdContract: receipt?.status === '0x1' ? receipt.contractAddress : null,
        blobHashes: theirs.blobVersionedHashes ?? [],
        authorizationList: theirs.authorizationList ?? [],
      });
      expect(ours?.maxFeePerGas ?? null).toBe(theirs.maxFeePerGas ? BigInt(theirs.maxFeePerGas) : null);
      expect(ours?.types.includes('token_transfer')).toBe((ours?.tokenTransferCount ?? 0) > 0);
    }
  }
  expect([...types].sort()).toEqual(expect.arrayContaining([2, 3, 4]));
});

test('logs match the receipts’ logs, also page by page', async () => {
  const busiest = receipts.flat().sort((a, b) => b.logs.length - a.logs.length)[0];
  if (busiest === undefined) throw new Error('No receipts.');
  const theirs = busiest.logs;

  const seen = [];
  let page = await index.reader.logs({ transactionHash: busiest.transactionHash, limit: 2 });
  seen.push(...page.items);
  for (let turn = 0; page.hasMore && turn < 1000; turn += 1) {
    const after = page.items.at(-1);
    if (after === undefined) throw new Error('An empty page promised more.');
    page = await index.reader.logs({ transactionHash: busiest.transactionHash, after, limit: 2 });
    seen.push(...page.items);
  }

  expect(
    seen.map(({ index: logIndex, address, topics, data }) => ({ logIndex, address, topics, data })),
  ).toEqual(
    theirs.map(({ logIndex, address, topics, data }) => ({
      logIndex: Number(logIndex),
      address,
      topics,
      data,
    })),
  );
});

test('the list of a type or method is the full list filtered, page by page', async () => {
  const all = (await index.reader.transactions({ limit: 5000 })).items;
  expect(all.length).toBe(chainBlocks.reduce((sum, block) => sum + block.transactions.length, 0));
  const selector = all.find(row => row.selector !== null)?.selector ?? '0x';
  const filters = [
    { types: ['coin_transfer', 'contract_creation'] as const },
    { types: ['token_creation'] as const },
    { selectors: [selector] as const },
    { selectors: [selector] as const, types: ['token_transfer'] as const },
  ];
  for (const filter of filters) {
    const wanted = all.filter(
      row =>
        (filter.types === undefined || row.types.some(type => filter.types?.some(one => one === type))) &&
        (filter.selectors === undefined || row.selector === filter.selectors[0]),
    );
    const found = [];
    let before: { blockNumber: number; index: number } | undefined;
    for (let turn = 0; turn < 1000; turn += 1) {
      const page = await index.reader.transactions({ ...filter, limit: 7, ...(before ? { before } : {}) });
      found.push(...page.items);
      before = page.items.at(-1);
      if (!page.hasMore) break;
    }
    expect(found.map(({ hash }) => hash)).toEqual(wanted.map(({ hash }) => hash));
  }
  expect(all.some(row => row.types.includes('token_creation'))).toBe(true);
});

test('tokens, their balances and coin balances match the node', async () => {
  const db = openDatabase({ file: join(folder, 'index.sqlite'), readonly: true });
  const client = clientOf(rpcUrl).public;
  try {
    const balances = await db.raw<{ token: Buffer; holder: Buffer; token_id: string; value: string }[]>(
      'select * from token_balances',
    );
    const coins = await db.raw<{ address: Buffer; balance: string }[]>('select * from addresses');
    expect(balances.length).toBeGreaterThan(20);
    for (const { token, holder, value } of balances.filter(row => row.token_id === '')) {
      const [address, account] = [getAddress(hexOf(token)), getAddress(hexOf(holder))];
      const theirs = await client.readContract({
        address,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [account],
      });
      expect(uintOf(value)).toBe(theirs);
    }
    for (const { address, balance } of coins) {
      expect(uintOf(balance)).toBe(await client.getBalance({ address: hexOf(address) }));
    }
  } finally {
    await db.destroy();
  }
  const contracts = devnet.chains[0]?.contracts.map(({ address }) => address.toLowerCase()) ?? [];
  const tokens = await index.reader.tokens(contracts.map(address => getAddress(address)));
  const types = tokens.map(({ type }) => type);
  expect(types).toEqual(expect.arrayContaining(['ERC-20', 'ERC-721', 'ERC-1155']));
  for (const { address, name, totalSupply, holderCount, type } of tokens) {
    expect(name).toBe(await client.readContract({ address, abi: erc20Abi, functionName: 'name' }));
    expect(holderCount).toBeGreaterThan(0);
    if (type !== 'ERC-20') continue;
    expect(totalSupply).toBe(
      await client.readContract({ address, abi: erc20Abi, functionName: 'totalSupply' }),
    );
  }
});

test('both tracing methods of nodes give the same calls', async () => {
  let compared = 0;
  for (const block of chainBlocks) {
    if (block.number === null || block.hash === null || block.transactions.length === 0) continue;
    const transactions = block.transactions.map(entry => (typeof entry === 'string' ? entry : entry.hash));
    const { request } = clientOf(rpcUrl);
    const frames = await request({
      method: 'debug_traceBlockByHash',
      params: [block.hash, { tracer: 'callTracer' }],
    });
    const parity = await request({ method: 'trace_block', params: [block.number] });
    const simple = (traces: ReturnType<typeof tracesOfFrames>) =>
      traces?.map(trace => ({
        isFailed: trace?.error !== null,
        output: trace?.output,
        calls: trace?.calls.map(call => ({ ...kindless(call), isFailed: call.error !== null })),
      }));
    const flat = parity === null ? null : tracesOfParity(parity, transactions);
    expect(simple(tracesOfFrames(frames, transactions))).toEqual(simple(flat));
    compared += flat?.reduce((sum, { calls }) => sum + calls.length, 0) ?? 0;
  }
  expect(compared).toBeGreaterThan(20);

  function kindless({
    from,
    to,
    value,
    createdContract,
  }: {
    from: Address;
    to: Address | null;
    value: bigint;
    createdContract: Address | null;
  }) {
    return { from, to, value, createdContract };
  }
});

test('an index stopped in the middle and reopened ends like one that never stopped', async () => {
  const file = join(folder, 'restarted.sqlite');
  for (let turn = 0; turn < 3; turn += 1) {
    const partial = await openTestIndex({ file, client: clientOf(rpcUrl) });
    const run = partial.runOnce();
    await systemClock.sleep(60);
    await partial.stop();
    await run.catch(() => 0);
  }
  const last = await openTestIndex({ file, client: clientOf(rpcUrl) });
  await last.runOnce();
  await last.stop();

  expect(await canonicalContent(file)).toEqual(await canonicalContent(join(folder, 'index.sqlite')));
});

test('an index that is up to date is not read again when it is opened', async () => {
  const file = join(folder, 'reopened.sqlite');
  const first = await openTestIndex({ file, client: clientOf(rpcUrl) });
  await first.runOnce();
  await first.stop();

  const again = await openTestIndex({ file, client: clientOf(rpcUrl) });
  const written = await again.runOnce();
  await again.stop();

  expect(written).toBe(0);
  expect(again.identity).toBe(first.identity);
});

test('an index on PostgreSQL has the same content', async () => {
  const { options, remove: drop } = await postgresDatabase();
  onTestFinished(drop);
  const other = await openTestIndex({ database: options, client: clientOf(rpcUrl) });
  await other.runOnce();
  await other.stop();

  expect(await canonicalContent(options)).toEqual(await canonicalContent(join(folder, 'index.sqlite')));
});

test('a node of another chain is refused', async () => {
  const wrong = await openTestIndex({
    file: join(folder, 'wrong.sqlite'),
    client: clientOf(rpcUrl, 1),
    chain: { id: 1, confirmations: 12 },
  });

  await expect(wrong.runOnce()).rejects.toThrow(/serves chain 31337, but chain 1 is configured/);
  await wrong.stop();
});

test('an index file of another chain is refused', async () => {
  const opening = openTestIndex({
    file: join(folder, 'index.sqlite'),
    client: clientOf(rpcUrl, 1),
    chain: { id: 1, confirmations: 12 },
  });

  await expect(opening).rejects.toThrow(/holds chain 31337/);
});
