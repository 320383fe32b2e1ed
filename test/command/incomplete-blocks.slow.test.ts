import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHAIN_ID, clientOf, openTestIndex, startTestChain, type TestChain } from '../indexer/support.ts';
import { faultyNode } from '../lab/faulty-node.ts';
import { eachDatabase, urlOf } from '../support/databases.ts';
import { script } from '../support/script.ts';

let chain: TestChain;
const run = script('../src/tollgate.js');

beforeAll(async () => {
  chain = await startTestChain();
  await chain.send(0, { to: chain.accounts.signer(1).address, value: 1n });
  await chain.mine();
  await chain.send(0, { to: chain.accounts.signer(1).address, value: 1n });
  await chain.mine();
});

afterAll(() => chain.stop());

eachDatabase('the command index', databases => {
  test('shows the blocks that lack a part, and has them asked for again at once', async () => {
    const database = await databases.create();
    const config = join(chain.folder, `${databases.kind}.yaml`);
    await writeFile(
      config,
      `chains:
  - id: ${CHAIN_ID}
    name: Test
    native: { symbol: ETH, decimals: 18 }
    rpc: ['${chain.rpcUrl}']
    backends: [{ kind: index, database: '${urlOf(database)}' }]
`,
    );
    await using node = await faultyNode(chain.rpcUrl);
    node.tell(({ method, params }) =>
      ['trace_block', 'trace_transaction', 'debug_traceTransaction'].includes(method) && params?.[0] !== '0x1'
        ? new Error('the answer is\ttoo long')
        : undefined,
    );
    const index = await openTestIndex({ database, client: clientOf(node.url) });
    await index.runOnce();
    const tooEarly = await index.refillOnce();

    const shown = await run('index', '--config', config);
    const beyond = await run('index', '--config', config, '--from', '3', '--retry');
    const retried = await run('index', '--config', config, '--chain', String(CHAIN_ID), '--retry');
    node.tell(undefined);
    const filled = await index.refillOnce();
    await index.stop();
    const after = await run('index', '--config', config);

    expect(shown).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        / {2}2 {2}traces of 1 {2}asked again 0 times, next \S+ {2}the answer is too long\n/,
      ),
    });
    expect(beyond.out).toContain('asked for again within seconds: 0');
    expect(retried.out).toContain('asked for again within seconds: 1');
    expect([tooEarly, filled]).toEqual([0, 1]);
    expect(after.out).toContain('every block is complete');
  });
});

test('the command index names what is wrong with its arguments', async () => {
  const config = join(chain.folder, 'other.yaml');
  await writeFile(config, 'chains: []\n');

  const answers = await Promise.all([
    run('index', '--config', config),
    run('index', '--config', config, '--from', 'x'),
  ]);

  expect(answers.map(({ code }) => code)).toEqual([1, 2]);
  expect(answers.map(({ err }) => err)).toEqual([
    expect.stringContaining('No chain has an index.'),
    expect.stringContaining('--from must be a number'),
  ]);
});
