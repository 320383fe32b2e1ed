import { join } from 'node:path';
import { type Address, concatHex, getContractAddress, type Hex, keccak256, numberToHex, pad } from 'viem';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { gasOn } from '../../src/devnet/transaction.ts';
import type { ChainIndex } from '../../src/indexer/index-service.ts';
import { chainKind, isAnvil } from '../lab/chain-kind.ts';
import { startNodeProxy } from './node-proxy.ts';
import {
  artifact,
  CHAIN_ID,
  canonicalContent,
  clientOf,
  type Deployed,
  openTestIndex,
  startTestChain,
  type TestChain,
} from './support.ts';

const NOBODY: Address = '0x00000000000000000000000000000000000000aa';
const IDENTITY_PRECOMPILE: Address = '0x0000000000000000000000000000000000000004';
const DATA = '0x12345678';
const SALT = pad('0x01');

let chain: TestChain;
let index: ChainIndex;
let file: string;
let files = 0;
let splitter: Deployed;

beforeEach(async () => {
  chain = await startTestChain();
  splitter = await chain.deploy('PaymentSplitter', []);
  await chain.mine();
  file = join(chain.folder, 'index.sqlite');
  index = await openTestIndex({ file, client: chain.client });
});

afterEach(async () => {
  await index.stop();
  await chain.stop();
});

/** Mines a block with one transaction. */
async function mined(transaction: { to: Address; value?: bigint; data?: Hex }): Promise<Hex> {
  const { hash } = await chain.send(3, transaction);
  await chain.mine();
  return hash;
}

async function typesOf(hashes: readonly Hex[], reader = index.reader) {
  const rows = await Promise.all(hashes.map(hash => reader.transactionByHash(hash)));
  return rows.map(row => row?.types);
}

/** Types from a new index of the whole chain, which reads all blocks at once. */
async function typesAtOnce(hashes: readonly Hex[], rpcUrl = chain.rpcUrl) {
  files += 1;
  const fresh = await openTestIndex({
    file: join(chain.folder, `fresh-${files}.sqlite`),
    client: clientOf(rpcUrl),
  });
  try {
    await fresh.runOnce();
    return await typesOf(hashes, fresh.reader);
  } finally {
    await fresh.stop();
  }
}

/** Makes an account delegate to a contract, or to nothing (the zero address). The account must not send by itself. */
async function delegate(authority: number, { to, nonce }: { to: Address; nonce: number }): Promise<void> {
  await delegateAll([authority], { to, nonce });
}

async function delegateAll(authorities: readonly number[], { to, nonce }: { to: Address; nonce: number }) {
  const signed = await Promise.all(
    authorities.map(one =>
      chain.accounts.authority(one).signAuthorization({ address: to, chainId: CHAIN_ID, nonce }),
    ),
  );
  const sender = chain.accounts.signer(9);
  const count = await chain.rpc.call('eth_getTransactionCount', sender.address, 'pending');
  const raw = await sender.signTransaction({
    type: 'eip7702',
    chainId: CHAIN_ID,
    nonce: Number(count),
    gas: gasOn(chainKind.hardfork, 2_000_000n),
    maxFeePerGas: 10_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    to: NOBODY,
    authorizationList: signed,
  });
  await chain.rpc.call('eth_sendRawTransaction', raw);
}

test('data for a plain account or a precompile is no call, and a call needs no data', async () => {
  const hashes = [
    await mined({ to: NOBODY, data: DATA }),
    await mined({ to: NOBODY, data: DATA, value: 1n }),
    await mined({ to: IDENTITY_PRECOMPILE, data: DATA }),
    await mined({ to: splitter.address }),
    await mined({ to: splitter.address, value: 1n }),
    await mined({ to: splitter.address, data: DATA }),
  ];

  await index.runOnce();

  expect(await typesOf(hashes)).toEqual([
    [],
    ['coin_transfer'],
    [],
    ['contract_call'],
    ['contract_call', 'coin_transfer'],
    ['contract_call'],
  ]);
});

test('a list by selector or type matches its records, whether the receiver had code or not', async () => {
  const plain = await mined({ to: NOBODY, data: DATA });
  const call = await mined({ to: splitter.address, data: DATA });
  await index.runOnce();
  const list = async (filter: { selectors?: Hex[]; types?: 'contract_call'[] }) =>
    (await index.reader.transactions({ limit: 50, ...filter })).items.map(({ hash }) => hash);

  expect(await list({ selectors: [DATA] })).toEqual([call, plain]);
  expect(await list({ selectors: [DATA], types: ['contract_call'] })).toEqual([call]);
  expect(await list({ types: ['contract_call'] })).toEqual([call]);
});

test('a transaction to an address before its contract existed is no call, whether blocks are read at once or one by one', async () => {
  const from = chain.accounts.signer(0).address;
  const nonce = Number(await chain.rpc.call('eth_getTransactionCount', from, 'pending'));
  const future = getContractAddress({ from, nonce: BigInt(nonce) });
  const hashes = [await mined({ to: future, data: DATA })];
  await index.runOnce();
  hashes.push(await mined({ to: future, value: 1n }));
  await chain.deploy('PaymentSplitter', []);
  await chain.mine();
  hashes.push(await mined({ to: future, data: DATA }));

  await index.runOnce();

  const expected = [[], ['coin_transfer'], ['contract_call']];
  expect(await typesOf(hashes)).toEqual(expected);
  expect(await typesAtOnce(hashes)).toEqual(expected);
});

