import { expect, test } from 'vitest';
import type { Owner } from '#payments/model/owner.ts';
import type { Refund } from '#payments/model/refund.ts';
import { recipientStore } from '#payments/recipients/recipient-store.ts';
import { refundStore } from '#payments/refunds/refund-store.ts';
import { refundTurns } from '#payments/refunds/refund-turns.ts';
import { RECORD_TIME } from '../../lab/payments-records.ts';
import { aRefund } from '../../lab/payments-refunds.ts';
import { bothDatabases } from '../../support/databases.ts';
import { givenDatabase } from '../../support/given-database.ts';

const CHAIN = 31_337;
const LIMIT = 5;

bothDatabases('refunds of an organization with more than are followed at a time', databases => {
  const given = givenDatabase(databases, { isShared: false });

  const insert = async (owner: Owner, count: number, changes: Partial<Refund> = {}) => {
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      const txHash = `0x${index.toString(16).padStart(64, '0')}`;
      const refund = aRefund(owner, { txHash, createdAt: RECORD_TIME + index, ...changes });
      await refundStore(given.db).insert(refund);
      ids.push(refund.id);
    }
    return ids;
  };
  const lost = { failureReason: 'not_found' } as const;
  const pending = { status: 'pending', createdAt: RECORD_TIME + 99 } as const;
  const followed = async (step = 0) =>
    (await refundTurns(given.db).followed(CHAIN, step, LIMIT)).map(({ id }) => id);

  test('keep no other organization from its turn', async () => {
    await insert(given.owner, 2 * LIMIT, lost);
    const other = await given.newOwner();
    const [theirs] = await insert(other, 1, pending);
    const [open] = await insert(other, 1, { txHash: null });

    const awaiting = await refundTurns(given.db).awaiting(CHAIN, LIMIT);

    expect((await followed()).slice(0, 2)).toContain(theirs);
    expect(awaiting.map(({ id }) => id).slice(0, 2)).toContain(open);
  });

  test('wait behind those whose transaction is still looked for, and all get their turn', async () => {
    const ids = await insert(given.owner, 2 * LIMIT, lost);
    const [newest] = await insert(given.owner, 1, pending);

    const steps = await Promise.all(ids.map((_, step) => followed(step)));

    expect(steps.map(([first]) => first)).toEqual(ids.map(() => newest));
    expect([...new Set(steps.flat())].sort()).toEqual([...ids, newest].sort());
  });

  test('are searched from no more addresses than a search has, some of each organization', async () => {
    const other = await given.newOwner();
    const store = recipientStore(given.db);
    const name = async (owner: Owner, index: number) => {
      const address = `0x${index.toString(16).padStart(40, '0')}`;
      await store.name(owner, { chainId: CHAIN, address }, RECORD_TIME + index);
      return address;
    };
    for (let index = 1; index <= 2 * LIMIT; index++) await name(given.owner, index);
    const theirs = await name(other, 2 * LIMIT + 1);

    const senders = await store.ownedBy(CHAIN, [given.owner, other], LIMIT);

    expect(senders).toHaveLength(LIMIT);
    expect(senders.slice(0, 2)).toContain(theirs);
  });
});
