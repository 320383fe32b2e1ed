import { join } from 'node:path';
import { concatHex, getContractAddress } from 'viem';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#db/open.ts';
import { createChainClient } from '#node/client.ts';
import { MinedMeanwhile } from '#node/pending-transactions.ts';
import { eachDatabase } from '#test/support/databases.ts';
import { deployCode } from '../hostile-contracts.ts';
import { startNodeProxy, withWithdrawals } from '../node-proxy.ts';
import {
  canonicalContent,
  clientOf,
  log,
  openTestIndex,
  startTestChain,
  type TestChain,
} from '../support.ts';

/** Code that creates a contract without code. */
const CREATES = '0x5f5f5ff0';
/** Runtime code: does so, and fails. */
const CREATES_AND_FAILS = concatHex([CREATES, '0x5f5ffd']);
const VALIDATOR = '0xabababababababababababababababababababab';

let chain: TestChain;
let files = 0;

beforeAll(async () => {
  chain = await startTestChain();
  const token = await chain.deploy('StableToken', ['Dollar', 'USD']);
  const faulty = await chain.deploy('Faulty', []);
  await chain.mine();
  await chain.send(0, token.call('mint', [chain.accounts.signer(0).address, 1_000n]));
  await chain.send(0, faulty.call('failWithReason', []));
  await chain.mine();
  await chain.send(0, faulty.call('failWithPanic', [0n]));
  await chain.mine();
});

afterAll(async () => {
  await chain.stop();
});

function freshFile(): string {
  files += 1;
  return join(chain.folder, `nodes-${files}.sqlite`);
}

async function contentOf(rpcUrl: string) {
  const file = freshFile();
  const index = await openTestIndex({ file, client: clientOf(rpcUrl) });
  await index.runOnce();
  const { items } = await index.reader.transactions({ limit: 50 });
  await index.stop();
  return { items, content: await canonicalContent(file) };
}

test('a node without block receipts gives the same index, one receipt at a time', async () => {
  const proxy = await startNodeProxy(chain.rpcUrl, { missing: ['eth_getBlockReceipts'] });
  try {
    const { content } = await contentOf(proxy.rpcUrl);

    expect(content).toEqual((await contentOf(chain.rpcUrl)).content);
    expect(proxy.counts.get('eth_getTransactionReceipt')).toBe(5);
    expect(proxy.counts.get('eth_getBlockReceipts')).toBeLessThanOrEqual(1);
  } finally {
    await proxy.stop();
  }
});

test('a failed transaction keeps its revert output with either tracer, and everything else without one', async () => {
  const geth = await startNodeProxy(chain.rpcUrl, { missing: ['trace_block'] });
  const simple = await startNodeProxy(chain.rpcUrl, {
    missing: ['trace_block', 'debug_traceBlockByHash', 'debug_traceBlockByNumber'],
  });
  try {
    const [parity, traced, untraced] = await Promise.all(
      [chain.rpcUrl, geth.rpcUrl, simple.rpcUrl].map(url => contentOf(url)),
    );

    const outputs = parity?.items.map(({ revertOutput }) => revertOutput);
    expect(outputs?.filter(output => output !== null)).toHaveLength(2);
    expect(traced?.items.map(({ revertOutput }) => revertOutput)).toEqual(outputs);
    expect(untraced?.items.map(row => [row.hasInternalError, row.error, row.revertOutput])).toEqual(
      Array.from({ length: 5 }, () => [null, null, null]),
    );
    expect(untraced?.content.token_transfers).toEqual(parity?.content.token_transfers);
  } finally {
    await Promise.all([geth.stop(), simple.stop()]);
  }
});

