import { expect } from 'vitest';
import { MAX_PAYMENTS } from '#payments/model/session.ts';
import { until } from '../../lab/until.ts';
import { type Flood, floodingToken } from '../../support/flooding-token.ts';
import { insertOwner } from '../../support/given-database.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { BLOCKS_TO_SETTLE } from './setting.ts';
import { eachWatchedShop } from './watched-shop.ts';

const DUST = 1_000;
/** More than one look matches. */
const FLOOD = 4_200;

eachWatchedShop('a flood of transfers to one organization', watchedTest => {
  const test = watchedTest
    /** Sends many transfers to our shop in one transaction. */
    .extend('flood', ({ chain }) => floodingToken(chain))
    .extend(
      'dust',
      ({ ours, flood }) =>
        (changes: Partial<Flood> = {}) =>
          flood({ from: 1, to: ours.recipient, count: DUST, amount: 1n, ...changes }),
    )
    /** Opens a session of another organization with an address of its own. */
    .extend('openElsewhere', ({ ours }) => async () => {
      const owner = await insertOwner(ours.db, 'test');
      return ours.open({ ...owner, recipientAddress: `0x${'e1'.repeat(20)}` });
    })
    .extend('listed', ({ ours }) => async (): Promise<number> => {
      const page = await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 1 });
      return page.total;
    });

  test('is kept and listed with far fewer statements than transfers', async ({
    chain,
    ours,
    dust,
    listed,
  }) => {
    await ours.open();
    await dust();
    await chain.mine(1);
    let statements = 0;
    ours.db.on('query', () => {
      statements += 1;
    });

    await ours.round();
    const kept = await ours.db.from('unmatched_transfers').whereNull('confirmed_at').count({ total: '*' });
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();

    expect(Number(kept[0]?.total)).toBe(DUST);
    expect(await listed()).toBe(DUST);
    expect(statements).toBeLessThan(DUST / 5);
  });

  test('that may pay sessions is recorded by several looks, and another organization’s payment by the first', async ({
    chain,
    ours,
    dust,
    openElsewhere,
    listed,
  }) => {
    const session = await ours.boundSession();
    const other = await openElsewhere();
    for (let sent = 0; sent < FLOOD; sent += 600) {
      await dust({ count: 600 });
      await chain.mine(1);
    }
    await chain.pay({ from: 2, to: other.recipientAddress, amount: other.amountDue });
    await chain.mine(1);

    await ours.look();
    const afterFirst = {
      other: (await ours.session(other.id)).paymentStatus,
      recorded: (await recordedOf(session.id)) + (await keptOf()),
    };
    await ours.settle();
    const listedInTheEnd = await until(
      async () => {
        await ours.round();
        return listed();
      },
      total => total >= FLOOD - MAX_PAYMENTS,
    );

    expect(afterFirst.other).toBe('confirming');
    expect(afterFirst.recorded).toBeLessThan(FLOOD);
    expect([await recordedOf(session.id), listedInTheEnd]).toEqual([MAX_PAYMENTS, FLOOD - MAX_PAYMENTS]);
    expect(await ours.session(other.id)).toMatchObject({ status: 'completed' });

    async function recordedOf(id: string): Promise<number> {
      return (await ours.payments(id)).length;
    }
    async function keptOf(): Promise<number> {
      const [row] = await ours.db.from('unmatched_transfers').count({ total: '*' });
      return Number(row?.total);
    }
  });

  test('that pays nothing is tried again in parts, which finds the payment of a wallet that signs later', async ({
    chain,
    ours,
    dust,
  }) => {
    const session = await ours.open();
    await dust({ from: 3 });
    await dust({ from: 3 });
    await ours.payment(session.amountDue / 2n);
    await chain.mine(1);
    await ours.look();
    const unpaid = await ours.payments(session.id);
    await ours.bind(session.id, `${chain.accounts[1]}`);

    const paid = await until(
      async () => {
        await ours.look();
        return ours.payments(session.id);
      },
      payments => payments.length > 0,
    );

    expect(unpaid).toEqual([]);
    expect(paid).toMatchObject([{ amount: session.amountDue / 2n }]);
  });

  test('for a session that has all its payments is kept by one look', async ({
    chain,
    ours,
    dust,
    listed,
  }) => {
    const session = await ours.boundSession();
    await dust({ count: MAX_PAYMENTS });
    await chain.mine(1);
    await ours.look();
    await dust();
    await chain.mine(1);

    await ours.look();
    const [kept] = await ours.db.from('unmatched_transfers').count({ total: '*' });
    await ours.settle();

    expect(Number(kept?.total)).toBe(DUST);
    expect([(await ours.payments(session.id)).length, await listed()]).toEqual([MAX_PAYMENTS, DUST]);
  });

  test('with a claimed hash is not matched one by one', async ({ chain, ours, dust, listed }) => {
    const session = await ours.boundSession();
    const hash = await dust({ from: 3 });
    await ours.claim(session.id, hash);
    await chain.mine(1);
    let statements = 0;
    ours.db.on('query', () => {
      statements += 1;
    });

    await ours.round();
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();

    expect(await listed()).toBe(DUST);
    expect(statements).toBeLessThan(DUST / 4);
  });
});
