import { numberToHex } from 'viem';
import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { setAsideList } from '#payments/store/set-aside-list.ts';
import { ofBlock, ofReceipt, ofTransaction, withoutTransaction } from '../../lab/lies/changed-answers.ts';
import { addressOf } from '../../lab/payment-chain.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { CONTRADICTIONS, inLogs, inReceipts, together } from './proof-lies.ts';
import { BLOCKS_TO_SETTLE, seals } from './setting.ts';
import { eachWatchedShop, type ShopBehindNodes } from './watched-shop.ts';

/** Pause of a transaction that is set aside. */
const PAUSE_MS = 60_000;

eachWatchedShop('payments that their blocks prove', watchedTest => {
  const test = watchedTest
    /** Has the watcher prove a payment, so that it knows the rules of the chain. */
    .extend('provenOnce', () => async (ours: ShopBehindNodes) => {
      const session = await ours.open();
      await ours.round();
      await ours.payment(session.amountDue);
      await ours.settle();
      expect(await ours.payments(session.id)).toMatchObject([{ proven: true }]);
    })
    /** Opens a session with a payment in a block, deep enough to complete. */
    .extend('paid', ({ chain }) => async (ours: ShopBehindNodes) => {
      const session = await ours.open();
      await ours.round();
      await ours.payment(session.amountDue);
      await chain.mine(BLOCKS_TO_SETTLE);
      return session;
    });

  const waiting = async (ours: ShopBehindNodes) =>
    (await setAsideList(ours.db, ours.owner).list({}, { page: 1, limit: 10 })).data.map(one => one.reason);
  const accused = (ours: ShopBehindNodes) => ours.watcher.status().contradictions.current().length;

  test('are completed as proven, with one read of their block', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes();
    const sessions = [await ours.open(), await ours.open(), await ours.open({ tokenAddress: NATIVE_COIN })];
    await ours.round();
    for (const [index, { amountDue }] of sessions.entries())
      await chain.pay({ from: index + 1, to: ours.recipient, amount: amountDue });
    const coins = sessions[2]?.amountDue ?? 0n;
    await chain.send({ from: 4, to: addressOf(ours.recipient), value: coins });

    await ours.settle();

    for (const { id } of sessions) {
      expect(await ours.session(id)).toMatchObject({ status: 'completed' });
      expect(await ours.payments(id)).toMatchObject([{ status: 'completed', proven: true }]);
    }
    expect(ours.node.calls.filter(one => one === 'eth_getBlockByHash')).toHaveLength(1);
    expect(ours.node.calls.filter(one => one === 'eth_getBlockReceipts')).toHaveLength(1);
    expect(accused(ours)).toBe(0);
  });

  test.for(CONTRADICTIONS)(
    'wait while the only node %s',
    async ([, lie], { behindNodes, provenOnce, paid }) => {
      await using ours = await behindNodes();
      await provenOnce(ours);
      const session = await paid(ours);

      ours.node.tell(lie);
      await ours.round();
      await ours.round();
      const during = await ours.session(session.id);
      const reasons = await waiting(ours);
      const count = accused(ours);
      ours.node.tell(undefined);
      ours.clock.advance(PAUSE_MS);
      await ours.round();

      expect(during).toMatchObject({ status: 'active', paymentStatus: 'confirming' });
      expect(reasons).toEqual(['contradicted']);
      expect(count).toBe(1);
      expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
      expect(await ours.payments(session.id)).toMatchObject([{ proven: true }]);
      expect(await waiting(ours)).toEqual([]);
    },
  );

  test.for(CONTRADICTIONS)(
    'are proven by an honest node next to one that %s',
    async ([, lie], { behindNodes, provenOnce, paid }) => {
      await using ours = await behindNodes({ nodes: 2 });
      await provenOnce(ours);
      const session = await paid(ours);

      ours.node.tell(lie);
      await ours.round();
      await ours.round();

      expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: true }]);
      expect(accused(ours)).toBe(1);
    },
  );

  test.for([1, 2])(
    'are not those of a node that invents an amount, of %i in all',
    async (nodes, { chain, behindNodes }) => {
      await using ours = await behindNodes({ nodes });
      const [invented, everywhere] = [await ours.open(), await ours.open()];
      const honest = await ours.open();
      const data = numberToHex(invented.amountDue, { size: 32 });
      const small = await chain.pay({ from: 1, to: ours.recipient, amount: 1n });
      await chain.pay({ from: 2, to: ours.recipient, amount: 2n });
      await chain.pay({ from: 3, to: ours.recipient, amount: honest.amountDue });
      await chain.mine(BLOCKS_TO_SETTLE);

      const change = (log: object) => (Object(log).transactionHash === small ? { ...log, data } : log);
      ours.node.tell(inLogs(change));
      for (let count = 0; count < 3; count++) await ours.round();

      expect(accused(ours)).toBe(1);
      expect((await ours.session(invented.id)).status).toBe('active');
      expect((await ours.session(everywhere.id)).status).toBe('active');
      expect(await ours.session(honest.id)).toMatchObject({ status: 'completed' });
      expect(await ours.events()).toEqual(
        expect.not.arrayContaining(['checkout.overpaid', 'checkout.partially_paid']),
      );
    },
  );

  test('are not those of a node that invents an amount in logs and receipts', async ({
    chain,
    behindNodes,
    provenOnce,
  }) => {
    await using ours = await behindNodes();
    await provenOnce(ours);
    const session = await ours.open();
    const data = numberToHex(session.amountDue, { size: 32 });
    await chain.pay({ from: 1, to: ours.recipient, amount: 1n });
    await chain.mine(BLOCKS_TO_SETTLE);

    const doctored = (log: object) => ({ ...log, data });
    ours.node.tell(
      together(
        inLogs(doctored),
        inReceipts(one => ({ ...one, logs: Object(one).logs.map(doctored) })),
      ),
    );
    await ours.round();
    await ours.round();

    expect((await ours.session(session.id)).status).toBe('active');
    expect(await waiting(ours)).toEqual(['contradicted']);
  });

  test('are not those of a node that invents coins', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes();
    const session = await ours.open({ tokenAddress: NATIVE_COIN });
    await ours.round();
    await chain.send({ from: 1, to: addressOf(ours.recipient), value: 1n });
    await chain.mine(BLOCKS_TO_SETTLE);

    const value = numberToHex(session.amountDue);
    ours.node.tell(({ method }, answer) => {
      const { transactions } = Object(answer);
      if (method !== 'eth_getBlockByNumber' || !Array.isArray(transactions)) return undefined;
      const doctored = transactions.map(one => (typeof one === 'object' ? { ...one, value } : one));
      return { ...Object(answer), transactions: doctored };
    });
    await ours.round();
    await ours.round();

    expect((await ours.session(session.id)).status).toBe('active');
    expect(accused(ours)).toBe(1);
  });

  test('are not those of a node that names another sender of coins', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes();
    const session = await ours.open({ tokenAddress: NATIVE_COIN });
    await ours.bind(session.id, `${chain.accounts[5]}`);
    await ours.round();
    ours.node.tell(({ method }, answer) => {
      const { transactions } = Object(answer);
      if (!/^eth_getBlockBy/.test(method) || !Array.isArray(transactions)) return undefined;
      const from = chain.accounts[5];
      const doctored = transactions.map(one => (typeof one === 'object' ? { ...one, from } : one));
      return { ...Object(answer), transactions: doctored };
    });

    await chain.send({ from: 4, to: addressOf(ours.recipient), value: session.amount });
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();
    await ours.round();

    expect((await ours.session(session.id)).status).toBe('active');
    expect(accused(ours)).toBe(1);
  });

  test.for([
    [
      'a field of the header is unknown',
      { newRoot: `0x${'11'.repeat(32)}`, stateRoot: `0x${'22'.repeat(32)}` },
    ],
    ['a field of the header is another one', { gasUsed: '0x1' }],
  ] as const)('are completed without a proof when %s', async ([, fields], { behindNodes, paid }) => {
    await using ours = await behindNodes();
    const session = await paid(ours);

    ours.node.tell(({ method }, answer) =>
      method === 'eth_getBlockByHash' ? { ...Object(answer), ...fields } : undefined,
    );
    await ours.round();

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: false }]);
    expect(accused(ours)).toBe(0);
  });

  test('are completed without a proof when no block of the chain fits the rules that are known', async ({
    behindNodes,
    paid,
  }) => {
    await using ours = await behindNodes();
    ours.node.tell(inReceipts(one => ({ ...one, cumulativeGasUsed: '0x1' })));
    const session = await paid(ours);
    await ours.round();

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: false }]);
    expect(accused(ours)).toBe(0);
  });

  test('are proven by a node whose header has the hash, next to one that changes a field', async ({
    behindNodes,
    paid,
  }) => {
    await using ours = await behindNodes({ nodes: 2 });
    const session = await paid(ours);

    ours.node.tell(({ method }, answer) =>
      method === 'eth_getBlockByHash' ? { ...Object(answer), gasUsed: '0x1' } : undefined,
    );
    await ours.round();

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: true }]);
    expect(accused(ours)).toBe(1);
  });

  test('are completed without a proof when their block is longer than an answer may be', async ({
    behindNodes,
    paid,
  }) => {
    await using ours = await behindNodes({ maxAnswerBytes: 64 * 1024 });
    const session = await paid(ours);

    ours.node.tell(({ method }, answer) =>
      method === 'eth_getBlockByHash' ? { ...Object(answer), pad: 'x'.repeat(70_000) } : undefined,
    );
    await ours.round();

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: false }]);
  });

  test('are proven by single receipts from a node without those of a block', async ({
    behindNodes,
    paid,
  }) => {
    await using ours = await behindNodes();
    const session = await paid(ours);

    const missing = Object.assign(new Error('the method does not exist'), { code: -32601 });
    ours.node.tell(({ method }) => (method === 'eth_getBlockReceipts' ? missing : undefined));
    await ours.round();

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: true }]);
  });

  test('wait for a block that the node does not show yet', async ({ behindNodes, paid }) => {
    await using ours = await behindNodes();
    const session = await paid(ours);

    ours.node.tell(({ method }) => (method === 'eth_getBlockByHash' ? null : undefined));
    await ours.round();
    const during = await ours.session(session.id);
    ours.node.tell(undefined);
    await ours.round();

    expect(during).toMatchObject({ status: 'active', paymentStatus: 'confirming' });
    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: true }]);
  });

  test.for([
    ['all logs', () => []],
    [
      'the amount',
      (logs: readonly object[]) => logs.map(one => ({ ...one, data: numberToHex(77n, { size: 32 }) })),
    ],
  ] as const)(
    'are found by a second node when the first one hides %s',
    async ([, change], { chain, behindNodes }) => {
      await using ours = await behindNodes({ nodes: 2 });
      const session = await ours.open();
      await ours.round();

      ours.node.tell(({ method }, answer) =>
        method === 'eth_getLogs' && Array.isArray(answer) ? change(answer) : undefined,
      );
      await ours.payment(session.amountDue);
      await chain.mine(BLOCKS_TO_SETTLE);
      ours.clock.advance(30_000);
      for (let count = 0; count < 3; count++) await ours.round();

      expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
      expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: true }]);
      await chain.mine();
      for (let count = 0; count < 3; count++) await ours.round();
      expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isReorged: false });
    },
  );

  test('are proven afterwards when the merchant assigned them, or fail when their block lacks them', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const session = await ours.open();
    await ours.round();
    const doctored = (log: object) =>
      Number(Object(log).data) === 3 ? { ...log, data: numberToHex(7n, { size: 32 }) } : log;
    ours.node.tell(
      together(
        inLogs(doctored),
        inReceipts(receipt => ({ ...receipt, logs: Object(receipt).logs.map(doctored) })),
      ),
    );
    await ours.payment(5n);
    await chain.pay({ from: 2, to: ours.recipient, amount: 3n });
    await ours.settle();
    const { data } = await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 });
    const decision = { actor: 'api_key:ak_1', reason: null } as const;

    for (const { id } of data) {
      await transaction(ours.db, handle =>
        settlement({ handle, seals, now: ours.clock.now() }).assign(ours.owner, id, session, decision),
      );
    }
    const before = await ours.payments(session.id);
    ours.node.tell(undefined);
    await chain.mine();
    ours.clock.advance(10_000);
    await ours.round();

    expect(before.map(one => one.proven)).toEqual([null, null]);
    const byAmount = (await ours.payments(session.id)).toSorted((a, b) => Number(a.amount - b.amount));
    expect(byAmount).toMatchObject([
      { status: 'completed', amount: 5n, proven: true },
      { status: 'failed', amount: 7n, failureReason: 'reorged' },
    ]);
  });

  test('are proven afterwards although the blocks of many others are refused', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const session = await ours.open();
    await ours.round();
    await ours.payment(1n);
    await chain.mine();
    for (let amount = 2n; amount <= 21n; amount++) await chain.pay({ from: 2, to: ours.recipient, amount });
    await ours.settle();
    const { data } = await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 30 });
    const [first, ...others] = data.toSorted((a, b) => Number(a.amount - b.amount));
    const decision = { actor: 'api_key:ak_1', reason: null } as const;
    for (const one of [first, ...others]) {
      await transaction(ours.db, handle =>
        settlement({ handle, seals, now: ours.clock.now() }).assign(
          ours.owner,
          `${one?.id}`,
          session,
          decision,
        ),
      );
      if (one === first) ours.clock.advance(1);
    }

    ours.node.tell(({ method, params }) =>
      method === 'eth_getBlockByHash' && params?.[0] !== first?.blockHash ? new Error('busy') : undefined,
    );
    for (let count = 0; count < 2; count++) {
      await chain.mine();
      ours.clock.advance(10_000);
      await ours.round();
    }

    expect(data).toHaveLength(21);
    const payments = await ours.payments(session.id);
    expect(payments.filter(({ proven }) => proven === true).map(({ amount }) => amount)).toEqual([1n]);
  });

  test.for([
    ['hides their transaction', withoutTransaction(0)],
    ['changes their amount', ofTransaction(0, one => ({ ...one, value: '0x1' }))],
    ['says that they failed', ofReceipt(0, one => ({ ...one, status: '0x0' }))],
    ['changes the time of their block', ofBlock(block => ({ ...block, timestamp: '0x7fffffff' }))],
    ['changes the hash of their block', ofBlock(block => ({ ...block, hash: `0x${'07'.repeat(32)}` }))],
  ] as const)(
    'in coins are read from a second node when the first one %s',
    async ([, lie], { chain, behindNodes }) => {
      await using ours = await behindNodes({ nodes: 2 });
      const session = await ours.open({ tokenAddress: NATIVE_COIN });
      await ours.round();

      const block = (await chain.head()) + 1;
      ours.node.tell(lie({ from: block, to: block }));
      await chain.send({ from: 1, to: addressOf(ours.recipient), value: session.amountDue });
      await chain.mine(BLOCKS_TO_SETTLE);
      ours.clock.advance(30_000);
      for (let count = 0; count < 3; count++) await ours.round();

      expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
      expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: true }]);
    },
  );

  test('are read from a chain whose headers hash otherwise, with no more calls than with `prove: off`', async ({
    chain,
    behindNodes,
  }) => {
    const calls: number[] = [];
    for (const prove of ['off', 'findings'] as const) {
      await using ours = await behindNodes({ nodes: 2, changes: { prove } });
      const otherwise = ofBlock(block => ({ ...block, gasUsed: '0x7' }))({ from: 0, to: 2 ** 40 });
      ours.node.tell(otherwise);
      ours.second.tell(otherwise);
      for (let count = 0; count < 12; count++) {
        await chain.mine();
        await ours.round();
      }
      calls.push(ours.second.calls.filter(one => one === 'eth_getBlockByNumber').length);
    }

    expect(calls[1]).toBe(calls[0]);
  });

  test('stand when their node shows another amount in their block', async ({ chain, behindNodes, paid }) => {
    await using ours = await behindNodes();
    const session = await paid(ours);
    await ours.round();

    ours.node.tell(inLogs(log => ({ ...log, data: numberToHex(77n, { size: 32 }) })));
    await chain.mine();
    await ours.round();
    await ours.round();

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isReorged: false });
    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: true }]);
  });

  test('are not looked for when proofs are off', async ({ behindNodes, paid }) => {
    await using ours = await behindNodes({ changes: { prove: 'off' } });
    const session = await paid(ours);

    await ours.round();

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: null }]);
    expect(ours.node.calls).not.toContain('eth_getBlockByHash');
  });
});
