import { isDeepStrictEqual } from 'node:util';
import { test as base, describe, expect } from 'vitest';
import { createMetrics } from '#http/metrics.ts';
import { DAY_MS } from '#lib/clock.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { type DepositChain, startDepositChain } from '../../deposits/deposit-chain.ts';
import { CHAIN_KINDS } from '../../lab/chain-kind.ts';
import { type FaultyNode, faultyNode, type Lie } from '../../lab/faulty-node.ts';
import { list, record } from '../../lab/json.ts';
import { SHOP, startTestProcess, unreachableChain } from '../../lab/payments-service.ts';
import { until } from '../../lab/until.ts';
import { sqliteDatabase } from '../../support/databases.ts';
import { manualClock } from '../../support/manual-clock.ts';

const MINUTE_MS = 60_000;
const FACTORY = '0x23F9e05d925900005D4739a5C02110E2Fb631A40';
const OFFERED = { is_offered: true, reason: null };
const refused = (reason: string) => ({
  is_offered: false,
  reason: `Chain 31337 offers no deposit addresses: ${reason}.`,
});

const silent: Lie = () => new Error('the node is away');
const createsElsewhere: Lie = ({ method }) => (method === 'eth_call' ? `0x${'07'.repeat(32)}` : undefined);
const hasNoFactory: Lie = ({ method }) => (method === 'eth_getCode' ? '0x' : undefined);

/** A chain with the factory and two nodes of different hosts. */
const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of used fixtures from the pattern.
  .extend('chain', { scope: 'file' }, async ({}, { onCleanup }): Promise<DepositChain> => {
    const chain = await startDepositChain(CHAIN_KINDS[0]);
    onCleanup(() => chain.stop());
    return chain;
  })
  .extend('first', async ({ chain }, { onCleanup }) => newNode(chain, onCleanup))
  .extend('second', async ({ chain }, { onCleanup }) => newNode(chain, onCleanup));

async function newNode({ rpcUrl }: DepositChain, onCleanup: (end: () => PromiseLike<void>) => void) {
  const node = await faultyNode(rpcUrl);
  onCleanup(async () => node[Symbol.asyncDispose]());
  return node;
}

// The first process loads its modules.
test.beforeAll(async ({ chain }) => {
  const node = await faultyNode(chain.rpcUrl);
  await using _ = await startProcess({ first: node, second: node });
  await node[Symbol.asyncDispose]();
});

interface Asked {
  readonly first: FaultyNode;
  readonly second: FaultyNode;
}

