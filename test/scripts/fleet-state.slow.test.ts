import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#lib/clock.ts';
import type { InterruptedChain } from '../../scripts/fleet/chain.ts';
import { disturbState, STATE_FAULTS } from '../../scripts/fleet/state-faults.ts';
import { compareStates } from '../../scripts/fleet/state-judge.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { faultyNode, type Lie } from '../lab/faulty-node.ts';
import { mineEvery, startPaymentChain, type TestPaymentChain } from '../lab/payment-chain.ts';
import { PATIENCE_MS } from '../lab/until.ts';

let chain: TestPaymentChain;

beforeAll(async () => {
  chain = await startPaymentChain({ clock: systemClock });
});

afterAll(() => chain.stop());

const { signal } = new AbortController();
const BLOCK_MS = 100;

test.for(STATE_FAULTS)('balances and owners are those of the chain after $name', async fault => {
  await using node = await faultyNode(chain.rpcUrl);
  await using served = await serviceOver(node.url);
  await using _ = mineEvery(BLOCK_MS, () => chain.mine());

  const refused = await disturbState(
    { chain, node },
    { ...fault, lateMs: fault.lateMs / 10, roundMs: BLOCK_MS },
    signal,
  );
  const differences = await compareStates({ ...judgedBy(served.url), withinMs: PATIENCE_MS });

  expect(refused).toBeGreaterThan(0);
  expect(differences).toEqual([]);
});

test('a balance and an owner that are not those of the chain are named', async () => {
  await using node = await faultyNode(chain.rpcUrl);
  await using served = await serviceOver(node.url);
  const refusing: Lie = ({ method }) => (method === 'eth_call' ? new Error('execution reverted') : undefined);

  await disturbState(
    { chain, node },
    { name: 'a node that lies', lateMs: 0, roundMs: 1, lie: () => refusing },
    signal,
  );
  node.tell(refusing);
  await chain.mine();
  await served.catchUp();
  const differences = await compareStates({ ...judgedBy(served.url), withinMs: 0 });

  expect(differences).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^balance of 0x\w{40} in 0x\w{40} of chain 31337 is 0 at /),
      expect.stringMatching(/^owner of \d+ of chain 31337 is undefined at /),
    ]),
  );
});

function serviceOver(rpcUrl: string) {
  const { chainId: id } = chain;
  return startTestDataService(
    [{ id, name: 'test chain', rpcUrl, contracts: [], pids: { supervisor: 0, engine: 0 } }],
    { rateLimitPerMinute: 100_000 },
  );
}

function judgedBy(url: string): Omit<Parameters<typeof compareStates>[0], 'withinMs'> {
  const { chainId: id, rpcUrl, call: ask } = chain;
  const configured: InterruptedChain['configured'] = { id, rpcUrl, tokens: [] };
  return { urls: [url], chain: { id, chain, configured, ask }, holders: chain.accounts.slice(0, 8) };
}
