import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { getAddress } from 'viem';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { bytesColumn } from '#db/columns.ts';
import { openDatabase } from '#db/open.ts';
import { dirtyRow, markDirty, tokenBalanceOf } from '#indexer/schema/dirty-state.ts';
import { createLogger } from '#lib/logger.ts';
import { faultyNode, type Lie } from '../lab/faulty-node.ts';
import { until } from '../lab/until.ts';
import { eachDatabase } from '../support/databases.ts';
import { manualClock } from '../support/manual-clock.ts';
import {
  canonicalContent,
  clientOf,
  type Deployed,
  log,
  openTestIndex,
  startTestChain,
  type TestChain,
} from './support.ts';

let chain: TestChain;
let dollar: Deployed;

beforeAll(async () => {
  chain = await startTestChain();
  dollar = await chain.deploy('StableToken', ['Dollar', 'USD']);
  const cards = await chain.deploy('Postcards', ['Cards', 'CRD']);
  await chain.mine();
  for (let round = 0; round < 8; round += 1) {
    for (let holder = 1; holder < 5; holder += 1) {
      const { address } = chain.accounts.signer(holder);
      await chain.send(0, dollar.call('mint', [address, BigInt(1_000 + round)]));
      await chain.send(0, cards.call('mint', [address]));
    }
    await chain.mine();
  }
});

afterAll(() => chain.stop());

eachDatabase('an index', databases => {
  test('whose node gives no state after some calls has the state of a good node in the end', async () => {
    await using node = await faultyNode(chain.rpcUrl);
    let calls = 0;
    node.tell(({ method }) => {
      if (method === 'eth_call') calls += 1;
      return method === 'eth_call' && calls > 10
        ? new NodeError('missing trie node 5a1c (path )')
        : undefined;
    });
    const { database, clock, index } = await openOver(node.url);
    await index.runOnce();
    const unread = index.status().unreadState;
    const early = await canonicalContent(database);

    node.tell(undefined);
    clock.advance(1_000);
    await index.runOnce();

    const good = await contentOfGoodNode();
    expect(unread).toBeGreaterThan(10);
    expect(early.dirty).toHaveLength(unread);
    expect(early.token_instances?.length).toBeLessThan(good.token_instances?.length ?? 0);
    expect(await canonicalContent(database)).toEqual(good);
    expect(index.status().unreadState).toBe(0);
  });

  test('whose node sometimes lacks the newest block has the state of a good node in the end', async () => {
    await using node = await faultyNode(chain.rpcUrl);
    let calls = 0;
    node.tell(({ method }) => {
      if (!['eth_call', 'eth_getBalance', 'eth_getCode'].includes(method)) return undefined;
      calls += 1;
      return calls % 7 === 0 ? new NodeError('header not found') : undefined;
    });
    const { database, clock, index } = await openOver(node.url);

    await index.runOnce();
    for (let pauseMs = 1_000; index.status().unreadState > 0 && pauseMs < 600_000; pauseMs *= 2) {
      clock.advance(pauseMs);
      await index.runOnce();
    }

    expect(await canonicalContent(database)).toEqual(await contentOfGoodNode());
  });

  test('asks again for state that its node did not give after pauses that grow', async () => {
    await using node = await faultyNode(chain.rpcUrl);
    node.tell(refusing(dollar.address));
    const { clock, index } = await openOver(node.url);
    await index.runOnce();
    const asked: boolean[] = [];

    for (const pauseMs of [999, 1, 1_999, 1, 3_999, 1]) {
      const before = countOf(node.calls);
      clock.advance(pauseMs);
      await index.runOnce();
      asked.push(countOf(node.calls) > before);
    }

    expect(asked).toEqual([false, true, false, true, false, true]);
  });

  test('keeps what is known of a token while its node gives no state', async () => {
    await using node = await faultyNode(chain.rpcUrl);
    const { database, index } = await openOver(node.url);
    await index.runOnce();
    const before = await canonicalContent(database);
    node.tell(refusing(dollar.address));

    await chain.send(0, dollar.call('mint', [chain.accounts.signer(1).address, 1n]));
    await chain.mine();
    await index.runOnce();

    const after = await canonicalContent(database);
    expect(after.tokens).toEqual(before.tokens);
    expect(after.token_balances).toEqual(before.token_balances);
    expect(index.status().unreadState).toBe(2);
  });

  test('reads state again that a block changed while it was being read', async () => {
    await using node = await faultyNode(chain.rpcUrl);
    const { database, index } = await openOver(node.url);
    const release = node.hold(({ method }) => method === 'eth_call');
    const reading = index.runOnce();
    await until(
      async () => countOf(node.calls),
      count => count > 0,
    );

    await chain.send(0, dollar.call('mint', [chain.accounts.signer(1).address, 7n]));
    await chain.mine();
    const newest = Number(await chain.rpc.call('eth_blockNumber'));
    const second = index.runOnce();
    await until(
      async () => index.status().head,
      head => head === newest,
    );
    release();
    await Promise.all([reading, second]);

    expect(await canonicalContent(database)).toEqual(await contentOfGoodNode());
  });

  async function openOver(rpcUrl: string) {
    const database = await databases.create();
    const clock = manualClock();
    const index = await openTestIndex({ database, client: clientOf(rpcUrl), clock });
    onTestFinished(() => index.stop());
    return { database, clock, index };
  }
});

