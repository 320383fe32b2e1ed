import { type Address, encodeFunctionData, getAddress, type Hex, slice } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CURRENT_FACTORY } from '#deposits/deposit-factory.ts';
import { sweepInput } from '#deposits/sweep-call.ts';
import { CHAIN_KINDS } from '../lab/chain-kind.ts';
import {
  artifactOf,
  type DepositChain,
  newAccount,
  newForwarder,
  startDepositChain,
} from './deposit-chain.ts';

/*
 * The two forms of an address that can only pay its recipient (Decision 392): a forwarder, whose code stays, and creation
 * code that pays and self-destructs in one transaction, which is not used.
 */

/**
 * Gas of a sweep of one asset of 1, 10 and 100 addresses. A forwarder is created by its first sweep. Since Amsterdam a
 * transaction has room for 20 new ones.
 */
const GAS = {
  prague: {
    coins: {
      first: [112_334, 877_702, 8_600_587],
      later: [45_101, 205_532, 1_878_887],
      disposable: [73_781, 485_830, 4_691_414],
    },
    token: {
      first: [119_229, 885_605, 8_627_555],
      later: [52_002, 213_435, 1_910_924],
      disposable: [109_539, 561_387, 5_337_145],
    },
  },
  amsterdam: {
    coins: {
      first: [503_048, 4_784_974, 47_720_543],
      later: [45_089, 205_544, 1_926_243],
      disposable: [234_381, 2_091_830, 20_787_203],
    },
    token: {
      first: [509_955, 4_792_865, 47_766_607],
      later: [52_002, 213_435, 1_973_047],
      disposable: [252_923, 2_167_363, 21_481_762],
    },
  },
} as const;
const COUNTS = [1, 10, 100] as const;
/** Of the published gas: data of calls differs by some zero bytes, which are cheaper. */
const WITHIN = 0.01;
const AMOUNT = 1_000n;
const TRANSFER_GAS = 21_000n;
const MUCH_GAS = 1_000_000n;

