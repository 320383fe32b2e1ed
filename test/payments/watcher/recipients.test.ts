import { expect } from 'vitest';
import { paymentChain, watcherOf } from './setting.ts';
import { eachWatchedShop, never } from './watched-shop.ts';

const NEW_RECIPIENT = `0x${'ee'.repeat(20)}`;
const READ_ALL = /from watched_recipients\s+where chain_id = \S+ order by/;

eachWatchedShop('the recipients cached by a watcher', watchedTest => {
  const test = watchedTest
    /** Runs one round; returns how often all recipients were read. */
    .extend('wholeReadings', ({ ours }) => async (): Promise<number> => {
      let readings = 0;
      const count = ({ sql }: { sql: string }) => {
        if (READ_ALL.test(sql)) readings += 1;
      };
      ours.db.on('query', count);
      await ours.round();
      ours.db.removeListener('query', count);
      return readings;
    });

  test('are all read when the watcher becomes the leader, and again after ten minutes', async ({
    ours,
    wholeReadings,
  }) => {
    await ours.open();
    const first = await wholeReadings();
    await ours.open({ recipientAddress: NEW_RECIPIENT });
    const next = await wholeReadings();
    ours.clock.advance(600_000);

    expect([first, next, await wholeReadings()]).toEqual([1, 0, 1]);
  });

  test('include one whose first session was opened since the previous round', async ({ chain, ours }) => {
    await ours.open();
    await ours.look();
    const session = await ours.open({ recipientAddress: NEW_RECIPIENT });
    await ours.look();
    await chain.pay({ from: 1, to: NEW_RECIPIENT, amount: session.amountDue });
    await ours.settle();

    expect((await ours.session(session.id)).status).toBe('completed');
  });

  test('include one inserted by a version without read_at', async ({ chain, ours }) => {
    const session = await ours.open({ recipientAddress: NEW_RECIPIENT });
    const rows = await ours.db.from('watched_recipients').where({ recipient_address: NEW_RECIPIENT });
    await ours.db('watched_recipients').delete();
    await ours.look();
    for (const { read_at: _, ...row } of rows) await ours.db('watched_recipients').insert(row);
    await chain.pay({ from: 1, to: NEW_RECIPIENT, amount: session.amountDue });
    await ours.settle();

    expect((await ours.session(session.id)).status).toBe('completed');
  });

  test('include one that another watcher read during its own leadership', async ({ chain, ours }) => {
    const { db, clock } = ours;
    const another = watcherOf({ chain: paymentChain(chain), rpcUrls: [chain.rpcUrl], db, clock });
    await ours.open();
    await ours.look();
    await ours.watcher.resign();
    await another.runOnce(never);
    const session = await ours.open({ recipientAddress: NEW_RECIPIENT });
    await another.runOnce(never);
    await another.resign();

    await chain.pay({ from: 1, to: NEW_RECIPIENT, amount: session.amountDue });
    await ours.settle();

    expect((await ours.session(session.id)).status).toBe('completed');
  });
});