test('state that a node does not give is reported in one line, however much it is', async () => {
  await using node = await faultyNode(chain.rpcUrl);
  node.tell(({ method }) => (method === 'eth_call' ? new NodeError('missing trie node') : undefined));
  const lines: string[] = [];
  const index = await openTestIndex({
    file: join(chain.folder, `${randomUUID()}.sqlite`),
    client: clientOf(node.url),
    log: createLogger({ level: 'warn', destination: { write: line => void lines.push(line) } }),
  });
  onTestFinished(() => index.stop());

  await index.runOnce();

  expect(lines.map(line => JSON.parse(line))).toMatchObject([
    { reason: 'missing trie node', entries: index.status().unreadState },
  ]);
});

test('blocks and other state arrive while tokens need all gas and a node is slow with them', async () => {
  await using node = await faultyNode(chain.rpcUrl);
  const file = join(chain.folder, `${randomUUID()}.sqlite`);
  const index = await openTestIndex({ file, client: clientOf(node.url), pollMs: 20 });
  onTestFinished(() => index.stop());
  await index.runOnce();
  const holder = chain.accounts.signer(1).address;
  const burning = Array.from({ length: 10_000 }, (_, at) =>
    getAddress(`0x${(at + 1).toString(16).padStart(40, 'b')}`),
  );
  const db = openDatabase({ file });
  const rows = burning.map(token => dirtyRow(tokenBalanceOf({ token, holder, tokenId: '' }), 0));
  await markDirty(db, rows).finally(() => db.destroy());
  const isBurning = (address: string) => address.startsWith('0xbbbbbbbb');
  node.tell(call => (isBurning(receiverOf(call.params)) ? new NodeError('out of gas') : undefined));
  node.hang(({ params }) => isBurning(receiverOf(params)) && gasOf(params) > 1_000_000);

  index.start();
  const head = (await index.reader.head())?.number ?? 0;
  await chain.send(0, dollar.call('mint', [chain.accounts.signer(9).address, 5n]));
  await chain.mine();

  await expect.poll(() => index.status().head).toBe(head + 1);
  await expect
    .poll(async () => (await canonicalContent(file)).token_balances)
    .toEqual(expect.arrayContaining([expect.stringContaining(bufferText(chain.accounts.signer(9).address))]));
  expect(index.status().unreadState).toBeGreaterThan(0);
});

test('new blocks never wait for state', async () => {
  await using node = await faultyNode(chain.rpcUrl);
  node.hang(({ method }) => method === 'eth_call');
  const index = await openTestIndex({
    file: join(chain.folder, `${randomUUID()}.sqlite`),
    client: clientOf(node.url),
    pollMs: 20,
  });
  onTestFinished(() => index.stop());
  index.start();
  await until(
    async () => countOf(node.calls),
    count => count > 0,
  );

  const head = Number(await chain.rpc.call('eth_blockNumber'));
  await chain.mine();
  await chain.mine();

  await expect.poll(() => index.status().head).toBe(head + 2);
});

/** Error of a node itself, as geth sends it. */
class NodeError extends Error {
  readonly code = -32_000;
}

/** Refuses calls to a contract as a node does that has pruned its state. */
function refusing(address: string): Lie {
  return ({ params }) =>
    receiverOf(params) === address.toLowerCase() ? new NodeError('missing trie node') : undefined;
}

function callOf(params: readonly unknown[] = []): object {
  const [call] = params;
  return typeof call === 'object' && call !== null ? call : {};
}

function receiverOf(params: readonly unknown[] | undefined): string {
  const call = callOf(params);
  return 'to' in call ? String(call.to).toLowerCase() : '';
}

function gasOf(params: readonly unknown[] | undefined): number {
  const call = callOf(params);
  return 'gas' in call ? Number(call.gas) : 0;
}

function countOf(calls: readonly string[]): number {
  return calls.filter(method => method === 'eth_call').length;
}

/** A bytes column in the text of `canonicalContent`. */
function bufferText(address: string): string {
  return JSON.stringify(bytesColumn(address).toJSON()).slice(1, -1);
}

/** Content of an index over the chain's own node. */
async function contentOfGoodNode() {
  const file = join(chain.folder, `${randomUUID()}.sqlite`);
  const index = await openTestIndex({ file, client: clientOf(chain.rpcUrl), log });
  await index.runOnce().finally(() => index.stop());
  return canonicalContent(file);
}
