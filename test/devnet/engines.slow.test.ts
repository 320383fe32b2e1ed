import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BLOB_SENDER, deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import type { EngineName, Hardfork } from '../../src/devnet/chain/engine.ts';
import { httpRpc, type Rpc } from '../../src/devnet/chain/rpc.ts';
import { startTestDevnet, type TestDevnet } from '../lab/devnet.ts';
import { type Frame, framesOf, type SeenTransaction, viewChain } from './chain-view.ts';

test('equal seeds give the same activity on both engines, except for blobs', async () => {
  const [anvil, edr] = await Promise.all([activityOn('anvil'), activityOn('edr')]);

  expect(edr.blocks).toEqual(anvil.blocks);
  expect(edr.transactions).toEqual(anvil.transactions);
  expect(anvil.types).toEqual(new Set(['0x0', '0x1', '0x2', '0x3', '0x4']));
  expect(edr.types).toEqual(new Set(['0x0', '0x1', '0x2', '0x4']));
});

test('the same transactions succeed with the rules of Amsterdam, and their coins have logs', async () => {
  const [prague, amsterdam] = await Promise.all([
    activityOn('edr', { hardfork: 'prague' }),
    activityOn('edr', { hardfork: 'amsterdam' }),
  ]);
  const outcomes = ({ transactions }: typeof prague) =>
    transactions.map(({ from, to, isSuccess, contractAddress }) => ({
      from,
      to,
      isSuccess,
      contractAddress,
    }));
  const isOfChain = ({ address }: { address: string }) => address === `0x${'f'.repeat(39)}e`;

  expect(outcomes(amsterdam)).toEqual(outcomes(prague));
  expect(prague.transactions.flatMap(({ logs }) => logs.filter(isOfChain))).toEqual([]);
  expect(amsterdam.transactions.flatMap(({ logs }) => logs.filter(isOfChain)).length).toBeGreaterThan(20);
});

describe('a chain of EDR', () => {
  let devnet: TestDevnet;
  let rpc: Rpc;
  beforeAll(async () => {
    devnet = await startTestDevnet({ blocks: 1, engine: 'edr' });
    rpc = httpRpc(devnet.chains[0]?.rpcUrl ?? '');
  });
  afterAll(() => devnet.stop());

  const height = async () => Number(await rpc.call('eth_blockNumber'));

  test('blocks that clients mine concurrently can be rolled back one by one', async () => {
    const before = await height();
    await Promise.all(Array.from({ length: 10 }, () => rpc.call('evm_mine')));
    expect(await height()).toBe(before + 10);

    for (let left = 9; left >= 0; left -= 1) {
      await rpc.call('anvil_rollback', 1);
      expect(await height()).toBe(before + left);
    }
  });

  test('a pending transaction is in the pool under its sender and nonce, until it is mined', async () => {
    const [from = '', to] = deriveAccounts().addresses.slice(-2);
    const hash = await rpc.call('eth_sendTransaction', { from, to, value: '0x1' });

    const waiting = await rpc.call('txpool_content');
    await rpc.call('evm_mine');

    expect(waiting).toEqual({
      pending: { [from.toLowerCase()]: { 0: expect.objectContaining({ hash }) } },
      queued: {},
    });
    expect(await rpc.call('txpool_content')).toEqual({ pending: {}, queued: {} });
  });

  test.each(['toString', 'constructor', 'evm_unknown'])(
    'the unknown method %s is answered with an error',
    async method => {
      await expect(rpc.call(method)).rejects.toThrow(`${method}: Method ${method} is not supported`);
    },
  );
});

async function activityOn(engine: EngineName, settings: { hardfork?: Hardfork } = {}) {
  await using devnet = await startTestDevnet({ engine, ...settings });
  const [chain] = devnet.chains;
  if (chain === undefined) throw new Error('the devnet has no chain');
  const { blocks, transactions } = await viewChain(chain);
  return {
    blocks,
    types: new Set(transactions.map(({ typeHex }) => typeHex)),
    transactions: transactions.map(comparable),
  };
}

/** Data that does not depend on the engine; a transaction that may have a blob has another hash without it. */
function comparable({ hash, from, to, input, isSuccess, contractAddress, logs, trace }: SeenTransaction) {
  const mayHaveBlob = from === BLOB_ACCOUNT.toLowerCase();
  return {
    hash: mayHaveBlob ? null : hash,
    from,
    to,
    input,
    isSuccess,
    contractAddress,
    logs: logs.map(({ address, topics, data, logIndex }) => ({ address, topics, data, logIndex })),
    calls: framesOf(trace).map(comparableCall),
  };
}

function comparableCall({ type, from, to, value, input, error }: Frame) {
  return { type, from, to, value: BigInt(value ?? 0), input, hasFailed: error !== undefined };
}

const BLOB_ACCOUNT = deriveAccounts().signer(BLOB_SENDER).address;
