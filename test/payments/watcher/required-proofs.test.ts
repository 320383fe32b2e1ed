import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import type { Lie } from '../../lab/faulty-node.ts';
import { BLOCKS_TO_SETTLE, seals } from './setting.ts';
import { eachWatchedShop, type ShopBehindNodes } from './watched-shop.ts';

const REQUIRED: { changes: { requiresProof: boolean } } = { changes: { requiresProof: true } };

/** Refuses blocks that are read by their hash. */
const refusesBlocks: Lie = ({ method }) => (method === 'eth_getBlockByHash' ? new Error('busy') : undefined);

/** Changes the headers of blocks that are read by their hash. */
const unprovable: Lie = ({ method }, answer) =>
  method === 'eth_getBlockByHash' ? { ...Object(answer), gasUsed: '0x1' } : undefined;

eachWatchedShop('payments that need a proof', watchedTest => {
  /** A payment in a session, through a node that changes the headers of blocks, so that no proof is possible. */
  const test = watchedTest.extend('unproven', ({ chain, behindNodes }) => async (options = REQUIRED) => {
    const ours = await behindNodes(options);
    const session = await ours.open();
    await ours.round();
    ours.node.tell(unprovable);
    await ours.payment(session.amountDue);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();
    return { ours, session };
  });

  const accept = ({ db, clock }: ShopBehindNodes, id: string) =>
    transaction(db, handle =>
      settlement({ handle, seals, now: clock.now() }).accept(
        { id },
        { actor: 'api_key:key_1', reason: 'seen on two explorers' },
      ),
    );

  test('complete their session with a proof', async ({ behindNodes }) => {
    await using ours = await behindNodes(REQUIRED);
    const session = await ours.open();
    await ours.round();

    await ours.payment(session.amountDue);
    await ours.settle();

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test('wait without one until the merchant accepts them', async ({ unproven }) => {
    const { ours, session } = await unproven();
    await using _ = ours;
    const held = await ours.session(session.id);
    const payments = await ours.payments(session.id);
    const events = await ours.events();

    ours.clock.advance(1_000);
    await accept(ours, session.id);

    expect(held).toMatchObject({ status: 'expired', endedReason: 'unproven', paymentStatus: 'paid' });
    expect(payments).toMatchObject([{ status: 'completed', proven: false, isLate: false }]);
    expect(events).toEqual(['payment.completed', 'checkout.expired', 'checkout.paid_late']);
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed', endedReason: null });
    expect((await ours.events()).at(-1)).toBe('checkout.completed');
  });

  test('of a wallet that signs after their confirmation complete nothing before they are proven', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes(REQUIRED);
    const [proven, held] = [await ours.open(), await ours.open()];
    await ours.round();
    await ours.payment(proven.amount);
    await ours.settle();
    const signed = await ours.prove(proven.id, `${chain.accounts[1]}`.toLowerCase());
    await chain.mine();
    await ours.round();
    await chain.pay({ from: 2, to: ours.recipient, amount: held.amount });
    await ours.settle();
    ours.node.tell(unprovable);

    await ours.prove(held.id, `${chain.accounts[2]}`.toLowerCase());
    await chain.mine();
    await ours.round();

    expect(signed).toMatchObject({ status: 'active', paymentStatus: 'confirming' });
    expect(await ours.session(proven.id)).toMatchObject({ status: 'completed' });
    expect(await ours.payments(proven.id)).toMatchObject([{ proven: true }]);
    expect(await ours.session(held.id)).toMatchObject({ status: 'expired', endedReason: 'unproven' });
  });

  test('complete their session with a proof next to a part without one', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes(REQUIRED);
    const session = await ours.boundSession();
    await ours.round();
    ours.node.tell(unprovable);
    await ours.payment(1n);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();
    ours.node.tell(undefined);

    ours.clock.advance(30_000);
    await ours.payment(session.amount);
    await ours.settle();

    const payments = await ours.payments(session.id);
    expect(payments.map(one => [one.amount, one.proven])).toEqual([
      [1n, false],
      [session.amount, true],
    ]);
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test('complete their session with a proof after nodes refused their block for a while', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes(REQUIRED);
    const session = await ours.open();
    await ours.round();
    ours.node.tell(refusesBlocks);
    await ours.payment(session.amountDue);
    await chain.mine(BLOCKS_TO_SETTLE);
    for (let count = 0; count < 3; count++) await ours.round();
    const during = await ours.session(session.id);

    ours.node.tell(undefined);
    await ours.settle();

    expect(during).toMatchObject({ status: 'active', paymentStatus: 'confirming' });
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
    expect(await ours.payments(session.id)).toMatchObject([{ proven: true }]);
  });

  test('wait without one when nodes refuse their block for long', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes(REQUIRED);
    const session = await ours.open();
    await ours.round();
    ours.node.tell(refusesBlocks);
    await ours.payment(session.amountDue);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();

    ours.clock.advance(60_000);
    await ours.settle();

    expect(await ours.session(session.id)).toMatchObject({ status: 'expired', endedReason: 'unproven' });
  });

  test('complete their session without one where none is required', async ({ unproven }) => {
    const { ours, session } = await unproven({ changes: { requiresProof: false } });
    await using _ = ours;

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });
});
