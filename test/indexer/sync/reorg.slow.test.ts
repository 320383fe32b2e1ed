import { join } from 'node:path';
import type { Address } from 'viem';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DatabaseOptions } from '#db/open.ts';
import type { ChainIndex } from '#indexer/index-service.ts';
import { eachDatabase } from '#test/support/databases.ts';
import {
  canonicalContent,
  clientOf,
  type Deployed,
  openTestIndex,
  startTestChain,
  type TestChain,
} from '../support.ts';

const NOBODY: Address = '0x00000000000000000000000000000000000000aa';

eachDatabase('an index', databases => {
  let chain: TestChain;
  let index: ChainIndex;
  let token: Deployed;
  let database: DatabaseOptions;

  beforeEach(async () => {
    chain = await startTestChain();
    database = await databases.create('index');
    index = await openTestIndex({
      database,
      client: chain.client,
      chain: { id: chain.client.id, confirmations: 3 },
    });
    token = await chain.deploy('StableToken', ['Dollar', 'USD']);
    await chain.mine();
    for (const holder of [0, 1, 2]) await chain.send(0, token.call('mint', [addressOf(holder), 1_000n]));
    await chain.mine();
  });

  afterEach(async () => {
    await index.stop();
    await chain.stop();
  });

  function addressOf(account: number): Address {
    return chain.accounts.signer(account).address;
  }

  /** Content of an index that never saw the old blocks. */
  async function freshContent(rpcUrl = chain.rpcUrl) {
    const freshFile = join(chain.folder, 'fresh.sqlite');
    const fresh = await openTestIndex({ file: freshFile, client: clientOf(rpcUrl) });
    await fresh.runOnce();
    await fresh.stop();
    return canonicalContent(freshFile);
  }

  async function transferBlock(amount: bigint) {
    const sent = await chain.send(1, token.call('transfer', [addressOf(2), amount]));
    await chain.mine();
    return sent;
  }

  test('after a reorganisation of depth 3 the index is as if the old blocks had never existed', async () => {
    const kept = await transferBlock(1n);
    const lost = await transferBlock(10n);
    const moved = await chain.send(2, { to: NOBODY, value: 5n });
    await chain.mine();
    await index.runOnce();
    const revision = index.revision();
    const old = await index.reader.transactionByHash(moved.hash);

    await chain.reorg(3, [
      [kept.signed, 2],
      [moved.signed, 1],
    ]);
    await index.runOnce();

    expect(index.revision()).not.toBe(revision);
    expect(index.status()).toMatchObject({ lag: 0, complete: true });
    expect(await index.reader.transactionByHash(lost.hash)).toBeNull();
    const again = await index.reader.transactionByHash(moved.hash);
    expect(again?.blockHash).not.toBe(old?.blockHash);
    expect(again?.blockNumber).toBe(4);
    expect(await canonicalContent(database)).toEqual(await freshContent());
    const stale = await index.reader.blocks({ kind: 'reorg', limit: 10 });
    expect(stale.items.map(({ number, isCanonical }) => [number, isCanonical])).toEqual([
      [5, false],
      [4, false],
      [3, false],
    ]);
    expect(stale.items.map(({ transactionCount }) => transactionCount)).toEqual([1, 1, 1]);
    const orphan = await index.reader.blockByNumberOrHash(old?.blockHash ?? '0x');
    expect(orphan).toMatchObject({ isCanonical: false, number: 5 });
    expect(index.epoch()).toBe(0);
  });

  test('stale blocks of one height are listed page by page without repeats', async () => {
    await transferBlock(1n);
    for (let turn = 0; turn < 3; turn += 1) {
      await index.runOnce();
      await chain.reorg(1, [[(await signedTransfer(BigInt(turn + 2))).signed, 0]]);
    }
    await index.runOnce();

    const seen = [];
    let page = await index.reader.blocks({ kind: 'reorg', limit: 1 });
    seen.push(...page.items);
    for (let turn = 0; page.hasMore && turn < 10; turn += 1) {
      const before = page.items.at(-1);
      page = await index.reader.blocks({ kind: 'reorg', limit: 1, ...(before ? { before } : {}) });
      seen.push(...page.items);
    }

    expect(seen.map(({ number }) => number)).toEqual([3, 3, 3]);
    expect(new Set(seen.map(({ hash }) => hash)).size).toBe(3);
  });

  test('a reorganisation deeper than the confirmations starts a new epoch, also after a restart', async () => {
    for (let amount = 1n; amount <= 5n; amount += 1n) await transferBlock(amount);
    await index.runOnce();

    await chain.reorg(5);
    await index.runOnce();

    expect(index.epoch()).toBe(1);
    expect((await index.reader.head())?.epoch).toBe(1);
    expect(await canonicalContent(database)).toEqual(await freshContent());
    await index.stop();
    index = await openTestIndex({ database, client: chain.client });
    expect(index.epoch()).toBe(1);
  });

  test('several small reorganisations that together exceed the confirmations start a new epoch', async () => {
    for (let amount = 1n; amount <= 5n; amount += 1n) await transferBlock(amount);
    await index.runOnce();
    const epochs = [];

    for (let step = 0; step < 2; step += 1) {
      await chain.rollback(2);
      // A merely lower node is trusted after several polls.
      for (let look = 0; look < 3; look += 1) await index.runOnce();
      epochs.push(index.epoch());
    }

    expect(epochs).toEqual([0, 1]);
    expect(await canonicalContent(database)).toEqual(await freshContent());
  });

  test('two indexes of one chain have different identities', async () => {
    await index.runOnce();
    const other = await openTestIndex({ database: await databases.create('index'), client: chain.client });
    const { identity } = other;
    await other.stop();

    expect(identity).toMatch(/^[0-9a-f]{16}$/);
    expect(identity).not.toBe(index.identity);
  });

  test('a head that is replaced at the same height is noticed', async () => {
    const { hash } = await transferBlock(7n);
    await index.runOnce();

    await chain.reorg(1);
    await index.runOnce();

    expect(index.status().head).toBe(3);
    expect(await index.reader.transactionByHash(hash)).toBeNull();
    expect(await canonicalContent(database)).toEqual(await freshContent());
  });

  test('a node that went back is followed once it stays there, and one that only lags is not', async () => {
    await transferBlock(7n);
    await transferBlock(8n);
    await index.runOnce();

    await chain.rpc.call('anvil_rollback', 1);
    await index.runOnce();
    await index.runOnce();
    expect(index.status().head).toBe(4);
    await index.runOnce();

    expect(index.status().head).toBe(3);
    expect(await canonicalContent(database)).toEqual(await freshContent());
  });

  /** A token created in the second newest block and recognised in the newest, both indexed. */
  async function indexedSecondToken(): Promise<Deployed> {
    const second = await chain.deploy('StableToken', ['Second', 'TWO']);
    await chain.mine();
    await chain.send(0, second.call('mint', [addressOf(1), 50n]));
    await chain.mine();
    await index.runOnce();
    return second;
  }

  test('a token whose creation was undone is no longer a token', async () => {
    const second = await indexedSecondToken();
    const [before] = await index.reader.tokens([second.address]);
    const creation = await index.reader.transactionByHash(second.hash);

    await chain.reorg(2);
    await index.runOnce();

    expect(before).toMatchObject({
      name: 'Second',
      symbol: 'TWO',
      decimals: 6,
      totalSupply: 50n,
      holderCount: 1,
    });
    expect(creation?.types).toEqual(['contract_creation', 'token_creation']);
    expect(await index.reader.tokens([second.address])).toEqual([]);
    expect(await index.reader.addresses([second.address])).toMatchObject([
      { address: second.address.toLowerCase(), isContract: false, name: null },
    ]);
    expect(await canonicalContent(database)).toEqual(await freshContent());
  });

  test('a creation loses its token type when the block that identified the token is undone', async () => {
    const second = await indexedSecondToken();

    await chain.reorg(1);
    await index.runOnce();

    expect((await index.reader.transactionByHash(second.hash))?.types).toEqual(['contract_creation']);
    expect(await canonicalContent(database)).toEqual(await freshContent());
  });

  test('a chain that restarted with another genesis is indexed from the start', async () => {
    await index.runOnce();
    await index.stop();
    const other = await startTestChain({ genesisTime: 1_800_000_000 });
    try {
      for (let block = 0; block < 2; block += 1) await other.mine();
      index = await openTestIndex({ database, client: other.client });
      await index.runOnce();

      expect((await index.reader.transactions({ limit: 10 })).items).toEqual([]);
      expect(index.status()).toMatchObject({ head: 2, complete: true });
      // Accounts that only old blocks named stay known while they have coins.
      const known = { addresses: [], totals: [] };
      expect({ ...(await canonicalContent(database)), ...known }).toEqual({
        ...(await freshContent(other.rpcUrl)),
        ...known,
      });
    } finally {
      await other.stop();
    }
  });

  test('a node that resyncs the same chain does not undo the index', async () => {
    for (let block = 0; block < 70; block += 1) await chain.mine();
    await index.runOnce();

    await chain.rpc.call('anvil_rollback', 68);
    for (let run = 0; run < 5; run += 1) await index.runOnce();

    expect(index.status()).toMatchObject({ head: 72, nodeHead: 4 });
    await transferBlock(1n);
    await index.runOnce();
    expect(index.status()).toMatchObject({ head: 5, complete: true });
  });

  async function signedTransfer(amount: bigint) {
    const signer = chain.accounts.signer(1);
    const nonce = Number(await chain.rpc.call('eth_getTransactionCount', signer.address, '0x2'));
    const signed = await signer.signTransaction({
      type: 'eip1559',
      chainId: chain.client.id,
      nonce,
      gas: 200_000n,
      maxFeePerGas: 10_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
      ...token.call('transfer', [addressOf(2), amount]),
    });
    return { signed };
  }
});
