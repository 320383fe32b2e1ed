import { type Address, encodeFunctionData, type Hex, keccak256, parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CURRENT_FACTORY } from '#deposits/deposit-factory.ts';
import { CALL_GAS, sweepInput, sweepOutcomes, sweptAmounts } from '#deposits/sweep-call.ts';
import { CHAIN_KINDS } from '../lab/chain-kind.ts';
import {
  artifactOf,
  type DepositChain,
  newAccount,
  newForwarder,
  startDepositChain,
} from './deposit-chain.ts';

const COINS = parseEther('1');

/** Behaviours of `HostileToken` and `OddRecipient`, in the order of their enums. */
const TOKEN = {
  honest: 0,
  fee: 1,
  noReturn: 2,
  movesAndReturnsFalse: 3,
  returnsFalse: 4,
  movesNothing: 5,
  reverts: 6,
  burnsGas: 7,
  returnsMuch: 8,
  revertsWithMuch: 9,
  callsOut: 10,
  hidesBalance: 11,
  burnsGasOfBalance: 12,
  returnsMuchBalance: 13,
  lies: 14,
} as const;
const RECIPIENT = { refuse: 1, burnGas: 2, returnMuch: 3, callOut: 4 } as const;
const NOTHING = '0x0000000000000000000000000000000000000000';