test('a contract whose creator failed was not created, by either tracer, although its transaction succeeded', async () => {
  const other = await startTestChain({ engine: 'anvil' });
  onTestFinished(() => other.stop());
  const failing = await deployCode(other, CREATES_AND_FAILS);
  const caller = await deployCode(other, concatHex(['0x5f5f5f5f5f73', failing, '0x5af150', CREATES, '0x00']));
  await other.mine();
  await other.send(1, { to: caller });
  await other.mine();
  const geth = await startNodeProxy(other.rpcUrl, { missing: ['trace_block'] });
  onTestFinished(() => geth.stop());
  const created = [failing, caller].map(from => getContractAddress({ from, nonce: 1n }));

  for (const rpcUrl of [other.rpcUrl, geth.rpcUrl]) {
    const index = await openTestIndex({ file: freshFile(), client: clientOf(rpcUrl) });
    await index.runOnce();
    const [undone, kept] = await Promise.all(created.map(address => index.reader.contract(address)));
    await index.stop();

    expect(undone).toBeNull();
    expect(kept).toMatchObject({ creator: caller.toLowerCase() });
  }
});

test('only the transaction that a node fails to trace, with its block and alone, is without calls', async () => {
  const proxy = await startNodeProxy(chain.rpcUrl, {
    missing: ['trace_block'],
    refuses: ({ method }) => method === 'debug_traceTransaction',
    change: (method, result) =>
      /^debug_traceBlock/.test(method) && Array.isArray(result) && result.length === 2
        ? [result[0], { txHash: result[1].txHash, error: 'execution timeout' }]
        : result,
  });
  onTestFinished(() => proxy.stop());

  const { items } = await contentOf(proxy.rpcUrl);

  expect(items.map(({ hasInternalError }) => hasInternalError)).toEqual([false, null, false, null, false]);
  expect(items[0]?.revertOutput).not.toBeNull();
  expect(proxy.counts.get('debug_traceBlockByNumber')).toBe(1);
});

test('a node whose flat traces are always empty is asked for call trees', async () => {
  const proxy = await startNodeProxy(chain.rpcUrl, {
    change: (method, result) => (method === 'trace_block' ? [] : result),
  });
  const geth = await startNodeProxy(chain.rpcUrl, { missing: ['trace_block'] });
  onTestFinished(() => proxy.stop());
  onTestFinished(() => geth.stop());

  const { items, content } = await contentOf(proxy.rpcUrl);

  expect(items.map(({ hasInternalError }) => hasInternalError)).not.toContain(null);
  expect(content).toEqual((await contentOf(geth.rpcUrl)).content);
  expect(proxy.counts.get('trace_block')).toBe(1);
});

test('a node that contradicts itself in the traces of the first block keeps its tracer', async () => {
  let isFirst = true;
  const proxy = await startNodeProxy(chain.rpcUrl, {
    change: (method, result) => {
      if (method !== 'trace_block' || !Array.isArray(result) || !isFirst) return result;
      isFirst = false;
      return [...result, ...result];
    },
  });
  onTestFinished(() => proxy.stop());

  const { content } = await contentOf(proxy.rpcUrl);

  expect(content).toEqual((await contentOf(chain.rpcUrl)).content);
  expect(proxy.counts.get('debug_traceBlockByHash')).toBeUndefined();
});

test.each([
  ['no traces by any method', [], (traces: unknown[]) => traces.slice(0, 0)],
  ['a missing call tree', ['trace_block'], (traces: unknown[]) => traces.slice(1)],
])('the traces of a block with %s are unknown, and everything else is kept', async (_, missing, change) => {
  const proxy = await startNodeProxy(chain.rpcUrl, {
    missing,
    change: (method, result) =>
      /^trace_block$|^debug_traceBlock/.test(method) && Array.isArray(result) ? change(result) : result,
  });
  onTestFinished(() => proxy.stop());

  const { items, content } = await contentOf(proxy.rpcUrl);

  expect(items.map(({ hasInternalError }) => hasInternalError)).toEqual([null, null, null, null, null]);
  expect(content.token_transfers).toEqual((await contentOf(chain.rpcUrl)).content.token_transfers);
});

eachDatabase('an index', databases => {
  test('keeps the node’s error text, without the NUL that a contract put into it', async () => {
    const proxy = await startNodeProxy(chain.rpcUrl, {
      change: (method, result) =>
        method === 'trace_block' && Array.isArray(result)
          ? result.map(trace => ('error' in trace ? { ...trace, error: 'no\0t "allowed" \\ {}' } : trace))
          : result,
    });
    onTestFinished(() => proxy.stop());
    const database = await databases.create();
    const index = await openTestIndex({ database, client: clientOf(proxy.rpcUrl) });
    await index.runOnce();
    const { transactions } = await canonicalContent(database).finally(() => index.stop());

    const errors = transactions?.map(row => Object.entries(JSON.parse(String(row))));
    expect(JSON.stringify(errors)).toContain(JSON.stringify(['error', 'not "allowed" \\ {}']));
  });
});

