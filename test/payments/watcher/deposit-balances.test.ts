import { encodeDeployData, encodeFunctionData, getContractAddress, numberToHex, zeroAddress } from 'viem';
import { expect } from 'vitest';
import { SWEPT } from '#deposits/sweep-call.ts';
import { depositAddressStore } from '#payments/deposits/deposit-address-store.ts';
import { sweepStore } from '#payments/deposits/sweep-store.ts';
import { paymentChains } from '#payments/model/payment-chain.ts';
import { MAX_PAYMENTS } from '#payments/model/session.ts';
import { expiryWorker } from '#payments/watcher/expiry.ts';
import { artifactOf } from '../../deposits/deposit-chain.ts';
import type { Lie } from '../../lab/faulty-node.ts';
import { addressOf } from '../../lab/payment-chain.ts';
import { deploySteps } from '../../lab/sending-contract.ts';
import {
  COINS,
  confirm,
  deployFactory,
  GAS,
  refused,
  sendByContract,
  sweepByStranger,
  withoutTraces,
} from './deposit-support.ts';
import { BLOCKS_TO_SETTLE, log, paymentChain, seals } from './setting.ts';
import { eachWatchedShop, never, type ShopBehindNodes } from './watched-shop.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const lacksState = Object.assign(new Error('missing trie node'), { code: -32_000 });

