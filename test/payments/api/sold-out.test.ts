import { expect } from 'vitest';
import { rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { newId } from '#lib/ids.ts';
import { createLogger } from '#lib/logger.ts';
import { paymentChains } from '#payments/model/payment-chain.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { expiryWorker } from '#payments/watcher/expiry.ts';
import { list, record, text } from '../../lab/json.ts';
import { aTransfer } from '../../lab/payments-sessions.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { errorOf, PLACE } from '../../support/payments-api.ts';

const LINKS = '/api/v1/payment-links';
const SESSIONS = '/api/v1/checkout-sessions';
const BY_AMOUNT = { matchedBy: 'amount', confirmations: 1 } as const;
const log = createLogger({ level: 'silent' });

eachPaymentsApi('a sold-out link', apiTest => {
  const test = apiTest
    .extend('linkOf', ({ merchant }) => async (max_uses: number): Promise<Record<string, unknown>> => {
      const { body } = await merchant.post(LINKS, {
        name: 'The last one',
        amount: '12500000',
        ...PLACE,
        max_uses,
      });
      return record(body);
    })
    .extend('opened', ({ merchant }) => async (link: Record<string, unknown>): Promise<string> => {
      const { body } = await merchant.post(SESSIONS, { payment_link_id: link.id });
      return text(record(body).id);
    })
    .extend(
      'pay',
      ({ merchant }) =>
        (id: string, outcome = 'completed') =>
          merchant.post(`/api/v1/test/sessions/${id}/simulate`, { outcome }),
    )
    .extend(
      'session',
      ({ merchant }) =>
        async (id: string) =>
          record((await merchant.get(`${SESSIONS}/${id}`)).body),
    )
    .extend('eventsOf', ({ merchant }) => async (id: string): Promise<unknown[]> => {
      const { body } = await merchant.get(`/api/v1/events?session_id=${id}`);
      return list(record(body).data)
        .map(one => record(one).event)
        .reverse();
    });

  test('ends its other open checkouts at once, with the reason in session and event', async ({
    api,
    merchant,
    linkOf,
    opened,
    pay,
    session,
    eventsOf,
  }) => {
    const link = await linkOf(1);
    const [first, second] = [await opened(link), await opened(link)];

    const paid = await pay(first);

    expect(paid.body).toMatchObject({ status: 'completed', ended_reason: null });
    expect(await session(second)).toMatchObject({ status: 'expired', ended_reason: 'sold_out' });
    expect(await eventsOf(second)).toEqual(['checkout.expired']);
    const { body } = await merchant.get(`/api/v1/events?session_id=${second}`);
    expect(record(body).data).toMatchObject([{ data: { status: 'expired', ended_reason: 'sold_out' } }]);
    const start = await api.payer.post(`/api/v1/pay/links/${text(link.short_code)}/sessions`, {});
    expect(errorOf(start)).toBe('400 invalid_status_transition');
  });

  test('leaves a checkout open whose payment was seen, and one of another link', async ({
    api,
    linkOf,
    opened,
    pay,
    session,
  }) => {
    const [link, another] = [await linkOf(1), await linkOf(1)];
    const [first, seen, partial, foreign] = [
      await opened(link),
      await opened(link),
      await opened(link),
      await opened(another),
    ];
    const { amount_due, recipient_address } = await session(seen);
    const transfer = aTransfer({ amount: BigInt(text(amount_due)), recipient: text(recipient_address) });
    await api.settle(one => one.recordTransfer({ id: seen }, transfer, BY_AMOUNT));
    await pay(partial, 'underpaid');

    await pay(first);

    const statuses = await Promise.all([seen, partial, foreign].map(async id => (await session(id)).status));
    expect(statuses).toEqual(['active', 'active', 'active']);
  });

  test('ends a checkout whose payment was seen once that payment fails', async ({
    api,
    linkOf,
    opened,
    pay,
    session,
  }) => {
    const link = await linkOf(1);
    const [first, second] = [await opened(link), await opened(link)];
    const { amount_due } = await session(second);
    const transfer = aTransfer({ amount: BigInt(text(amount_due)) });
    const seen = await api.settle(one => one.recordTransfer({ id: second }, transfer, BY_AMOUNT));
    await pay(first);

    await api.settle(one => one.fail(seen.id, 'reverted'));

    expect(await session(second)).toMatchObject({ status: 'expired', ended_reason: 'sold_out' });
  });

  test('ends a hundred of its open checkouts with the payment, and the others right after it', async ({
    api,
    merchant,
    linkOf,
    opened,
    pay,
  }) => {
    const link = await linkOf(1);
    const first = await opened(link);
    await transaction(api.db, async handle => {
      const sessions = sessionStore(handle, api.seals);
      const known = await sessions.find(merchant.owner, first);
      if (known === undefined) throw new Error('no session');
      for (let other = 0; other < 130; other++) {
        const draft = { ...known, id: newId('cs'), amount: BigInt(other + 1) * 1_000_000n, tokenDecimals: 6 };
        await sessions.open(draft);
      }
    });
    const expiry = expiryWorker({ ...api, log, chains: paymentChains([]) });
    const openCount = async () =>
      record((await merchant.get(`${LINKS}/${text(link.id)}/sessions?status=active`)).body).total_count;

    await pay(first);
    const left = await openCount();
    await expiry.runOnce(AbortSignal.timeout(60_000));
    const inTheEnd = await openCount();
    await expiry.runOnce(AbortSignal.timeout(60_000));

    expect([left, inTheEnd]).toEqual([30, 0]);
  });

  test('opens its checkouts again when a reorganisation gives the use back, and ends them with its return', async ({
    api,
    merchant,
    linkOf,
    opened,
    session,
    eventsOf,
  }) => {
    const link = await linkOf(1);
    const [first, second, third] = [await opened(link), await opened(link), await opened(link)];
    const transfer = aTransfer({ amount: BigInt(text((await session(first)).amount_due)) });
    const late = aTransfer({ amount: BigInt(text((await session(third)).amount_due)), logIndex: 9 });
    const { id } = await api.settle(one => one.recordTransfer({ id: first }, transfer, BY_AMOUNT));
    await api.settle(one => one.complete(id));
    await api.settle(one => one.recordTransfer({ id: third }, late, BY_AMOUNT));
    const uses = async () => record((await merchant.get(`${LINKS}/${text(link.id)}`)).body).current_uses;

    await api.settle(one => one.reorg(id));
    const open = [await uses(), await session(second), await session(third)];
    await api.settle(one => one.recordTransfer({ id: first }, { ...transfer, blockNumber: 999 }, BY_AMOUNT));
    await api.settle(one => one.complete(id));

    expect(open).toMatchObject([
      0,
      { status: 'active', ended_reason: null },
      { status: 'expired', ended_reason: 'sold_out' },
    ]);
    expect(await uses()).toBe(1);
    expect(await session(second)).toMatchObject({ status: 'expired', ended_reason: 'sold_out' });
    expect(await eventsOf(second)).toEqual(['checkout.expired']);
  });

  test('keeps its use when a second payment stands after a reorganisation has dropped the first', async ({
    api,
    merchant,
    linkOf,
    opened,
    session,
  }) => {
    const link = await linkOf(1);
    const [first, second] = [await opened(link), await opened(link)];
    const pay = async () => {
      const transfer = aTransfer({ amount: BigInt(text((await session(first)).amount_due)) });
      const { id } = await api.settle(one => one.recordTransfer({ id: first }, transfer, BY_AMOUNT));
      return api.settle(one => one.complete(id));
    };
    const [paid, twice] = [await pay(), await pay()];

    await api.settle(one => one.reorg(paid.id));

    expect(twice.isDuplicate).toBe(true);
    expect(await session(first)).toMatchObject({ status: 'completed', is_reorged: false, outcome: 'paid' });
    expect(await session(second)).toMatchObject({ status: 'expired', ended_reason: 'sold_out' });
    expect(record((await merchant.get(`${LINKS}/${text(link.id)}`)).body).current_uses).toBe(1);
    expect((await merchant.get(`/api/v1/transactions/${twice.id}`)).body).toMatchObject({ duplicate: false });
  });

  test('opens no checkout again whose time has passed or whose amount was asked for by a newer one', async ({
    api,
    merchant,
    linkOf,
    opened,
    pay,
    session,
  }) => {
    const link = await linkOf(1);
    const { body } = await merchant.post(SESSIONS, { payment_link_id: link.id, expires_in: 300 });
    const [first, short, taken] = [await opened(link), text(record(body).id), await opened(link)];
    await pay(first);
    api.clock.advance(301_000);
    const newer = await opened(await linkOf(1));
    const [due] = await rowsOf<{ amount_due: string }>(
      api.db,
      'select amount_due from checkout_sessions where id = ?',
      [taken],
    );
    await api.db.raw('update checkout_sessions set amount_due = ? where id = ?', [
      due?.amount_due ?? '',
      newer,
    ]);

    await merchant.patch(`${LINKS}/${text(link.id)}`, { max_uses: 2 });

    expect((await session(short)).status).toBe('expired');
    expect((await session(taken)).status).toBe('expired');
    expect((await session(newer)).status).toBe('active');
  });

  test('follows max_uses: fewer end its open checkouts, more open them again', async ({
    merchant,
    linkOf,
    opened,
    pay,
    session,
  }) => {
    const link = await linkOf(2);
    const [first, second] = [await opened(link), await opened(link)];
    await pay(first);
    const statusWith = async (max_uses: number) => {
      await merchant.patch(`${LINKS}/${text(link.id)}`, { max_uses });
      const { status, ended_reason } = await session(second);
      return [status, ended_reason];
    };

    expect(await statusWith(1)).toEqual(['expired', 'sold_out']);
    expect(await statusWith(2)).toEqual(['active', null]);
  });

  test('other ends have their own reason: time, the merchant, a deleted link', async ({
    api,
    merchant,
    linkOf,
    opened,
    session,
  }) => {
    const [link, deleted] = [await linkOf(9), await linkOf(9)];
    const [byTime, byMerchant, byDeletion] = [await opened(link), await opened(link), await opened(deleted)];

    await merchant.post(`${SESSIONS}/${byMerchant}/expire`);
    await merchant.delete(`${LINKS}/${text(deleted.id)}`);
    api.clock.advance(86_400_000);
    const now = api.clock.now();
    await transaction(api.db, handle =>
      settlement({ handle, seals: api.seals, now }).expireDue({
        chainId: PLACE.chain_id,
        until: now,
        limit: 1000,
      }),
    );

    const reasons = await Promise.all(
      [byTime, byMerchant, byDeletion].map(async id => (await session(id)).ended_reason),
    );
    expect(reasons).toEqual(['time', 'merchant', 'link_deleted']);
  });
});