test('withdrawals and uncles’ hashes in a block’s body are kept', async () => {
  const uncle = `0x${'cd'.repeat(32)}`;
  const proxy = await startNodeProxy(chain.rpcUrl, {
    change: (method, result) =>
      method === 'eth_getBlockByNumber' && result !== null && typeof result === 'object'
        ? withWithdrawals({ ...result, uncles: [uncle] }, [
            { index: '0x7', validatorIndex: '0x9', address: VALIDATOR, amount: '0x3' },
          ])
        : result,
  });
  try {
    const file = freshFile();
    const index = await openTestIndex({ file, client: clientOf(proxy.rpcUrl) });
    await index.runOnce();
    const block = await index.reader.blockByNumberOrHash(1);
    await index.stop();
    const db = openDatabase({ file, readonly: true });
    const [withdrawal] = await db.raw(
      'select id >> 20 as block_number, withdrawal_index, validator_index, amount from withdrawals where id >= 1048576',
    );
    await db.destroy();

    expect(block).toMatchObject({ withdrawalsCount: 1, unclesHashes: [uncle] });
    expect(withdrawal).toEqual({
      block_number: 1,
      withdrawal_index: 7,
      validator_index: 9,
      amount: '103000000000',
    });
  } finally {
    await proxy.stop();
  }
});

test.for([
  ['receipts', 'eth_getBlockReceipts'],
  ['traces', 'trace_block'],
])(
  'a node that answers with another block’s %s is asked again, and nothing wrong is kept',
  async ([, wrong]) => {
    let lies = 3;
    const proxy = await startNodeProxy(chain.rpcUrl, {
      change: (method, result) => {
        if (method !== wrong || !Array.isArray(result) || lies === 0) return result;
        lies -= 1;
        return result.map(entry => ({ ...entry, blockHash: `0x${'00'.repeat(32)}` }));
      },
    });
    try {
      const { content } = await contentOf(proxy.rpcUrl);

      expect(content).toEqual((await contentOf(chain.rpcUrl)).content);
    } finally {
      await proxy.stop();
    }
  },
);

test('when the first node is out the next one is used', async () => {
  const away = await startNodeProxy(chain.rpcUrl, {});
  await away.stop();
  const client = createChainClient({
    id: chain.client.id,
    rpcUrls: [away.rpcUrl, chain.rpcUrl],
    timeoutMs: 5_000,
    log,
  });
  const index = await openTestIndex({ file: freshFile(), client });

  expect(await index.runOnce()).toBe(4);
  await index.stop();
});

test('a started index follows the chain until it is stopped', async () => {
  const index = await openTestIndex({ file: freshFile(), client: chain.client, pollMs: 20 });
  const empty = index.revision();
  index.start();
  await index.whenComplete();
  const revision = index.revision();
  const before = index.status().head ?? 0;
  await chain.mine();
  await expect.poll(() => index.status().head).toBe(before + 1);
  await index.stop();

  expect(empty).toBe('empty');
  expect(index.revision()).not.toBe(revision);
});

test('a pending transaction is listed until it is mined', async () => {
  const index = await openTestIndex({ file: freshFile(), client: chain.client });
  const { hash } = await chain.send(3, { to: VALIDATOR, value: 9n });

  const waiting = await index.reader.pendingTransactions();
  const one = await index.reader.pendingTransaction(hash);
  await chain.mine();
  const gone = await index.reader.pendingTransactions();
  const mined = await index.reader.pendingTransaction(hash).catch((error: unknown) => error);
  await index.stop();

  expect(waiting).toMatchObject([{ hash, value: 9n, type: 2, input: '0x', selector: null }]);
  expect(one).toMatchObject({ hash });
  expect(gone).toEqual([]);
  expect(mined).toBeInstanceOf(MinedMeanwhile);
});