/** A process that shows payers where to pay, on a chain with real money. */
async function startProcess({ first, second }: Asked, overrides: object = {}) {
  const clock = manualClock();
  const metrics = createMetrics();
  const database = await sqliteDatabase('payments');
  const chain = {
    ...unreachableChain,
    mode: 'live' as const,
    depositAddresses: {},
    rpcUrls: [first.url, second.url.replace('127.0.0.1', 'localhost')],
  };
  const service = await startTestProcess(database.options, {
    roles: ['payments'],
    chains: [{ ...chain, ...overrides }],
    clock,
    metrics,
  });
  const status = async () => record(await service.status());
  const shown = async () => record(list((await status()).chains)[0]).deposit_addresses;
  const asDemo = async (path: string, body?: object) => {
    const answer = await fetch(`${service.api?.url}/api/v1/${path}`, {
      headers: { Authorization: `Bearer ${service.api?.demoKey}`, 'Content-Type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    return record(await answer.json());
  };
  return {
    clock,
    status,
    shown,
    /** `deposit_addresses` of the chain in the API. */
    listed: async () => record(list((await asDemo('chains')).data)[0]).deposit_addresses,
    /** Payment method of a new session that asks for a deposit address. */
    async paymentMethod() {
      const session = await asDemo('checkout-sessions', {
        chain_id: unreachableChain.id,
        token_address: NATIVE_COIN,
        recipient_address: SHOP,
        amount: '4000',
        payment_method: 'deposit_address',
      });
      return session.payment_method;
    },
    gauge: () => metrics.registry.getSingleMetricAsString('tollgate_payments_deposit_addresses_offered'),
    checked: () => until(shown, value => !JSON.stringify(value).includes('not been checked')),
    async [Symbol.asyncDispose]() {
      await service.close();
      await database.remove();
    },
  };
}

const isOffered = (value: unknown) => record(value).is_offered === true;
const isRefused = (value: unknown) => record(value).is_offered === false;

test('a process that has started offers them at once', async ({ first, second }) => {
  await using started = await startProcess({ first, second });

  expect(await started.shown()).toEqual(OFFERED);
});

test('a process starts although no node answers', async ({ first, second }) => {
  for (const node of [first, second]) node.hang(() => true);

  await using started = await startProcess({ first, second });

  expect(await started.shown()).toEqual(refused('the factory has not been checked yet'));
});

describe('a chain offers deposit addresses', () => {
  test('after two nodes have confirmed its factory', async ({ first, second }) => {
    await using shop = await startProcess({ first, second });

    expect(await shop.checked()).toEqual(OFFERED);
    expect(first.calls).toContain('eth_call');
    expect(second.calls).toContain('eth_call');
    expect((await shop.status()).warnings).toEqual([]);
    expect(await shop.gauge()).toContain('tollgate_payments_deposit_addresses_offered{chain="31337"} 1');
  });

  test('by the word of its only node', async ({ first }) => {
    await using shop = await startProcess({ first, second: first }, { rpcUrls: [first.url] });

    expect(await shop.checked()).toEqual(OFFERED);
  });

  test('within seconds after the factory was deployed', async ({ first, second }) => {
    first.tell(hasNoFactory);
    second.tell(hasNoFactory);
    await using shop = await startProcess({ first, second });
    const before = await shop.checked();

    first.tell(undefined);
    second.tell(undefined);
    shop.clock.advance(10_000);

    expect(before).toEqual(
      refused('the factory is not deployed: run tollgate deposit-factory deploy --chain 31337'),
    );
    expect(await until(shop.shown, isOffered)).toEqual(OFFERED);
  });

  test('for two days without an answer of its nodes, and no longer', async ({ first, second }) => {
    await using shop = await startProcess({ first, second });
    await shop.checked();

    first.tell(silent);
    second.tell(silent);
    shop.clock.advance(DAY_MS);
    const calls = first.calls.length;
    await until(
      async () => first.calls.slice(calls),
      made => made.includes('eth_getCode'),
    );
    const within = await shop.shown();
    shop.clock.advance(DAY_MS);

    expect(within).toEqual(OFFERED);
    const reason = 'the check of the factory has no answer of its nodes 127.0.0.1, localhost';
    expect(await until(shop.shown, shown => isDeepStrictEqual(shown, refused(reason)))).toBeDefined();
  });
});

describe('a chain offers no deposit addresses', () => {
  test.for([
    [
      'has other code at the address of the factory',
      ({ method }) => (method === 'eth_getCode' ? '0x00' : undefined),
      `the factory at ${FACTORY} has other code, as its node localhost says`,
    ],
    [
      'creates contracts elsewhere',
      createsElsewhere,
      `the factory at ${FACTORY} creates contracts at other addresses than Ethereum does, as its node localhost says`,
    ],
    ['lacks the factory', hasNoFactory, 'the factory is not known to its node localhost'],
    ['does not answer', silent, 'the check of the factory has no answer of its node localhost'],
  ] satisfies [string, Lie, string][])(
    'while its second node %s',
    async ([, lie, reason], { first, second }) => {
      second.tell(lie);
      await using shop = await startProcess({ first, second });

      const shown = await shop.checked();

      expect(shown).toEqual(refused(reason));
      expect((await shop.status()).warnings).toEqual([refused(reason).reason]);
      expect(await shop.gauge()).toContain('{chain="31337"} 0');
    },
  );

  test('on nodes without the factory, which are asked for it less and less often', async ({
    first,
    second,
  }) => {
    first.tell(hasNoFactory);
    second.tell(hasNoFactory);
    await using shop = await startProcess({ first, second });
    await shop.checked();
    const asked = (method: string) => first.calls.filter(call => call === method).length;

    const start = shop.clock.now();
    for (let looks = 0; looks < 30; looks += 1) {
      const heads = asked('eth_getBlockByNumber');
      const look = async () => {
        shop.clock.advance(MINUTE_MS);
        return asked('eth_getBlockByNumber');
      };
      await until(look, count => count > heads);
    }

    const tenMinutes = (shop.clock.now() - start) / (10 * MINUTE_MS);
    expect(asked('eth_getCode')).toBeGreaterThan(4);
    expect(asked('eth_getCode')).toBeLessThan(9 + tenMinutes);
  });

  test('a day after a node began to create elsewhere', async ({ first, second }) => {
    await using shop = await startProcess({ first, second });
    await shop.checked();

    second.tell(createsElsewhere);
    shop.clock.advance(DAY_MS - MINUTE_MS);
    await until(
      async () => shop.clock.sleepers(),
      count => count > 0,
    );
    const before = await shop.shown();
    shop.clock.advance(MINUTE_MS);

    expect(before).toEqual(OFFERED);
    expect(await until(shop.shown, isRefused)).toMatchObject({
      reason: expect.stringContaining('localhost'),
    });
  });

  test('soon after another node takes the lead, if that one creates elsewhere', async ({ first, second }) => {
    await using shop = await startProcess({ first, second });
    await shop.checked();
    const start = shop.clock.now();

    second.tell(createsElsewhere);
    first.tell(silent);
    const shown = await until(async () => {
      shop.clock.advance(MINUTE_MS);
      return shop.shown();
    }, isRefused);

    expect(shop.clock.now() - start).toBeLessThan(DAY_MS);
    expect(shown).toMatchObject({ reason: expect.stringContaining('as its node localhost says') });
  });

  test('to sessions that ask for one, which get an exact amount meanwhile', async ({ first, second }) => {
    second.tell(hasNoFactory);
    await using shop = await startProcess({ first, second }, { mode: 'test' });
    await shop.checked();
    const during = { listed: await shop.listed(), method: await shop.paymentMethod() };

    second.tell(undefined);
    await until(() => {
      shop.clock.advance(10_000);
      return shop.shown();
    }, isOffered);

    const reason = 'the factory is not known to its node localhost';
    expect(during).toEqual({ listed: refused(reason), method: 'exact_amount' });
    expect(await shop.listed()).toEqual(OFFERED);
    expect(await shop.paymentMethod()).toBe('deposit_address');
  });

  test('on a test network, without a warning', async ({ first, second }) => {
    second.tell(hasNoFactory);
    await using shop = await startProcess({ first, second }, { mode: 'test' });

    expect(await shop.checked()).toMatchObject({ is_offered: false });
    expect((await shop.status()).warnings).toEqual([]);
  });

  test('without the setting, and is not asked', async ({ first, second }) => {
    await using shop = await startProcess({ first, second }, { depositAddresses: undefined });

    expect(await shop.shown()).toBeNull();
    expect(first.calls).not.toContain('eth_call');
  });
});
