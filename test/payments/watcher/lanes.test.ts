import { expect } from 'vitest';
import { floodingToken } from '../../support/flooding-token.ts';
import { insertOwner } from '../../support/given-database.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { BLOCKS_TO_SETTLE } from './setting.ts';
import { eachWatchedShop, type WatchedShop } from './watched-shop.ts';

/** Most claims that one look asks the node about. */
const CLAIMS = 25;

eachWatchedShop('work beside completions', test => {
  test('claims whose answers do not come hold up no payment and no unmatched transfer', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    await claimUnknown(ours, CLAIMS);
    ours.node.hang(({ method }) => method === 'eth_getTransactionByHash');
    const [first, second] = [await ours.open(), await ours.open()];
    await chain.pay({ from: 2, to: ours.recipient, amount: first.amountDue });
    await chain.mine(BLOCKS_TO_SETTLE);

    const looking = ours.look();
    await expect.poll(async () => (await ours.session(first.id)).status).toBe('completed');
    await expect.poll(() => ours.node.calls).toContain('eth_getTransactionByHash');
    ours.clock.advance(1_000);
    await looking;
    await chain.pay({ from: 3, to: ours.recipient, amount: second.amountDue });
    await chain.pay({ from: 4, to: ours.recipient, amount: 77n });
    await chain.mine(BLOCKS_TO_SETTLE);
    // It ends although the claims are still under way, and starts no others.
    await ours.round();

    expect(await ours.session(second.id)).toMatchObject({ status: 'completed' });
    expect(await listed(ours)).toBe(1);
    expect(ours.node.calls.filter(method => method === 'eth_getTransactionByHash')).toHaveLength(CLAIMS);
  });

  test('after a long look, payments are completed before the next scan', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes();
    const session = await ours.open();
    await chain.pay({ from: 2, to: ours.recipient, amount: session.amountDue });
    await chain.mine(1);
    const isScan = ({ method }: { method: string }) => method === 'eth_getLogs';
    const scans = () => ours.node.calls.filter(method => isScan({ method })).length;
    const release = ours.node.hold(isScan);
    const looking = ours.look();
    await expect.poll(scans).toBe(1);
    ours.clock.advance(2_000);
    release();
    await looking;
    const afterFirst = (await ours.session(session.id)).status;

    await chain.mine(BLOCKS_TO_SETTLE);
    const releaseNext = ours.node.hold(isScan);
    const next = ours.look();
    await expect.poll(async () => (await ours.session(session.id)).status).toBe('completed');
    releaseNext();
    await next;

    expect(afterFirst).toBe('active');
  });

  test('the settled block moves on while claims are under way', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes();
    await claimUnknown(ours, 1);
    ours.node.hang(({ method }) => method === 'eth_getTransactionByHash');
    const looking = ours.look();
    await expect.poll(() => ours.node.calls).toContain('eth_getTransactionByHash');
    ours.clock.advance(1_000);
    await looking;

    await chain.mine(1);
    await ours.round();

    const [cursor] = await ours.db('chain_cursors').select('settled_block');
    expect(cursor?.settled_block).toBe(await chain.head());
  });

  test('thousands of transfers of a stranger to one organization leave another’s payment to the first look', async ({
    chain,
    ours,
  }) => {
    const flood = await floodingToken(chain);
    const other = await openElsewhere(ours);
    await ours.open();
    await flood({ from: 1, to: ours.recipient, count: 3_000, amount: 1n });
    await chain.pay({ from: 2, to: other.recipientAddress, amount: other.amountDue });
    await chain.mine(BLOCKS_TO_SETTLE);

    await ours.round();
    const afterFirst = [(await ours.session(other.id)).status, await listed(ours)];
    for (let count = 0; count < 2; count += 1) await ours.round();

    expect(afterFirst).toEqual(['completed', 1_000]);
    expect(await listed(ours)).toBe(3_000);
  });

  test('payments of several organizations are completed in turns', async ({ chain, ours }) => {
    const flood = await floodingToken(chain);
    const other = await openElsewhere(ours);
    for (const from of [1, 2, 3]) {
      const { id } = await ours.open();
      await ours.bind(id, `${chain.accounts[from]}`);
      await flood({ from, to: ours.recipient, count: 80, amount: 1n });
    }
    await chain.mine(1);
    await ours.round();
    await chain.pay({ from: 4, to: other.recipientAddress, amount: other.amountDue });
    await chain.mine(BLOCKS_TO_SETTLE);

    await ours.round();
    const afterFirst = [(await ours.session(other.id)).status, await completed(ours)];
    await ours.round();

    expect(afterFirst).toEqual(['completed', 200]);
    expect(await completed(ours)).toBe(241);
  });
});

/** Claims of transactions that were never sent, each for a session with a signed wallet. */
async function claimUnknown(ours: WatchedShop, count: number): Promise<void> {
  for (let one = 1; one <= count; one += 1) {
    const { id } = await ours.boundSession();
    await ours.claim(id, `0x${one.toString(16).padStart(64, '0')}`);
  }
}

/** Opens a session of another organization with an address of its own. */
async function openElsewhere(ours: WatchedShop) {
  const owner = await insertOwner(ours.db, 'test');
  return ours.open({ ...owner, recipientAddress: `0x${'e1'.repeat(20)}` });
}

async function listed(ours: WatchedShop): Promise<number> {
  return (await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 1 })).total;
}

/** Number of completed payments of all organizations. */
async function completed({ db }: WatchedShop): Promise<number> {
  const [row] = await db.from('transactions').where({ status: 'completed' }).count({ total: '*' });
  return Number(row?.total);
}