describe.each(CHAIN_KINDS)('on $engine with the rules of $hardfork', kind => {
  let chain: DepositChain;
  beforeAll(async () => {
    chain = await startDepositChain(kind);
  });
  afterAll(() => chain.stop());

  const pay = (to: Address, value = COINS) => chain.transact({ to, value });

  async function tokenThat(behaviour: number, { target = NOTHING, data = '0x' as Hex } = {}) {
    const token = await chain.deploy('HostileToken');
    await chain.callContract('HostileToken', token, 'behave', [behaviour, target, data]);
    return token;
  }
  const mint = (token: Address, to: Address, amount = 1_000n) =>
    chain.callContract('HostileToken', token, 'mint', [to, amount]);

  async function recipientThat(
    behaviour: number,
    {
      target = NOTHING,
      amount = 0n,
      data = '0x' as Hex,
    }: { target?: Address; amount?: bigint; data?: Hex } = {},
  ) {
    const recipient = await chain.deploy('OddRecipient');
    await chain.callContract('OddRecipient', recipient, 'behave', [behaviour, target, amount, data]);
    return recipient;
  }

  test('the code of the factory has the hash that is computed offline', async () => {
    const code = await chain.codeOf(CURRENT_FACTORY.address);

    expect(keccak256(code)).toBe(CURRENT_FACTORY.codeHash);
  });

  test('coins and tokens paid before and after the first sweep reach the recipient whole', async () => {
    const recipient = newAccount();
    const { address, holding } = newForwarder(recipient);
    const token = await tokenThat(TOKEN.honest);
    const items = [holding(null), holding(token)];
    await pay(address);
    await mint(token, address);

    const first = await chain.sweep(items);
    await pay(address, 5n);
    await mint(token, address, 7n);
    const second = await chain.sweep(items);

    expect(first.outcomes).toEqual([
      { forwarder: address, token: null, amount: COINS },
      { forwarder: address, token: expect.stringMatching(new RegExp(token, 'i')), amount: 1_000n },
    ]);
    expect(second.outcomes.map(({ amount }) => amount)).toEqual([5n, 7n]);
    expect([await chain.balance(null, recipient), await chain.balance(token, recipient)]).toEqual([
      COINS + 5n,
      1_007n,
    ]);
    expect([await chain.balance(null, address), await chain.balance(token, address)]).toEqual([0n, 0n]);
  });

  test('a sweep of nothing creates nothing, and a repeated one pays nothing', async () => {
    const empty = newForwarder(newAccount());
    const paid = newForwarder(newAccount());
    await pay(paid.address);
    const items = [empty.holding(null), empty.holding(await tokenThat(TOKEN.honest)), paid.holding(null)];

    const first = await chain.sweep(items);
    const second = await chain.sweep(items);

    expect([first.outcomes.length, second.outcomes.length, second.isSuccess]).toEqual([1, 0, true]);
    expect(await chain.codeOf(empty.address)).toBe('0x');
  });

  test('a call says before a sweep what it would pay', async () => {
    const refusing = newForwarder(await recipientThat(RECIPIENT.refuse));
    const { address, holding } = newForwarder(newAccount());
    await pay(address, 3n);
    await pay(refusing.address);
    const items = [refusing.holding(null), holding(null), newForwarder(newAccount()).holding(null)];

    const output = await chain.read({ to: CURRENT_FACTORY.address, data: sweepInput(items) });

    expect(sweptAmounts(output)).toEqual([0n, 3n, 0n]);
    expect(await chain.balance(null, address)).toBe(3n);
  });

  test.each([
    ['keeps a fee', TOKEN.fee, 990n],
    ['returns nothing', TOKEN.noReturn, 1_000n],
    ['moves tokens and returns false', TOKEN.movesAndReturnsFalse, 1_000n],
    ['returns much', TOKEN.returnsMuch, 1_000n],
    ['returns a long balance', TOKEN.returnsMuchBalance, 1_000n],
  ])('a token that %s is paid', async (_, behaviour, arriving) => {
    const recipient = newAccount();
    const { address, holding } = newForwarder(recipient);
    const token = await tokenThat(behaviour);
    await mint(token, address);

    const { outcomes } = await chain.sweep([holding(token)]);

    await chain.callContract('HostileToken', token, 'behave', [TOKEN.honest, NOTHING, '0x']);

    expect(outcomes.map(({ amount }) => amount)).toEqual([1_000n]);
    expect(await chain.balance(token, recipient)).toBe(arriving);
    expect(await chain.balance(token, address)).toBe(0n);
  });

  test.each([
    ['returns false', TOKEN.returnsFalse],
    ['moves nothing', TOKEN.movesNothing],
    ['reverts', TOKEN.reverts],
    ['burns gas', TOKEN.burnsGas],
    ['reverts with much', TOKEN.revertsWithMuch],
    ['hides its balances', TOKEN.hidesBalance],
    ['burns gas for its balances', TOKEN.burnsGasOfBalance],
    ['lies about balances', TOKEN.lies],
  ])(
    'a token that %s stays where it is, changes nothing of others, and can be swept later',
    async (_, behaviour) => {
      const recipient = newAccount();
      const [one, other] = [newForwarder(recipient), newForwarder(recipient)];
      const [good, token] = [await tokenThat(TOKEN.honest), await tokenThat(behaviour)];
      for (const { address } of [one, other]) {
        await pay(address);
        await mint(good, address);
        await mint(token, address);
      }

      const { isSuccess, outcomes } = await chain.sweep(
        [one, other].flatMap(({ holding }) => [holding(token), holding(null), holding(good)]),
      );
      await chain.callContract('HostileToken', token, 'behave', [TOKEN.honest, NOTHING, '0x']);
      const held = await chain.balance(token, one.address);
      const later = await chain.sweep([one.holding(token), other.holding(token)]);

      expect(isSuccess).toBe(true);
      expect(outcomes.map(({ amount }) => amount)).toEqual([null, COINS, 1_000n, null, COINS, 1_000n]);
      expect(held).toBe(1_000n);
      expect(later.outcomes.map(({ amount }) => amount)).toEqual([1_000n, 1_000n]);
      expect(await chain.balance(token, recipient)).toBe(2_000n);
    },
  );

  test('an address without code, the factory and a forwarder are no tokens', async () => {
    const { address, holding } = newForwarder(newAccount());
    const other = newForwarder(newAccount());
    await pay(address);
    await pay(other.address);
    await chain.sweep([other.holding(null)]);
    await pay(other.address);
    const wrong = [newAccount(), CURRENT_FACTORY.address, other.address, address];

    const { outcomes } = await chain.sweep([...wrong.map(holding), holding(null)]);

    expect(outcomes.map(({ amount }) => amount)).toEqual([null, null, null, null, COINS]);
    expect(await chain.balance(null, other.address)).toBe(COINS);
  });

  test.each([
    ['refuses', RECIPIENT.refuse],
    ['burns gas', RECIPIENT.burnGas],
  ])(
    'coins for a recipient that %s stay, its tokens are paid, and others lose nothing',
    async (_, behaviour) => {
      const recipient = await recipientThat(behaviour);
      const [refused, other] = [newForwarder(recipient), newForwarder(newAccount())];
      const token = await tokenThat(TOKEN.honest);
      await pay(refused.address);
      await mint(token, refused.address);
      await pay(other.address);

      const { outcomes } = await chain.sweep([
        refused.holding(null),
        refused.holding(token),
        other.holding(null),
      ]);
      await chain.callContract('OddRecipient', recipient, 'behave', [0, NOTHING, 0n, '0x']);
      const later = await chain.sweep([refused.holding(null)]);

      expect(outcomes.map(({ amount }) => amount)).toEqual([null, 1_000n, COINS]);
      expect(later.outcomes.map(({ amount }) => amount)).toEqual([COINS]);
      expect(await chain.balance(null, recipient)).toBe(COINS);
    },
  );

  test('what a recipient returns is not copied', async () => {
    const quiet = newForwarder(await chain.deploy('OddRecipient'));
    const loud = newForwarder(await recipientThat(RECIPIENT.returnMuch));
    for (const { address } of [quiet, loud]) await pay(address);

    const little = await chain.sweep([quiet.holding(null)]);
    const much = await chain.sweep([loud.holding(null)]);

    expect(much.outcomes.map(({ amount }) => amount)).toEqual([COINS]);
    // The recipient's own memory for these bytes costs 28,000 gas. A copy would cost the sender as much again.
    expect(much.gasUsed - little.gasUsed).toBeLessThan(40_000);
  });

  test('a recipient that sends coins back, or sweeps again within the sweep, changes no amount', async () => {
    const again = newForwarder(newAccount());
    await pay(again.address);
    const data = sweepInput([again.holding(null)]);
    const sweeping = await recipientThat(RECIPIENT.callOut, { target: CURRENT_FACTORY.address, data });
    const returning = await chain.deploy('OddRecipient');
    const [one, other] = [newForwarder(sweeping), newForwarder(returning)];
    const back = [RECIPIENT.callOut, other.address, 4n, '0x'];
    await chain.callContract('OddRecipient', returning, 'behave', back);
    await pay(one.address);
    await pay(other.address);

    const { outcomes } = await chain.sweep([one.holding(null), other.holding(null), again.holding(null)]);

    expect(outcomes.map(({ amount }) => amount)).toEqual([COINS, COINS, COINS]);
    expect(await chain.balance(null, other.address)).toBe(4n);
    expect(await chain.balance(null, sweeping)).toBe(COINS);
  });

  test('a token that sweeps again within its transfer is counted once', async () => {
    const recipient = newAccount();
    const { address, holding } = newForwarder(recipient);
    const token = await chain.deploy('HostileToken');
    const data = sweepInput([holding(token), holding(null)]);
    const behaviour = [TOKEN.callsOut, CURRENT_FACTORY.address, data];
    await chain.callContract('HostileToken', token, 'behave', behaviour);
    await mint(token, address);
    await pay(address);

    const { outcomes } = await chain.sweep([holding(token), holding(null)]);

    expect(outcomes.map(({ amount }) => amount)).toEqual([1_000n, COINS]);
    expect(await chain.balance(token, recipient)).toBe(1_000n);
    const { abi } = artifactOf('HostileToken');
    const hasCalled = encodeFunctionData({ abi, functionName: 'hasCalled' });
    expect(BigInt(await chain.read({ to: token, data: hasCalled }))).toBe(0n);
  });

  test('where creations have other addresses than on Ethereum, nothing counts as paid', async () => {
    await using elsewhere = await startDepositChain(kind);
    await elsewhere.createElsewhere();
    const { address, holding } = newForwarder(newAccount());
    await elsewhere.transact({ to: address, value: COINS });

    const { isSuccess, outcomes } = await elsewhere.sweep([holding(null)]);

    expect([isSuccess, outcomes]).toEqual([true, [{ forwarder: address, token: null, amount: null }]]);
    expect(await elsewhere.balance(null, address)).toBe(COINS);
  });

  test('another recipient or salt names another address: nothing of this one moves', async () => {
    const { address, holding } = newForwarder(newAccount());
    await pay(address);
    const thief = newAccount();
    const item = holding(null);
    const forged = [
      { ...item, recipient: thief },
      { ...item, salt: keccak256(item.salt) },
    ];

    const { outcomes } = await chain.sweep(forged);

    expect(outcomes).toEqual([]);
    expect([await chain.balance(null, address), await chain.balance(null, thief)]).toEqual([COINS, 0n]);
  });

  test('only the factory can have a forwarder pay: other calls are payments', async () => {
    const { address, holding } = newForwarder(newAccount());
    await pay(address);
    await chain.sweep([holding(null)]);
    // Token and amount, as from the factory.
    const data: Hex = `0x${'00'.repeat(63)}05`;

    const paid = await chain.transact({ to: address, value: 10n, data });

    expect(paid.isSuccess).toBe(true);
    expect(await chain.balance(null, address)).toBe(10n);
  });

  test('a sweep that comes first leaves the next one nothing, and no one loses', async () => {
    const recipient = newAccount();
    const { address, holding } = newForwarder(recipient);
    await pay(address);
    const data = encodeFunctionData({
      abi: [
        {
          type: 'function',
          name: 'create',
          stateMutability: 'nonpayable',
          inputs: [{ type: 'address' }, { type: 'bytes32' }],
          outputs: [{ type: 'address' }],
        },
      ],
      args: [recipient, holding(null).salt],
    });

    const created = await chain.transact({ to: CURRENT_FACTORY.address, data });
    const again = await chain.transact({ to: CURRENT_FACTORY.address, data });
    const first = await chain.sweep([holding(null)]);
    const second = await chain.sweep([holding(null)]);

    expect([created.isSuccess, again.isSuccess, second.isSuccess]).toEqual([true, true, true]);
    expect([first.outcomes.length, second.outcomes.length]).toEqual([1, 0]);
    expect(await chain.balance(null, recipient)).toBe(COINS);
  });

  test('an equal log of another contract is no outcome of a sweep', async () => {
    const { address, holding } = newForwarder(newAccount());
    await pay(address);

    const { logs, outcomes } = await chain.sweep([holding(null)]);
    const copies = logs.map(log => ({ ...log, address: newAccount() }));

    expect(sweepOutcomes([...copies, ...logs])).toEqual(outcomes);
    expect(sweepOutcomes(copies)).toEqual([]);
  });

  test('too little gas fails the sweep and no single item', async () => {
    const { address, holding } = newForwarder(newAccount());
    const token = await tokenThat(TOKEN.honest);
    await pay(address);
    await mint(token, address);
    const items = [holding(token), holding(null)];
    const needed = await chain.sweep(items);
    const { address: other, holding: same } = newForwarder(newAccount());
    await pay(other);
    await mint(token, other);

    const scarce = await chain.sweep([same(token), same(null)], { gas: BigInt(needed.gasUsed) + 20_000n });
    const stingy = await chain.sweep([same(null)], { callGas: 99_999n });
    const estimate = await chain.call('eth_estimateGas', {
      from: chain.accounts[0],
      to: CURRENT_FACTORY.address,
      data: sweepInput([same(token), same(null)]),
    });
    const estimated = await chain.sweep([same(token), same(null)], { gas: BigInt(String(estimate)) });

    expect([scarce.isSuccess, stingy.isSuccess]).toEqual([false, false]);
    expect(Number(estimate)).toBeGreaterThan(CALL_GAS);
    expect(estimated.outcomes.map(({ amount }) => amount)).toEqual([1_000n, COINS]);
  });

  test('a call that needs more gas than usual can be given more', async () => {
    const { address, holding } = newForwarder(await recipientThat(RECIPIENT.burnGas));
    await pay(address);
    await chain.sweep([holding(null)], { callGas: 100_000n });

    const little = await chain.sweep([holding(null)], { callGas: 100_000n });
    const much = await chain.sweep([holding(null)], { callGas: 600_000n });

    expect(much.gasUsed - little.gasUsed).toBeGreaterThan(450_000);
  });
});
