import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { newId } from '#lib/ids.ts';
import { eventStore } from '#payments/events/event-store.ts';
import { reportUnmatched } from '#payments/events/unmatched-transfers.ts';
import type { UnmatchedTransfer } from '#payments/model/transfer.ts';
import { transferDecisions } from '#payments/settlement/transfer-decisions.ts';
import { aTransfer } from '../../lab/payments-sessions.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { BLOCKS_TO_SETTLE, seals } from './setting.ts';
import { eachWatchedShop, type WatchedShop } from './watched-shop.ts';

const HOUR_MS = 3_600_000;

eachWatchedShop('the events of unmatched transfers', test => {
  const eventsOf = async (ours: WatchedShop) => {
    const { data } = await eventStore(ours.db, seals).list(
      ours.owner,
      { type: 'transfer.unmatched', since: 0 },
      { page: 1, limit: 1 },
    );
    return { data, count: await countOf(ours) };
  };
  const countOf = async (ours: WatchedShop) =>
    (
      await eventStore(ours.db, seals).list(
        ours.owner,
        { type: 'transfer.unmatched', since: 0 },
        { page: 1, limit: 1 },
      )
    ).total;

  test('come with the confirmation, with the checkout that is suggested', async ({ chain, ours }) => {
    const session = await ours.open();
    await chain.pay({ from: 7, to: ours.recipient, amount: session.amount });
    await ours.round();
    const before = await eventsOf(ours);

    await ours.settle();

    const { data, count } = await eventsOf(ours);
    expect([before.count, count]).toEqual([0, 1]);
    expect(data).toMatchObject([
      { data: { amount: `${session.amount}`, suggested_session_id: session.id, chain_id: chain.chainId } },
    ]);
  });

  test('are not sent again for one that was dismissed, dropped and mined again, which stays dismissed', async ({
    chain,
    ours,
  }) => {
    await ours.open();
    const before = await chain.snapshot();
    const paid = await ours.payment(123n);
    await ours.settle();
    const list = async () => (await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 9 })).data;
    const [first] = await list();
    const decision = { actor: 'api_key:ak_1', reason: 'Ours', now: ours.clock.now() } as const;
    await transferDecisions(ours.db).dismiss(`${first?.id}`, decision);

    await chain.fork(before, 4 * BLOCKS_TO_SETTLE);
    for (let count = 0; count < 3; count++) await ours.round();
    const dropped = await list();
    await chain.pay({ from: 2, to: ours.recipient, amount: 77n });
    await chain.call('eth_sendRawTransaction', paid.raw);
    await ours.settle();

    expect(dropped).toEqual([]);
    expect((await list()).find(({ txHash }) => txHash === paid.hash)).toMatchObject({
      id: first?.id,
      createdAt: first?.createdAt,
      dismissedBy: 'api_key:ak_1',
      dismissedReason: 'Ours',
      confirmedAt: ours.clock.now(),
    });
    // One for each transfer.
    expect(await countOf(ours)).toBe(2);
  });

  test('are at most ten in an hour for dust, the largest first, and leave room for those with a checkout', async ({
    ours,
  }) => {
    const { owner, clock } = ours;
    let logIndex = 0;
    const some = (count: number, amountOf: (index: number) => bigint, suggestedSessionId: string | null) =>
      Array.from(
        { length: count },
        (_, index): UnmatchedTransfer => ({
          ...aTransfer({ amount: amountOf(index), logIndex: logIndex++ }),
          ...owner,
          id: newId('utr'),
          confirmedAt: clock.now(),
          suggestedSessionId,
          sessionId: null,
          transactionId: null,
          createdAt: clock.now(),
          amountRefunded: 0n,
          assignedAt: null,
          assignedBy: null,
          assignedReason: null,
          dismissedAt: null,
          dismissedBy: null,
          dismissedReason: null,
          restoredAt: null,
          restoredBy: null,
          restoredReason: null,
        }),
      );
    const report = (transfers: readonly UnmatchedTransfer[]) =>
      transaction(ours.db, handle => reportUnmatched({ handle, seals, now: clock.now() }, transfers));
    const dust = some(200, index => BigInt(index + 1), null);

    await report(dust);
    await report(some(200, () => 1n, null));
    const ofDust = await countOf(ours);
    await report(some(120, () => 5n, newId('cs')));
    const withSuggested = await countOf(ours);
    await report(dust);
    const again = await countOf(ours);
    clock.advance(HOUR_MS + 1);
    await report(some(5, () => 1n, null));

    expect([ofDust, withSuggested, again, await countOf(ours)]).toEqual([10, 110, 110, 115]);
    const { data } = await eventStore(ours.db, seals).list(owner, { since: 0 }, { page: 1, limit: 115 });
    const amounts = data.map(one => Number(one.data.amount)).filter(amount => amount > 5);
    expect(amounts.toSorted((a, b) => a - b)).toEqual([191, 192, 193, 194, 195, 196, 197, 198, 199, 200]);
  });
});