eachWatchedShop('coins at a deposit address, on a chain without logs of coins and traces', databaseTest => {
  const test = databaseTest.extend(
    'untraced',
    ({ chain, behindNodes }) =>
      async (): Promise<ShopBehindNodes> => {
        await deployFactory(chain);
        const ours = await behindNodes();
        ours.node.tell(withoutTraces);
        return ours;
      },
  );

  test('that a contract sends complete a checkout once, without a hash', async ({ chain, untraced }) => {
    await using ours = await untraced();
    const session = await ours.open(COINS);
    await ours.round();

    await sendByContract(chain, `${session.depositAddress}`, session.amount);
    await chain.mine();
    const block = await chain.head();
    await ours.round();
    const unconfirmed = await ours.session(session.id);
    await confirm(chain, ours);
    await confirm(chain, ours);

    expect(unconfirmed).toMatchObject({ paymentStatus: 'awaiting_payment' });
    expect(await ours.session(session.id)).toMatchObject({
      status: 'completed',
      amountReceived: session.amount,
      txHash: null,
      payerAddress: null,
    });
    expect(await ours.payments(session.id)).toMatchObject([
      {
        status: 'completed',
        amount: session.amount,
        sender: null,
        txHash: null,
        logIndex: null,
        matchedBy: 'deposit_address',
        blockNumber: block,
        isLate: false,
        proven: true,
      },
    ]);
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
  });

  test('are counted once, as are those that accounts send', async ({ chain, untraced }) => {
    await using ours = await untraced();
    const session = await ours.open(COINS);
    const to = addressOf(`${session.depositAddress}`);
    await ours.round();

    await chain.send({ from: 1, to, value: 3n });
    await sendByContract(chain, to, 5n);
    await chain.mine();
    await chain.send({ from: 2, to, value: 7n });
    await sendByContract(chain, to, 11n);
    await confirm(chain, ours);
    await sendByContract(chain, to, 13n);
    await confirm(chain, ours);

    expect(await ours.session(session.id)).toMatchObject({ amountReceived: 39n });
    const amounts = (await ours.payments(session.id)).map(({ amount, txHash }) => [amount, txHash !== null]);
    expect(amounts.toSorted(([a], [b]) => Number(a) - Number(b))).toEqual([
      [3n, true],
      [7n, true],
      [13n, false],
      [16n, false],
    ]);
  });

  test('are counted next to what a wallet that signed sends to the recipient', async ({
    chain,
    untraced,
  }) => {
    await using ours = await untraced();
    const session = await ours.boundSession(COINS);
    const to = addressOf(`${session.depositAddress}`);
    await ours.round();

    await chain.send({ from: 1, to: addressOf(session.recipientAddress), value: 5n });
    await confirm(chain, ours);
    await sendByContract(chain, to, 5n);
    await confirm(chain, ours);

    expect(await ours.payments(session.id)).toMatchObject([
      { amount: 5n, matchedBy: 'wallet', recipient: session.recipientAddress },
      { amount: 5n, matchedBy: 'deposit_address', recipient: session.depositAddress },
    ]);
    expect(await depositAddressStore(ours.db).find(to)).toMatchObject({ amountReceived: 5n });
  });

  test('are counted together with dust that is not, after a hundred payments', async ({
    chain,
    untraced,
  }) => {
    await using ours = await untraced();
    const session = await ours.open(COINS);
    const to = addressOf(`${session.depositAddress}`);
    for (let count = 0; count < MAX_PAYMENTS; count++) await chain.send({ from: 3, to, value: 1n });
    await confirm(chain, ours);

    await sendByContract(chain, to, 1n);
    await confirm(chain, ours);
    const full = await ours.session(session.id);
    await sendByContract(chain, to, session.amount);
    await confirm(chain, ours);

    const received = BigInt(MAX_PAYMENTS) + 1n + session.amount;
    expect(full).toMatchObject({ amountReceived: BigInt(MAX_PAYMENTS) });
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed', amountReceived: received });
  });

  test('are counted although strangers sweep them, in the block of the payment and between looks', async ({
    chain,
    untraced,
  }) => {
    await using ours = await untraced();
    const session = await ours.open(COINS);
    const to = `${session.depositAddress}`;
    await ours.round();

    await sendByContract(chain, to, 5n);
    await sweepByStranger(chain, ours, session);
    await confirm(chain, ours);
    const first = await ours.session(session.id);
    // An outage: more payments and sweeps come before the next look.
    for (const amount of [7n, 11n]) {
      await sendByContract(chain, to, amount);
      await chain.mine();
      await sweepByStranger(chain, ours, session);
      await chain.mine();
    }
    await sendByContract(chain, to, 13n);
    await confirm(chain, ours);

    expect(first).toMatchObject({ amountReceived: 5n });
    expect(await ours.session(session.id)).toMatchObject({ amountReceived: 36n });
    const payments = await ours.payments(session.id);
    // What was swept is not in the balance any more.
    expect(payments.map(({ amount, proven }) => [amount, proven])).toEqual([
      [5n, null],
      [31n, null],
    ]);
    const sweeps = await sweepStore(ours.db).ofAddresses(chain.chainId, [to]);
    expect(sweeps.map(({ amount, tokenAddress }) => [amount, tokenAddress])).toEqual([
      [5n, zeroAddress],
      [7n, zeroAddress],
      [11n, zeroAddress],
    ]);
  });

  test('are counted after a sweep that a lagging node shows later', async ({ chain, untraced }) => {
    await using ours = await untraced();
    const session = await ours.open(COINS);
    const to = `${session.depositAddress}`;
    await ours.round();
    ours.node.tell((call, ...rest) =>
      call.method === 'eth_getLogs' && JSON.stringify(call.params).includes(SWEPT)
        ? []
        : withoutTraces(call, ...rest),
    );
    await sendByContract(chain, to, 5n);
    await sweepByStranger(chain, ours, session);
    await confirm(chain, ours);
    const before = await ours.session(session.id);

    ours.node.tell(withoutTraces);
    await confirm(chain, ours);

    expect(before).toMatchObject({ amountReceived: 0n });
    expect(await ours.session(session.id)).toMatchObject({ amountReceived: 5n });
    expect(await sweepStore(ours.db).ofAddresses(chain.chainId, [to])).toHaveLength(1);
  });

  test('are no more for an equal event of a stranger’s contract, or a recipient that refuses', async ({
    chain,
    untraced,
  }) => {
    await using ours = await untraced();
    const refusing = await deploySteps(chain, [{ kind: 'revert' }]);
    const session = await ours.open({ ...COINS, recipientAddress: refusing.toLowerCase() });
    const to = addressOf(`${session.depositAddress}`);
    const { abi, bytecode } = artifactOf('Imitator');
    const nonce = BigInt(String(await chain.call('eth_getTransactionCount', chain.accounts[0], 'latest')));
    await chain.send({ from: 0, data: encodeDeployData({ abi, bytecode, args: [] }), gas: GAS });
    const imitator = getContractAddress({ from: chain.accounts[0] ?? zeroAddress, nonce });
    await chain.mine();
    await ours.round();

    await sendByContract(chain, to, 5n);
    await sweepByStranger(chain, ours, session);
    const args = [to, zeroAddress, 1_000n];
    const data = encodeFunctionData({ abi, functionName: 'imitate', args });
    await chain.send({ from: 4, to: imitator, data, gas: GAS });
    await confirm(chain, ours);

    expect(await ours.session(session.id)).toMatchObject({ amountReceived: 5n });
    expect(await sweepStore(ours.db).ofAddresses(chain.chainId, [to])).toEqual([]);
  });

  test('get their transactions once a node traces, and nothing is doubled', async ({ chain, untraced }) => {
    await using ours = await untraced();
    const session = await ours.open(COINS);
    const to = `${session.depositAddress}`;
    await ours.round();
    const hash = await sendByContract(chain, to, session.amount - 2n);
    await chain.mine();
    const other = await sendByContract(chain, to, 7n);
    await confirm(chain, ours);
    const [found] = await ours.payments(session.id);
    const before = await ours.session(session.id);

    ours.node.tell(undefined);
    ours.clock.advance(11 * MINUTE_MS);
    await confirm(chain, ours);
    await confirm(chain, ours);

    const payments = await ours.payments(session.id);
    expect(found).toMatchObject({ amount: session.amount + 5n, txHash: null, overpaidAmount: 5n });
    expect(payments).toHaveLength(2);
    expect(payments.find(({ txHash }) => txHash === hash)).toMatchObject({
      id: found?.id,
      status: 'completed',
      amount: session.amount - 2n,
      sender: expect.stringMatching(/^0x/),
      logIndex: -2,
      balanceBlock: null,
      overpaidAmount: null,
    });
    expect(payments.find(({ txHash }) => txHash === other)).toMatchObject({
      status: 'completed',
      amount: 7n,
      balanceBlock: null,
      overpaidAmount: 5n,
    });
    const { updatedAt: _, payerAddress, txHash, ...after } = await ours.session(session.id);
    expect(before).toMatchObject(after);
    expect(payerAddress).toMatch(/^0x/);
    expect([hash, other]).toContain(txHash);
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed', 'checkout.overpaid']);
  });

  test('are counted once when their transaction was known in a block that was replaced', async ({
    chain,
    untraced,
  }) => {
    await using ours = await untraced();
    ours.node.tell(undefined);
    const session = await ours.open(COINS);
    const to = addressOf(`${session.depositAddress}`);
    const contract = await deploySteps(chain, [{ kind: 'call', to, value: session.amount }]);
    await confirm(chain, ours);
    const snapshot = await chain.snapshot();
    const { hash } = await chain.send({ from: 1, to: contract, value: session.amount, gas: 300_000n });
    await chain.mine();
    await ours.round();
    const seen = await ours.payments(session.id);
    ours.node.tell(withoutTraces);
    await chain.fork(snapshot, 3, [chain.rawOf(hash)]);
    ours.clock.advance(11 * MINUTE_MS);
    await confirm(chain, ours);
    await confirm(chain, ours);
    const found = await ours.payments(session.id);

    ours.node.tell(undefined);
    ours.clock.advance(11 * MINUTE_MS);
    await confirm(chain, ours);
    await confirm(chain, ours);

    expect(seen).toMatchObject([{ status: 'confirming', txHash: hash }]);
    expect(found.map(({ status, txHash }) => [status, txHash])).toContainEqual(['completed', null]);
    expect(await ours.session(session.id)).toMatchObject({ amountReceived: session.amount });
    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', txHash: hash }]);
  });

  test.for<[string, unknown]>([
    ['has no such method', refused],
    ['answers with a path of another account', { accountProof: ['0xc0'] }],
    ['answers with something else', 'proven'],
  ])(
    'are not proven by a node that %s, and wait for the merchant where a proof is required',
    async ([_, answer], { chain, behindNodes }) => {
      await deployFactory(chain);
      const outcomes = [];
      for (const requiresProof of [false, true]) {
        await using ours = await behindNodes({ changes: { requiresProof } });
        ours.node.tell((call, ...rest) =>
          call.method === 'eth_getProof' ? answer : withoutTraces(call, ...rest),
        );
        const { id, depositAddress, amount } = await ours.open(COINS);
        await ours.round();
        await sendByContract(chain, `${depositAddress}`, amount);
        await confirm(chain, ours);
        outcomes.push([await ours.session(id), ...(await ours.payments(id))]);
      }

      expect(outcomes).toMatchObject([
        [{ status: 'completed' }, { proven: null }],
        [{ status: 'expired', endedReason: 'unproven' }, { proven: false }],
      ]);
    },
  );

  test('are nothing that a node makes up: the proof of the account contradicts it', async ({
    chain,
    behindNodes,
  }) => {
    await deployFactory(chain);
    await using ours = await behindNodes();
    const session = await ours.open(COINS);
    ours.node.tell((call, ...rest) =>
      call.method === 'eth_getBalance' ? numberToHex(session.amount) : withoutTraces(call, ...rest),
    );
    await ours.round();

    await confirm(chain, ours);
    const made = await ours.session(session.id);
    ours.node.tell(withoutTraces);
    await sendByContract(chain, `${session.depositAddress}`, session.amount);
    await confirm(chain, ours);

    expect(made).toMatchObject({ paymentStatus: 'awaiting_payment', amountReceived: 0n });
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
    expect(await ours.payments(session.id)).toMatchObject([{ proven: true }]);
  });

  test('in the last block of a session are in time, though its balance is known later', async ({
    chain,
    untraced,
  }) => {
    await using ours = await untraced();
    const expiry = expiryWorker({ ...ours, seals, log, chains: paymentChains([paymentChain(chain)]) });
    const expiresAt = ours.clock.now() + 5 * MINUTE_MS;
    const [paid, unpaid] = [
      await ours.open({ ...COINS, expiresAt }),
      await ours.open({ ...COINS, expiresAt }),
    ];
    await confirm(chain, ours);
    ours.clock.advance(expiresAt - 5_000 - ours.clock.now());
    await sendByContract(chain, `${paid.depositAddress}`, paid.amount);
    await chain.mine(1);
    await ours.round();
    ours.clock.advance(20_000);
    await chain.mine(1);
    await ours.look();

    await expiry.runOnce(never);
    const waiting = await ours.session(paid.id);
    await confirm(chain, ours);
    await confirm(chain, ours);
    await expiry.runOnce(never);

    expect(waiting).toMatchObject({ status: 'active' });
    expect(await ours.session(paid.id)).toMatchObject({ status: 'completed', isLate: false });
    expect(await ours.session(unpaid.id)).toMatchObject({ status: 'expired' });
  });

  test('keep a checkout open past its deadline after a look at only a part of the addresses', async ({
    chain,
    untraced,
  }) => {
    await using ours = await untraced();
    const expiry = expiryWorker({ ...ours, seals, log, chains: paymentChains([paymentChain(chain)]) });
    const expiresAt = ours.clock.now() + 5 * MINUTE_MS;
    const paid = await ours.open({ ...COINS, expiresAt });
    // Each balance is then read alone, so that a look reads a hundred.
    const aloneOnly: Lie = (call, ...rest) =>
      call.method === 'eth_call' ? refused : withoutTraces(call, ...rest);
    ours.node.tell(aloneOnly);
    for (let count = 0; count < 150; count++) await ours.open(COINS);
    await confirm(chain, ours);
    ours.clock.advance(expiresAt - 5_000 - ours.clock.now());
    await sendByContract(chain, `${paid.depositAddress}`, paid.amount);
    await chain.mine(1);
    ours.clock.advance(60_000);
    await chain.mine(BLOCKS_TO_SETTLE + 1);
    ours.node.tell((call, ...rest) =>
      call.method === 'eth_getBalance' && `${call.params?.[0]}` === paid.depositAddress
        ? lacksState
        : aloneOnly(call, ...rest),
    );
    for (let count = 0; count < 4; count++) {
      ours.clock.advance(11_000);
      await chain.mine();
      await ours.look();
    }

    await expiry.runOnce(never);

    expect(await ours.session(paid.id)).toMatchObject({ status: 'active' });
  });

  test('in a block that a reorganisation replaces are never counted', async ({ chain, untraced }) => {
    await using ours = await untraced();
    const session = await ours.open(COINS);
    await ours.round();
    const snapshot = await chain.snapshot();
    await sendByContract(chain, `${session.depositAddress}`, 5n);
    await chain.mine();
    await ours.round();

    await chain.fork(snapshot, 4);
    await confirm(chain, ours);

    expect(await ours.payments(session.id)).toEqual([]);
  });

  test.for([
    ['drops', false],
    ['moves to another block', true],
  ] as const)(
    'are counted once after a reorganisation that %s their sweep, below its confirmations',
    async ([_, isMoved], { chain, untraced }) => {
      await using ours = await untraced();
      const session = await ours.open(COINS);
      const to = `${session.depositAddress}`;
      await ours.round();
      await sendByContract(chain, to, session.amount);
      await confirm(chain, ours);
      const snapshot = await chain.snapshot();
      await sweepByStranger(chain, ours, session);
      await confirm(chain, ours);
      const before = await sweepStore(ours.db).ofAddresses(chain.chainId, [to]);

      await chain.fork(snapshot, 3);
      if (isMoved) await sweepByStranger(chain, ours, session);
      await chain.mine(6);
      await confirm(chain, ours);

      const after = await sweepStore(ours.db).ofAddresses(chain.chainId, [to]);
      expect([before.length, after.length]).toEqual([1, isMoved ? 1 : 0]);
      expect(after.map(({ blockHash }) => blockHash)).not.toContain(before[0]?.blockHash);
      expect(await depositAddressStore(ours.db).find(to)).toMatchObject({
        amountReceived: session.amount,
        amountSwept: isMoved ? session.amount : 0n,
      });
      expect(await ours.payments(session.id)).toHaveLength(1);
      expect(await ours.session(session.id)).toMatchObject({ status: 'completed', amountOverpaid: 0n });
    },
  );

  test('are late by the block in which they came, however late they are found', async ({
    chain,
    untraced,
  }) => {
    await using ours = await untraced();
    const [early, late] = [await ours.open(COINS), await ours.open(COINS)];
    await confirm(chain, ours);

    ours.clock.advance(5 * MINUTE_MS);
    await chain.mine(5);
    await sendByContract(chain, `${early.depositAddress}`, early.amount);
    await chain.mine();
    ours.clock.advance(2 * HOUR_MS);
    await chain.mine(5);
    await sendByContract(chain, `${late.depositAddress}`, late.amount);
    await confirm(chain, ours);

    expect(await ours.session(early.id)).toMatchObject({ status: 'completed', isLate: false });
    expect(await ours.session(late.id)).toMatchObject({
      status: 'active',
      paymentStatus: 'paid',
      isLate: true,
    });
  });

  test('count from the first block in which they may have come, where nodes lack the old state', async ({
    chain,
    untraced,
  }) => {
    await using ours = await untraced();
    const session = await ours.open(COINS);
    await confirm(chain, ours);
    const judged = (await chain.head()) - 2;
    ours.clock.advance(5 * MINUTE_MS);
    await chain.mine(5);
    await sendByContract(chain, `${session.depositAddress}`, session.amount);
    await chain.mine();
    ours.clock.advance(2 * HOUR_MS);
    await chain.mine(10);
    const oldest = await chain.head();
    ours.node.tell(async (call, answer, node) => {
      if (!['eth_call', 'eth_getBalance'].includes(call.method)) return withoutTraces(call, answer, node);
      const [, at] = call.params ?? [];
      const { blockHash } = Object(at);
      const block = Object(blockHash && (await node.ask('eth_getBlockByHash', blockHash, false)));
      return Number(block.number ?? at) < oldest ? lacksState : undefined;
    });

    await confirm(chain, ours);

    expect(await ours.payments(session.id)).toMatchObject([
      { status: 'completed', isLate: false, blockNumber: judged + 1 },
    ]);
  });
});
