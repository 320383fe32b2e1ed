import { expect } from 'vitest';
import { isShared } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { cursorStore } from '#payments/store/cursor-store.ts';
import { BLOCKS_TO_SETTLE } from './setting.ts';
import { eachWatchedShop } from './watched-shop.ts';

eachWatchedShop('statements of a round', watchedTest => {
  const test = watchedTest
    /** The SQL of one round, 3 s after the previous one. */
    .extend('statementsOfLook', ({ ours }) => async (): Promise<string[]> => {
      const statements: string[] = [];
      const keep = ({ sql }: { sql: string }) => statements.push(sql);
      ours.db.on('query', keep);
      await ours.round();
      ours.db.removeListener('query', keep);
      return statements;
    });

  test('the payments in confirmation are read once per round', async ({ chain, ours, statementsOfLook }) => {
    const { amountDue } = await ours.open();
    await ours.payment(amountDue);
    await chain.mine(1);
    await ours.round();

    await chain.mine(1);
    const statements = await statementsOfLook();

    expect(statements.filter(sql => sql.startsWith('select transactions.*'))).toHaveLength(1);
  });

  test('after a payment is completed, the transfers around it are not read again', async ({
    chain,
    ours,
    statementsOfLook,
  }) => {
    const { id, amountDue } = await ours.open();
    await ours.payment(amountDue);
    await chain.mine(1);
    await ours.round();
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();
    await chain.mine(1);
    const statements = await statementsOfLook();

    expect((await ours.session(id)).status).toBe('completed');
    expect(statements.filter(sql => /from transactions where chain_id = \S+ and tx_hash/.test(sql))).toEqual(
      [],
    );
  });

  test('the claims of a chain are found through the partial index of open payments, on SQLite too', async ({
    ours,
    statementsOfLook,
  }) => {
    const { id } = await ours.boundSession();
    await ours.claim(id, `0x${'c1'.repeat(32)}`);
    await ours.round();

    const claims = (await statementsOfLook()).filter(sql => sql.includes("status = 'pending'"));

    expect(claims).toHaveLength(1);
    if (isShared(ours.db)) return;
    const plan = await rowsOf<{ detail: string }>(ours.db, `explain query plan ${claims[0]}`, [0]);
    expect(plan[0]?.detail).toMatch('USING INDEX transactions_open (chain_id=? AND status=?)');
  });

  test('a round without news commits the cursor and the settled block once', async ({
    chain,
    ours,
    statementsOfLook,
  }) => {
    await ours.round();
    await chain.mine(1);
    const ofNewBlock = await statementsOfLook();
    const kept = await cursorStore(ours.db).find(chain.chainId);
    const ofSameBlock = await statementsOfLook();

    expect(writesOf(ofNewBlock)).toHaveLength(1);
    expect(kept).toMatchObject({ blockNumber: await chain.head(), settledBlock: await chain.head() });
    expect(writesOf(ofSameBlock)).toHaveLength(1);
  });

  test('a round with a new block and no payments costs three commits, with lease and progress', async ({
    chain,
    ours,
    statementsOfLook,
  }) => {
    await ours.open({ expiresAt: ours.clock.now() + 60_000 });
    await ours.round();
    await chain.mine(1);

    expect(commitsOf(await statementsOfLook())).toBeLessThanOrEqual(3);
  });

  test('a watcher that has lost its lease changes nothing, and leads again once it regains it', async ({
    chain,
    ours,
  }) => {
    const { id, amountDue } = await ours.open();
    await ours.round();
    await ours.payment(amountDue);
    await chain.mine(1);
    await ours.db('leases').update({ holder: 'another' });

    await ours.round();
    const recorded = await ours.payments(id);
    await ours.db('leases').delete();
    await ours.round();
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();

    expect(recorded).toEqual([]);
    expect((await ours.session(id)).status).toBe('completed');
  });

  test('a round without a new block reads its recipients once and checks its lease with its progress', async ({
    ours,
    statementsOfLook,
  }) => {
    await ours.open();
    await ours.round();
    await ours.round();

    const statements = await statementsOfLook();

    expect(statements.filter(sql => sql.includes('watched_recipients'))).toHaveLength(1);
    expect(statements.filter(sql => /from .leases/.test(sql))).toHaveLength(1);
    expect(statements.filter(sql => sql.startsWith('update leases'))).toHaveLength(0);
    expect(statements.filter(sql => /^BEGIN/i.test(sql))).toHaveLength(1);
  });
});

/** Transactions that end with a change of the chain's cursor. */
function writesOf(statements: readonly string[]): string[] {
  return statements
    .join('; ')
    .split('COMMIT')
    .filter(one => one.includes('chain_cursors set') || one.includes('into chain_cursors'));
}

/** Transactions and the statements outside of them: each is a commit on PostgreSQL. */
function commitsOf(statements: readonly string[]): number {
  let isWithin = false;
  return statements.filter(sql => {
    if (/^BEGIN/i.test(sql)) isWithin = true;
    const isCommit = /^COMMIT/i.test(sql);
    if (isCommit) isWithin = false;
    return isCommit || !isWithin;
  }).length;
}
