import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';
import { WrongChain } from '#node/transport/errors.ts';
import { type NodePool, nodePool } from '#payments/watcher/node/node-pool.ts';
import { type HostileNode, hostileNode, type NodeBehaviour } from '../../../support/hostile-node.ts';
import { manualClock } from '../../../support/manual-clock.ts';

/** Answers each receipt by the node's name. */
const named =
  (name: string): NodeBehaviour =>
  (_, __, well) =>
    well(({ method }) => (method === 'eth_getTransactionReceipt' ? name : undefined));

async function poolOf(...names: string[]): Promise<{ pool: NodePool; nodes: HostileNode[] }> {
  const nodes: HostileNode[] = [];
  for (const name of names) nodes.push(await hostileNode(named(name)));
  onTestFinished(async () => {
    for (const node of nodes) await node[Symbol.asyncDispose]();
  });
  const rpcUrls = nodes.map(({ url }) => url);
  const client = createChainClient({
    id: 1,
    rpcUrls,
    timeoutMs: 30_000,
    clock: manualClock(),
    log: silentLogger(),
  });
  const pool = nodePool(client);
  pool.begin(new AbortController().signal);
  return { pool, nodes };
}

const ask = (pool: NodePool): Promise<unknown> =>
  pool.ask(request => request({ method: 'eth_getTransactionReceipt', params: [`0x${'0'.repeat(64)}`] }));
const timesOfChainId = ({ methods }: HostileNode) => methods.filter(one => one === 'eth_chainId').length;

test('a node is asked for its chain with its first request, and when in doubt', async () => {
  const { pool, nodes } = await poolOf('only');

  const answers = [await ask(pool), await ask(pool)];
  const before = nodes.map(timesOfChainId);
  pool.unverify();
  answers.push(await ask(pool));

  expect(answers).toEqual(['only', 'only', 'only']);
  expect([before, nodes.map(timesOfChainId)]).toEqual([[1], [2]]);
});

test('a node that refused a request proves its chain again with the next one', async () => {
  const { pool, nodes } = await poolOf('only');
  await ask(pool);
  nodes[0]?.behave((_, __, well) => well(() => new Error('state is pruned')));
  await expect(ask(pool)).rejects.toThrow('state is pruned');

  nodes[0]?.behave((_, __, well) => well(({ method }) => (method === 'eth_chainId' ? '0x2' : 'its answer')));

  await expect(ask(pool)).rejects.toThrow(WrongChain);
});
