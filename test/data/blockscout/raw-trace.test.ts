import { expect, test } from 'vitest';
import { rawTrace } from '#data/backends/blockscout/normalise/raw-trace.ts';
import { fieldsOf, listOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';

const HASH = /0x[0-9a-f]{64}/.exec(fixtureOf('getTransactionRawTrace', 'v6').path)?.[0] ?? '';
const TRACES = fixturesOf('getTransactionRawTrace').filter(({ name }) => name !== 'v11-opcodes');

const [SENDER, FACTORY, CHILD, PREY, HEIR] = [
  '0x71c7656ec7ab88b098defb751b7401b5f6d8976f',
  '0x4e59b44847b379578588920ca78fbf26c0b4956c',
  '0x5b38da6a701c568545dcfcb03fcb875f56beddc4',
  '0xab8483f64d9c6d1ecf9b849ae677dd3315835cb2',
  '0x4b20993bc481177ec7e8f571cecae8a9e22c02db',
];

/** The one transaction in all fixtures. */
const EXPECTED = [
  {
    type: 'call',
    action: {
      callType: 'call',
      from: SENDER,
      to: FACTORY,
      gas: '0x47b760',
      value: '0xde0b6b3a7640000',
      input: '0x5f2e686d',
    },
    result: { gasUsed: '0x1d4c0', output: '0x' },
    subtraces: 3,
    traceAddress: [],
    transactionHash: HASH,
  },
  {
    type: 'create',
    action: {
      creationMethod: 'create2',
      from: FACTORY,
      gas: '0x2ee00',
      init: '0x60028060093d393df300ff',
      value: '0x0',
    },
    result: { address: CHILD, code: '0x00ff', gasUsed: '0x2dc8' },
    subtraces: 0,
    traceAddress: [0],
    transactionHash: HASH,
  },
  {
    type: 'call',
    action: {
      callType: 'delegatecall',
      from: FACTORY,
      to: PREY,
      gas: '0x1f400',
      value: '0x0',
      input: '0x41c0e1b5',
    },
    result: { gasUsed: '0x1388', output: '0x' },
    subtraces: 1,
    traceAddress: [1],
    transactionHash: HASH,
  },
  {
    type: 'suicide',
    action: { address: FACTORY, balance: '0x6f05b59d3b20000', refundAddress: HEIR },
    result: null,
    subtraces: 0,
    traceAddress: [1, 0],
    transactionHash: HASH,
  },
  {
    type: 'call',
    action: {
      callType: 'staticcall',
      from: FACTORY,
      to: CHILD,
      gas: '0xfa00',
      value: '0x0',
      input: '0x01020304',
    },
    result: null,
    error: 'out of gas',
    subtraces: 0,
    traceAddress: [2],
    transactionHash: HASH,
  },
];

/** A call that calls itself to the given depth. */
function framesTo(depth: number): object {
  let frame: object = { type: 'CALL', from: SENDER, to: PREY };
  for (let step = 0; step < depth; step += 1)
    frame = { type: 'CALL', from: SENDER, to: PREY, calls: [frame] };
  return frame;
}

const firstItem = () => fieldsOf(listOf(fixtureOf('getTransactionRawTrace', 'v9-besu').body)[0]);

test.each(TRACES.map(({ name, body }) => [name, body] as const))(
  'the trace of %s is a list of the contract',
  async (_name, body) => {
    expect(await validates('getTransactionRawTrace', await traced(body))).toEqual([]);
  },
);

test.each(['v6', 'v7-nethermind', 'v11-geth'])(
  'the trace of %s shows the effects of the transaction',
  async name => {
    expect(await traced(fixtureOf('getTransactionRawTrace', name).body)).toEqual(EXPECTED);
  },
);

test('where the node names the block of the transaction, so does every item', async () => {
  const { body } = fixtureOf('getTransactionRawTrace', 'v9-besu');
  const blockHash = firstItem().blockHash;

  expect(blockHash).toMatch(/^0x[0-9a-f]{64}$/);
  expect(await traced(body, `0x${'00'.repeat(32)}`)).toEqual(
    EXPECTED.map(item => ({ ...item, blockHash, blockNumber: 19854321, transactionPosition: 68 })),
  );
});

test('null keys and keys outside the contract are left out', async () => {
  const item = {
    ...firstItem(),
    error: null,
    blockNumber: null,
    time: '8ms',
    action: { to: null, depth: 1 },
  };

  const [read] = await traced([item]);

  expect(read).not.toHaveProperty('error');
  expect(read).not.toHaveProperty('blockNumber');
  expect(read).not.toHaveProperty('time');
  expect(read?.action).toEqual({});
});

test('a block reward keeps its receiver', async () => {
  const action = { author: SENDER, rewardType: 'block', value: '0x1bc16d674ec80000' };
  const item = { type: 'reward', action, result: null, subtraces: 0, traceAddress: [] };

  expect(await traced([item])).toEqual([{ ...item, transactionHash: HASH }]);
});

test('a missing trace is an empty list', async () => {
  expect(await traced([])).toEqual([]);
});

test('a frame that failed and returned data keeps both', async () => {
  const frame = { type: 'CALL', from: SENDER, to: PREY, gas: '0x1', gasUsed: '0x1', output: '0x08c379a0' };

  expect(await traced({ ...frame, error: 'execution reverted' })).toMatchObject([
    { type: 'call', error: 'execution reverted', result: { gasUsed: '0x1', output: '0x08c379a0' } },
  ]);
});

test('nested frames are read to the EVM’s maximal depth and no deeper', async () => {
  const items = await traced(framesTo(1024));

  expect(items).toHaveLength(1025);
  expect(items.at(-1)?.traceAddress).toHaveLength(1024);
  await expect(traced(framesTo(1025))).rejects.toThrow('deeper than the EVM allows');
});

test.each([
  ['the opcodes of a transaction', fixtureOf('getTransactionRawTrace', 'v11-opcodes').body, 'type'],
  ['a text', 'Error while raw trace fetching', ''],
  ['nothing', null, ''],
  ['an item without a type', [{ ...firstItem(), type: null }], '[0].type'],
  ['an item without an action', [firstItem(), { ...firstItem(), action: null }], '[1].action'],
  ['an item without its path', [{ ...firstItem(), traceAddress: null }], '[0].traceAddress'],
  ['a path of words', [{ ...firstItem(), traceAddress: [0, 'a'] }], '[0].traceAddress[1]'],
  ['an item without the number of its children', [{ ...firstItem(), subtraces: null }], '[0].subtraces'],
  [
    'an inner frame without a sender',
    { type: 'CALL', from: SENDER, calls: [{ type: 'CALL' }] },
    'calls[0].from',
  ],
])('%s is unreadable', async (_what, body, path) => {
  await expect(traced(body)).rejects.toThrow(expect.objectContaining({ name: 'UnreadableRecord', path }));
});

function traced(body: unknown, hash = HASH) {
  return rawTrace(body, hash, new AbortController().signal);
}
