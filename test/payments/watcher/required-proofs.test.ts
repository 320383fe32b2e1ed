import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { BLOCKS_TO_SETTLE, seals } from './setting.ts';
import { eachWatchedShop, type ShopBehindNodes } from './watched-shop.ts';

const REQUIRED: { changes: { requiresProof: boolean } } = { changes: { requiresProof: true } };

eachWatchedShop('payments that need a proof', watchedTest => {
  /** A payment in a session, through a node that changes the headers of blocks, so that no proof is possible. */
  const test = watchedTest.extend('unproven', ({ chain, behindNodes }) => async (options = REQUIRED) => {
    const ours = await behindNodes(options);
    const session = await ours.open();
    await ours.round();
    ours.node.tell(({ method }, answer) =>
      method === 'eth_getBlockByHash' ? { ...Object(answer), gasUsed: '0x1' } : undefined,
    );
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

  test('complete their session without one where none is required', async ({ unproven }) => {
    const { ours, session } = await unproven({ changes: { requiresProof: false } });
    await using _ = ours;

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });
});
