import { keccak256, numberToHex, slice } from 'viem';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CURRENT_FACTORY } from '#deposits/deposit-factory.ts';
import { checkFactory } from '#deposits/self-check.ts';
import { sweepInput } from '#deposits/sweep-call.ts';
import { silentLogger } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';
import { NodeFailure } from '#node/transport/errors.ts';
import { CHAIN_KINDS } from '../lab/chain-kind.ts';
import { type FaultyNode, faultyNode } from '../lab/faulty-node.ts';
import { startPaymentChain } from '../lab/payment-chain.ts';
import { manualClock } from '../support/manual-clock.ts';
import { test as devnetTest } from '../support/served-devnet.ts';
import { startDepositChain } from './deposit-chain.ts';

const TIMEOUT_MS = 2_000;
const SWEEP_SELECTOR = slice(sweepInput([]), 0, 4);

const clientOf = (url: string) =>
  createChainClient({ id: 31_337, rpcUrls: [url], timeoutMs: TIMEOUT_MS, log: silentLogger() });

describe.each(CHAIN_KINDS)('on $engine with the rules of $hardfork', kind => {
  test('the factory works where it is deployed', async () => {
    await using chain = await startDepositChain(kind);

    expect(await checkFactory(clientOf(chain.rpcUrl))).toEqual({ kind: 'works' });
    expect(await chain.call('eth_getTransactionCount', CURRENT_FACTORY.address, 'latest')).toBe('0x1');
  });

  test('it is broken where creations have other addresses than on Ethereum', async () => {
    await using chain = await startDepositChain(kind);
    const codeHash = keccak256(await chain.createElsewhere());

    const state = await checkFactory(clientOf(chain.rpcUrl), { ...CURRENT_FACTORY, codeHash });

    expect(state).toEqual({
      kind: 'broken',
      reason: 'creates contracts at other addresses than Ethereum does',
    });
  });

  test('it is absent elsewhere', async () => {
    await using chain = await startPaymentChain({ clock: manualClock(), ...kind });

    expect(await checkFactory(clientOf(chain.rpcUrl))).toEqual({ kind: 'absent' });
  });
});

devnetTest('it works on embedded chains', async ({ devnet }) => {
  const states = await Promise.all(devnet.chains.map(({ rpcUrl }) => checkFactory(clientOf(rpcUrl))));

  expect(states).toEqual([{ kind: 'works' }, { kind: 'works' }]);
});

describe('a node of a chain with the factory', () => {
  async function lyingNode(): Promise<FaultyNode> {
    const chain = await startDepositChain(CHAIN_KINDS[0]);
    onTestFinished(() => chain.stop());
    const node = await faultyNode(chain.rpcUrl);
    onTestFinished(() => node[Symbol.asyncDispose]());
    return node;
  }

  test.each([
    ['other code', 'eth_getCode', '0x00', 'has other code'],
    ['a refusal to create', 'eth_call', new Error('execution reverted'), 'creates nothing'],
    ['no address', 'eth_call', '0x', 'creates contracts at other addresses than Ethereum does'],
    [
      'another address',
      'eth_call',
      numberToHex(7, { size: 32 }),
      'creates contracts at other addresses than Ethereum does',
    ],
    [
      'no address but a number',
      'eth_call',
      `0x${'ff'.repeat(32)}`,
      'creates contracts at other addresses than Ethereum does',
    ],
  ])('that answers with %s has a broken one', async (_, lied, answer, reason) => {
    const node = await lyingNode();
    node.tell(({ method }) => (method === lied ? answer : undefined));

    expect(await checkFactory(clientOf(node.url))).toEqual({ kind: 'broken', reason });
  });

  test('that refuses to sweep has a broken one', async () => {
    const node = await lyingNode();
    const isSweep = (params: unknown) => JSON.stringify(params).includes(SWEEP_SELECTOR);
    node.tell(({ method, params }) =>
      method === 'eth_call' && isSweep(params) ? new Error('execution reverted') : undefined,
    );

    expect(await checkFactory(clientOf(node.url))).toEqual({ kind: 'broken', reason: 'does not sweep' });
  });

  test('that does not answer says nothing about it', async () => {
    const node = await lyingNode();
    node.hang(({ method }) => method === 'eth_call');

    await expect(checkFactory(clientOf(node.url))).rejects.toThrow(NodeFailure);
  });
});
