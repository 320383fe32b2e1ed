import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { recordedCoins, sumUpTo } from '#payments/deposits/received-coins.ts';
import { eventStore } from '#payments/events/event-store.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import { NO_LOG, type Transfer } from '#payments/model/transfer.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { type Settlement, settlement } from '#payments/settlement/settlement.ts';
import { transactionStore } from '#payments/store/transaction-store.ts';
import { RECORD_TIME } from '../../lab/payments-records.ts';
import { aSession, aTransfer, hash } from '../../lab/payments-sessions.ts';
import { bothDatabases } from '../../support/databases.ts';
import { givenDatabase } from '../../support/given-database.ts';

const SEALED = seals(['a secret that only this test knows, and long']);
const SEEN = { matchedBy: 'deposit_address', confirmations: 100 } as const;

bothDatabases('coins that a balance showed', databases => {
  const given = givenDatabase(databases, { isShared: false });

  const settle = <T>(work: (settle: Settlement) => Promise<T>): Promise<T> =>
    transaction(given.db, handle => work(settlement({ handle, seals: SEALED, now: RECORD_TIME + 90_000 })));
  const opened = () => {
    // An address that no other organization owns.
    const recipientAddress = `0x${randomBytes(20).toString('hex')}`;
    const draft = aSession({ ...given.owner, mode: 'test' }, { tokenAddress: NATIVE_COIN, recipientAddress });
    return transaction(given.db, handle => sessionStore(handle, SEALED).open({ ...draft, depositRules: {} }));
  };
  const session = async ({ id }: CheckoutSession) => {
    const found = await sessionStore(given.db, SEALED).findById(id);
    if (found === undefined) throw new Error('no session');
    return found;
  };
  const payments = ({ id }: CheckoutSession) => transactionStore(given.db).ofSession(id);

  let sent = 0;
  function coinsTo({ chainId, depositAddress }: CheckoutSession, amount: bigint, block: number): Transfer {
    sent += 1;
    return aTransfer({
      chainId,
      tokenAddress: NATIVE_COIN,
      recipient: `${depositAddress}`,
      txHash: hash(sent),
      logIndex: NO_LOG - 1,
      amount,
      blockNumber: block,
      blockHash: hash(1_000_000 + block),
    });
  }

  /** Records a transfer that has its confirmations. */
  const reveal = (to: CheckoutSession, transfer: Transfer) =>
    settle(async one => {
      const { id } = await one.recordTransfer(to, transfer, SEEN);
      return one.complete(id);
    });
  const find = (to: CheckoutSession, amount: bigint, { from, at }: { from: number; at: number }) =>
    settle(one =>
      one.recordFoundCoins(to.id, {
        amount,
        blockNumber: from,
        blockHash: hash(1_000_000 + from),
        blockTime: RECORD_TIME,
        balanceBlock: at,
        proven: null,
        isRequired: false,
      }),
    );

  /** Looks at a balance as a watcher does. */
  async function look(to: CheckoutSession, arrived: readonly Transfer[], at: number): Promise<void> {
    const { came } = await recordedCoins(given.db, to.chainId).of(`${to.depositAddress}`);
    const received = (block: number) =>
      arrived.reduce((sum, one) => (one.blockNumber <= block ? sum + one.amount : sum), 0n);
    const excess = received(at) - sumUpTo(at, came);
    if (excess <= 0n) return;
    const from = Array.from({ length: at + 1 }, (_, block) => block).find(
      block => received(block) > sumUpTo(block, came),
    );
    await find(to, excess, { from: from ?? at, at });
  }

  test('and those of transactions are counted once, in whichever order they become known', async () => {
    const transfers = fc.array(fc.record({ amount: fc.bigInt(1n, 9n), block: fc.nat(9) }), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(
        transfers,
        fc.array(fc.nat(9), { maxLength: 4 }),
        fc.infiniteStream(fc.nat()),
        async (arriving, looks, order) => {
          const to = await opened();
          const arrived = arriving.map(({ amount, block }) => coinsTo(to, amount, block));
          const total = arrived.reduce((sum, { amount }) => sum + amount, 0n);
          const waiting = [...arrived];
          const sums: bigint[] = [];
          for (const at of [...looks.toSorted((a, b) => a - b), 9]) {
            const [index = 0] = order.next().value === undefined ? [] : [Number(order.next().value) % 7];
            const [shown] = waiting.splice(index, 1);
            if (shown !== undefined) await reveal(to, shown);
            await look(to, arrived, at);
            sums.push((await session(to)).amountReceived);
          }
          for (const one of waiting) await reveal(to, one);
          for (const one of arrived) await reveal(to, one);

          const rows = await payments(to);
          expect(sums.at(-1)).toBe(total);
          expect((await session(to)).amountReceived).toBe(total);
          expect(sums.toSorted((a, b) => Number(a - b))).toEqual(sums);
          expect(rows.map(({ txHash, amount }) => [txHash, amount]).toSorted()).toEqual(
            arrived.map(({ txHash, amount }) => [txHash, amount]).toSorted(),
          );
        },
      ),
      { numRuns: 8 },
    );
  });

  describe('whose transaction a payer claims', () => {
    test('become the payment of that transaction, and the claim is gone', async () => {
      const to = await opened();
      const transfer = coinsTo(to, to.amount, 5);
      await settle(one => one.claim(to, transfer.txHash));
      const found = await find(to, to.amount, { from: 5, at: 7 });

      const named = await reveal(to, transfer);

      expect(named.id).toBe(found?.id);
      expect(await payments(to)).toMatchObject([
        { id: found?.id, status: 'completed', txHash: transfer.txHash, sender: transfer.sender },
      ]);
      expect(await session(to)).toMatchObject({ status: 'completed', amountReceived: to.amount });
      const { data } = await eventStore(given.db, SEALED).list(
        { ...given.owner, mode: 'test' },
        { since: 0 },
        { page: 1, limit: 100 },
      );
      expect(data.map(({ type }) => type).toSorted()).toEqual(['checkout.completed', 'payment.completed']);
    });
  });

  test('leave the events of a failed claim to the checkout', async () => {
    const to = await opened();
    const transfer = coinsTo(to, to.amount, 5);
    const claim = await settle(one => one.claim(to, transfer.txHash));
    await settle(one => one.fail(`${claim?.id}`, 'not_found'));
    await find(to, to.amount, { from: 5, at: 7 });

    await reveal(to, transfer);

    const { data } = await eventStore(given.db, SEALED).list(
      { ...given.owner, mode: 'test' },
      { since: 0, sessionId: to.id },
      { page: 1, limit: 100 },
    );
    expect(await payments(to)).toHaveLength(1);
    expect(data.map(({ type }) => type)).toContain('payment.failed');
  });

  test('belong to no transaction of a later block', async () => {
    const to = await opened();
    await find(to, 3n, { from: 5, at: 7 });

    await reveal(to, coinsTo(to, 3n, 8));

    expect(await session(to)).toMatchObject({ amountReceived: 6n });
    expect(await payments(to)).toHaveLength(2);
  });

  test('of a removed session are not recorded', async () => {
    const to = await opened();

    const found = await find({ ...to, id: 'cs_removed' }, 3n, { from: 5, at: 7 });

    expect(found).toBeUndefined();
  });
});
