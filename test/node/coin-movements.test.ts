import { randomBytes } from 'node:crypto';
import { type Address, type Hash, numberToHex } from 'viem';
import { afterAll, describe, expect, test } from 'vitest';
import { lowerCase } from '#evm/address.ts';
import { coinMovements } from '#evm/coin-movements.ts';
import { createLogger } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';
import { TRACE_METHODS, type TraceMethodName, traceMethod } from '#node/trace-methods.ts';
import { startPaymentChain, type TestPaymentChain } from '../lab/payment-chain.ts';
import { deploySteps, type Step } from '../lab/sending-contract.ts';
import { manualClock } from '../support/manual-clock.ts';

const log = createLogger({ level: 'silent' });

/** A contract, what it is called with, and what the payee then has. */
interface Scenario {
  readonly title: string;
  /** Steps of the contract that the transaction calls, and of those that it calls in turn. */
  deploy(chain: TestPaymentChain, payee: Address): Promise<Address>;
  readonly value: bigint;
  readonly received: bigint;
}

const pay = (to: Address, value = 5n): Step => ({ kind: 'call', to, value });
const REVERT: Step = { kind: 'revert' };

/** A chain of contracts, each of which calls the next one with coins, and pays at the end. */
async function nested(
  chain: TestPaymentChain,
  payee: Address,
  { depth, revertsAt }: { depth: number; revertsAt: number | undefined },
): Promise<Address> {
  let target = payee;
  for (let level = depth; level >= 0; level--) {
    const steps = [pay(target, 5n), ...(level === revertsAt ? [REVERT] : [])];
    target = await deploySteps(chain, steps);
  }
  return target;
}

const DEPTH = 2;

const SCENARIOS: readonly Scenario[] = [
  {
    title: 'a call',
    deploy: (chain, payee) => deploySteps(chain, [pay(payee)]),
    value: 5n,
    received: 5n,
  },
  {
    title: 'two calls to one receiver',
    deploy: (chain, payee) => deploySteps(chain, [pay(payee, 2n), pay(payee, 3n)]),
    value: 5n,
    received: 5n,
  },
  {
    title: 'a call without enough coins',
    deploy: (chain, payee) => deploySteps(chain, [pay(payee, 9n)]),
    value: 5n,
    received: 0n,
  },
  {
    title: 'a callcode',
    deploy: (chain, payee) => deploySteps(chain, [{ kind: 'callcode', to: payee, value: 5n }]),
    value: 5n,
    received: 0n,
  },
  {
    title: 'a delegatecall to a contract that sends coins',
    async deploy(chain, payee) {
      return deploySteps(chain, [{ kind: 'delegatecall', to: await deploySteps(chain, [pay(payee)]) }]);
    },
    value: 5n,
    received: 5n,
  },
  {
    title: 'a delegatecall to an account',
    deploy: (chain, payee) => deploySteps(chain, [{ kind: 'delegatecall', to: payee }]),
    value: 5n,
    received: 0n,
  },
  {
    title: 'a self-destruction after a call',
    deploy: (chain, payee) => deploySteps(chain, [pay(payee, 2n), { kind: 'selfdestruct', to: payee }]),
    value: 5n,
    received: 5n,
  },
  {
    title: 'creations before a call',
    deploy: (chain, payee) =>
      deploySteps(chain, [{ kind: 'create', value: 1n }, { kind: 'create2', value: 2n }, pay(payee, 2n)]),
    value: 5n,
    received: 2n,
  },
  {
    title: 'nested calls',
    deploy: (chain, payee) => nested(chain, payee, { depth: DEPTH, revertsAt: undefined }),
    value: 5n,
    received: 5n,
  },
  ...Array.from({ length: DEPTH + 1 }, (_, level) => ({
    title: `nested calls of which one at depth ${level} reverts`,
    deploy: (chain: TestPaymentChain, payee: Address) =>
      nested(chain, payee, { depth: DEPTH, revertsAt: level }),
    value: 5n,
    received: 0n,
  })),
];

/** Engines and the methods that they have. */
const METHODS: Record<'anvil' | 'edr', readonly TraceMethodName[]> = {
  anvil: TRACE_METHODS,
  edr: ['debug_traceBlockByHash', 'debug_traceBlockByNumber'],
};

describe.each(['anvil', 'edr'] as const)('coins that contracts of %s move', engine => {
  const starting = startPaymentChain({ clock: manualClock(Date.now()), engine });
  afterAll(async () => (await starting).stop());

  test.each(SCENARIOS)('by $title are those that arrive', async ({ deploy, value, received }) => {
    const chain = await starting;
    const { request } = createChainClient({
      id: chain.chainId,
      rpcUrls: [chain.rpcUrl],
      timeoutMs: 5_000,
      log,
    });
    const payee = lowerCase(`0x${randomBytes(20).toString('hex')}`);
    const contract = await deploy(chain, payee);
    const { hash } = await chain.send({ from: 1, to: contract, value, gas: 500_000n });
    await chain.mine();
    const number = await chain.head();
    const block = Object(await chain.call('eth_getBlockByNumber', numberToHex(number), false));
    const transactions: Hash[] = block.transactions;

    const lists = await Promise.all(
      METHODS[engine].map(async name => {
        const method = traceMethod({ request }, name);
        const ref = { number, hash: block.hash, transactions };
        const whole = (await method.ofBlock(ref))?.()?.[transactions.indexOf(hash)];
        const alone = await method.ofTransaction(ref, hash);
        return [whole, alone].map(trace => trace && coinMovements(trace));
      }),
    );

    const [[first = []] = []] = lists;
    const arrived = (first ?? []).filter(({ to }) => to === payee);
    expect(arrived.reduce((sum, one) => sum + one.value, 0n)).toBe(received);
    expect(BigInt(`${await chain.call('eth_getBalance', payee, 'latest')}`)).toBe(received);
    expect(lists).toEqual(METHODS[engine].map(() => [first, first]));
  });
});