describe.each(CHAIN_KINDS)('on $engine with the rules of $hardfork', kind => {
  let chain: DepositChain;
  let batch: Address;
  let disposables: Address;
  let token: Address;
  beforeAll(async () => {
    chain = await startDepositChain(kind);
    batch = await chain.deploy('BatchPayout');
    disposables = await chain.deploy('DisposableFactory');
    token = await chain.deploy('HostileToken');
  });
  afterAll(() => chain.stop());

  async function payCoins(recipients: readonly Address[]) {
    let isSuccess = true;
    for (const some of parts(recipients)) {
      const value = AMOUNT * BigInt(some.length);
      const mined = await chain.callContract('BatchPayout', batch, 'pay', [some, AMOUNT, 0n], value);
      isSuccess &&= mined.isSuccess;
    }
    return isSuccess;
  }
  async function payTokens(recipients: readonly Address[]) {
    for (const some of parts(recipients))
      await chain.callContract('HostileToken', token, 'mintEach', [some, AMOUNT]);
  }
  /** As many as fit into a transaction. */
  function parts<One>(all: readonly One[]): One[][] {
    const size = kind.hardfork === 'prague' ? 100 : 20;
    return Array.from({ length: Math.ceil(all.length / size) }, (_, part) =>
      all.slice(part * size, (part + 1) * size),
    );
  }

  const { abi } = artifactOf('DisposableFactory');
  async function disposable(recipient: Address, salt: Hex): Promise<Address> {
    const data = encodeFunctionData({ abi, functionName: 'addressOf', args: [recipient, salt] });
    return getAddress(slice(await chain.read({ to: disposables, data }), 12));
  }
  const sweepDisposables = (recipient: Address, salts: readonly Hex[], tokens: readonly Address[] = []) =>
    chain.callContract('DisposableFactory', disposables, 'sweep', [recipient, salts, tokens]);

  async function gasOf<One>(
    all: readonly One[],
    sweep: (some: readonly One[]) => Promise<{ isSuccess: boolean; gasUsed: number }>,
  ): Promise<number> {
    let gas = 0;
    for (const some of parts(all)) {
      const { isSuccess, gasUsed } = await sweep(some);
      expect(isSuccess).toBe(true);
      gas += gasUsed;
    }
    return gas;
  }

  /** Pays an address in one transaction after a recipient of the same payout has swept it. */
  async function payAfterSweep(address: Address, to: Address, sweep: Hex): Promise<void> {
    const sweeper = await chain.deploy('OddRecipient');
    await chain.callContract('OddRecipient', sweeper, 'behave', [4, to, 0n, sweep]);
    await payCoins([address]);
    expect(await payCoins([sweeper, address])).toBe(true);
  }

  test('coins that reach a forwarder after a sweep of the same transaction are swept by the next one', async () => {
    const recipient = newAccount();
    const { address, holding } = newForwarder(recipient);

    await payAfterSweep(address, CURRENT_FACTORY.address, sweepInput([holding(null)]));
    expect(await chain.balance(null, recipient)).toBe(AMOUNT);
    await chain.sweep([holding(null)]);

    expect(await chain.balance(null, recipient)).toBe(2n * AMOUNT);
  });

  test('coins that reach a disposable address after a sweep of the same transaction are burned', async () => {
    const recipient = newAccount();
    const salt: Hex = `0x${'01'.repeat(32)}`;
    const address = await disposable(recipient, salt);
    const sweep = encodeFunctionData({ abi, functionName: 'sweep', args: [recipient, [salt], []] });

    await payAfterSweep(address, disposables, sweep);

    expect(await chain.balance(null, recipient)).toBe(AMOUNT);
    // EIP-8246 ends the burning, where a chain has it.
    expect(await chain.balance(null, address)).toBe(0n);
  });

  test('a sender with 21,000 gas pays a forwarder before its first sweep, and then keeps its coins', async () => {
    const { address, holding } = newForwarder(newAccount());
    const pay = (gas: bigint) => chain.transact({ to: address, value: AMOUNT, gas });

    const before = await pay(TRANSFER_GAS);
    await chain.sweep([holding(null)]);
    const after = await pay(TRANSFER_GAS);
    const left = await chain.balance(null, address);
    const more = await pay(MUCH_GAS);

    expect([before.isSuccess, after.isSuccess, left]).toEqual([true, false, 0n]);
    expect([more.isSuccess, more.gasUsed, await chain.balance(null, address)]).toEqual([
      true,
      21_080,
      AMOUNT,
    ]);
  });

  test('a contract that gives 2,300 gas can pay a forwarder before and after its first sweep', async () => {
    const { address, holding } = newForwarder(newAccount());
    const pay = () => chain.callContract('BatchPayout', batch, 'transfer', [address], AMOUNT);

    const before = await pay();
    await chain.sweep([holding(null)]);
    const after = await pay();

    expect([before.isSuccess, after.isSuccess]).toEqual([true, true]);
    expect(await chain.balance(null, address)).toBe(AMOUNT);
  });

  test('a disposable address cannot be swept twice in one transaction, a forwarder can', async () => {
    const recipient = newAccount();
    const salt: Hex = `0x${'02'.repeat(32)}`;
    const { address, holding } = newForwarder(recipient);
    await payCoins([await disposable(recipient, salt), address]);

    const twice = await sweepDisposables(recipient, [salt, salt]);
    const swept = await chain.sweep([holding(null), holding(null)]);

    expect([twice.isSuccess, swept.isSuccess]).toEqual([false, true]);
  });

  test.each(
    COUNTS.flatMap((count, position) => [
      { count, position, asset: 'coins' as const },
      { count, position, asset: 'token' as const },
    ]),
  )(
    'a sweep of $asset of $count addresses costs the gas that is published',
    async ({ count, position, asset }) => {
      const recipient = newAccount();
      const pay = asset === 'coins' ? payCoins : payTokens;
      await pay([recipient]);
      const forwarders = Array.from({ length: count }, () => newForwarder(recipient));
      const items = forwarders.map(({ holding }) => holding(asset === 'coins' ? null : token));
      const salts = items.map(({ salt }) => salt);
      const tokens = asset === 'coins' ? [] : [token];

      await pay(forwarders.map(({ address }) => address));
      const first = await gasOf(items, some => chain.sweep(some));
      await pay(forwarders.map(({ address }) => address));
      const later = await gasOf(items, some => chain.sweep(some));
      await pay(await Promise.all(salts.map(salt => disposable(recipient, salt))));
      const disposed = await gasOf(salts, some => sweepDisposables(recipient, some, tokens));

      const published = GAS[kind.hardfork][asset];
      const pairs = [
        [first, published.first[position]],
        [later, published.later[position]],
        [disposed, published.disposable[position]],
      ] as const;
      for (const [gas, expected = 0] of pairs)
        expect(Math.abs(gas - expected) / expected, `${gas} gas`).toBeLessThan(WITHIN);
    },
  );
});