test('a contract created by another contract is known with traces and without', async () => {
  const factory = await chain.deploy('Factory', []);
  await chain.mine();
  const { bytecode } = artifact('Box');
  const bytecodeHash = keccak256(concatHex([bytecode, pad('0x07')]));
  const box = getContractAddress({ opcode: 'CREATE2', from: factory.address, salt: SALT, bytecodeHash });
  const hashes = [await mined({ to: box, data: DATA })];
  await chain.send(0, factory.call('createBox', [SALT, 7n]));
  await chain.mine();
  hashes.push(await mined({ to: box, data: DATA }));
  const untraced = await startNodeProxy(chain.rpcUrl, {
    missing: ['trace_block', 'debug_traceBlockByHash', 'debug_traceBlockByNumber'],
  });
  try {
    const expected = [[], ['contract_call']];
    expect(await typesAtOnce(hashes)).toEqual(expected);
    expect(await typesAtOnce(hashes, untraced.rpcUrl)).toEqual(expected);
  } finally {
    await untraced.stop();
  }
});

test('an account has code while it delegates to a contract', async () => {
  const account = chain.accounts.authority(0).address;
  const hashes = [await mined({ to: account, data: DATA })];
  await delegate(0, { to: splitter.address, nonce: 0 });
  await chain.mine();
  hashes.push(await mined({ to: account, value: 1n }));
  await index.runOnce();
  await delegate(0, { to: '0x0000000000000000000000000000000000000000', nonce: 1 });
  await chain.mine();
  hashes.push(await mined({ to: account, data: DATA }));

  await index.runOnce();

  const expected = [[], ['contract_call', 'coin_transfer'], []];
  expect(await typesOf(hashes)).toEqual(expected);
  expect(await typesAtOnce(hashes)).toEqual(expected);
});

test('one of many delegating accounts has code from its delegation on', async () => {
  const account = chain.accounts.authority(7).address;
  const hashes = [await mined({ to: account, data: DATA })];
  const many = Array.from({ length: 41 }, (_, at) => at);
  await delegateAll(many, { to: splitter.address, nonce: 0 });
  await chain.mine();
  hashes.push(await mined({ to: account, data: DATA }));

  await index.runOnce();

  expect(await typesOf(hashes)).toEqual([[], ['contract_call']]);
});

// The proxy adds the destruction to `trace_block`.
test.runIf(isAnvil)(
  'a transaction in the block that destroys a contract still calls it, and a later one does not',
  async () => {
    const { address } = splitter;
    const hashes = [await mined({ to: address, data: DATA })];
    await chain.mine(); // anvil also changes the code of its newest block
    await chain.rpc.call('anvil_setCode', address, '0x');
    hashes.push(await mined({ to: address, data: DATA }));
    hashes.push(await mined({ to: address, data: DATA }));
    const suicide = (trace: object) => ({
      ...trace,
      type: 'suicide',
      action: { address: address.toLowerCase(), refundAddress: NOBODY, balance: '0x0' },
      traceAddress: [0],
    });
    const proxy = await startNodeProxy(chain.rpcUrl, {
      change: (method, traces) =>
        method === 'trace_block' && Array.isArray(traces) && traces[0]?.blockNumber === 4
          ? [traces[0], suicide(traces[0])]
          : traces,
    });
    try {
      expect(await typesAtOnce(hashes, proxy.rpcUrl)).toEqual([['contract_call'], ['contract_call'], []]);
    } finally {
      await proxy.stop();
    }
  },
);

test('after a reorganisation the code at the new blocks counts', async () => {
  const target = chain.accounts.authority(0).address;
  await delegate(0, { to: splitter.address, nonce: 0 });
  await chain.mine();
  const { hash, signed } = await chain.send(3, { to: target, data: DATA });
  await chain.mine();
  await index.runOnce();
  const before = await typesOf([hash]);

  await chain.reorg(2, [[signed, 1]]);
  await index.runOnce();

  expect(before).toEqual([['contract_call']]);
  expect(await typesOf([hash])).toEqual([[]]);
  const fresh = join(chain.folder, 'fresh.sqlite');
  const other = await openTestIndex({ file: fresh, client: chain.client });
  await other.runOnce();
  await other.stop();
  const [ours, theirs] = await Promise.all([file, fresh].map(path => canonicalContent(path)));
  expect(ours?.transactions).toEqual(theirs?.transactions);
});

test('the code of an address is requested once, however often the address is reached', async () => {
  for (let turn = 0; turn < 30; turn += 1) {
    await chain.send(3, { to: NOBODY, data: DATA });
    await mined({ to: splitter.address });
  }
  const head = numberToHex(31);
  const proxy = await startNodeProxy(chain.rpcUrl, {});
  try {
    await typesAtOnce([], proxy.rpcUrl);

    // The accounts' state is read at the head, and only contracts are known from before.
    const lookUps = proxy.calls.filter(
      ({ method, params }) => method === 'eth_getCode' && params?.[1] !== head,
    );
    expect(lookUps.map(({ params }) => params?.[0]).sort()).toEqual([NOBODY, splitter.address.toLowerCase()]);
  } finally {
    await proxy.stop();
  }
});

test('a node that has pruned old state is asked for the present code', async () => {
  const hashes = [await mined({ to: splitter.address }), await mined({ to: NOBODY, data: DATA })];
  await chain.mine();
  const head = numberToHex(Number(await chain.rpc.call('eth_blockNumber')));
  const pruned = await startNodeProxy(chain.rpcUrl, {
    refuses: ({ method, params }) =>
      method === 'eth_getCode' && params?.[1] !== head && params?.[1] !== 'latest',
  });
  try {
    expect(await typesAtOnce(hashes, pruned.rpcUrl)).toEqual([['contract_call'], []]);
  } finally {
    await pruned.stop();
  }
});
