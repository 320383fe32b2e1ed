import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { newId } from '#lib/ids.ts';
import type { Owner } from '#payments/model/owner.ts';
import { paymentChains } from '#payments/model/payment-chain.ts';
import { searchTextOf } from '#payments/search/search-text.ts';
import { foundSessions } from '#payments/search/session-search.ts';
import type { SortedPageRequest } from '#payments/search/sorted-page.ts';
import { foundTransactions } from '#payments/search/transaction-search.ts';
import { seals } from '#payments/secrets/sealed.ts';
import type { SessionDraft } from '#payments/sessions/opening.ts';
import type { SessionFilters } from '#payments/sessions/session-filters.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { aLink, RECORD_TIME } from '../../lab/payments-records.ts';
import { aSession } from '../../lab/payments-sessions.ts';
import { eachPaymentsDatabase } from '../../support/each-payments-database.ts';
import { indexPlans } from '../../support/query-plans.ts';

const SEALED = seals(['a secret that only this test knows, and long']);
const NEWEST: SortedPageRequest = { page: 1, limit: 100 };
const WALLET = `0x${'aa'.repeat(20)}`;
const { chainId, tokenAddress, mode } = aLink({ organizationId: '', mode: 'test' });
const token = { address: tokenAddress, symbol: 'USDC', decimals: 6 };
const coin = { address: `0x${'0'.repeat(40)}`, symbol: 'ETH', decimals: 18 };
const fine = { address: `0x${'36'.repeat(20)}`, symbol: 'FINE', decimals: 60 };
const CHAINS = paymentChains([
  { id: chainId, name: 'Local', mode, tokens: [coin, token, fine], confirmations: 2, explorerUrl: undefined },
]);

eachPaymentsDatabase('a search in checkouts', ownedTest => {
  const test = ownedTest
    .extend('shop', ({ owner }): Owner => ({ ...owner, mode }))
    .extend(
      'opened',
      ({ db, shop }) =>
        (changes: Partial<SessionDraft> = {}, whose = shop) =>
          transaction(db, handle => sessionStore(handle, SEALED).open(aSession(whose, changes))),
    )
    .extend(
      'page',
      ({ db, shop }) =>
        (text: string, filters: SessionFilters = {}, page: Partial<SortedPageRequest> = {}) =>
          foundSessions(
            { handle: db, seals: SEALED },
            { owner: shop, text: searchTextOf(text, { chains: CHAINS, mode }) },
            filters,
            { ...NEWEST, ...page },
          ),
    )
    .extend('found', ({ page }) => async (...search: Parameters<typeof page>) => {
      const { data, total } = await page(...search);
      expect(total).toBe(data.length);
      return data.map(({ id }) => id);
    })
    .extend('payments', ({ db, shop }) => async (text: string) => {
      const search = { owner: shop, text: searchTextOf(text, { chains: CHAINS, mode }) };
      const { data } = await foundTransactions({ handle: db, seals: SEALED }, search, {}, NEWEST);
      return data.map(({ sessionId }) => sessionId);
    });

  test('finds one by id, order reference, email address, product and amount', async ({
    db,
    shop,
    stranger,
    opened,
    found,
  }) => {
    const link = aLink(shop, { name: 'Dotted Notebook' });
    await linkStore(db).insert(link);
    const wanted = await opened({
      paymentLinkId: link.id,
      clientReferenceId: 'Order-1042',
      customerEmail: 'Ada@Example.com',
      amount: 25_500_000n,
    });
    await opened({ clientReferenceId: 'Order-10421', customerEmail: 'bob@example.com' });
    await opened(
      { clientReferenceId: 'Order-1042', customerEmail: 'ada@example.com' },
      { ...stranger, mode },
    );
    const exact = `${wanted.amountDue / 1_000_000n}.${String(wanted.amountDue % 1_000_000n).padStart(6, '0')}`;

    for (const text of [wanted.id, link.id, ' order-1042 ', 'ada@example.com', 'note', 'NOTEBOOK', exact])
      expect([text, await found(text)]).toEqual([text, [wanted.id]]);
    for (const text of ['25.5', '25,50', '25.5 USDC', '25.50 usdc'])
      expect([text, await found(text)]).toEqual([text, [wanted.id]]);
    for (const text of [
      newId('cs'),
      '1042',
      'ada@example.co',
      '25',
      '25.5 ETH',
      '25.5000001',
      "x' or 1=1",
      '%',
    ])
      expect([text, await found(text)]).toEqual([text, []]);
  });

  test('finds order references and products that begin like an id', async ({
    db,
    shop,
    opened,
    found,
    payments,
  }) => {
    for (const reference of ['re_1001', 'PL_7', 'cs_2026_11', 'txn_x', `cust_${'1'.repeat(25)}`, 'utr_1-2']) {
      const { id } = await opened({ clientReferenceId: reference });
      await transaction(db, handle =>
        settlement({ handle, seals: SEALED, now: RECORD_TIME + 1 }).simulate({ id }, 'completed'),
      );

      expect([reference, await found(reference), await payments(reference)]).toEqual([reference, [id], [id]]);
    }
    const link = aLink(shop, { name: 'pl_7 of the catalogue' });
    await linkStore(db).insert(link);
    const sold = await opened({ paymentLinkId: link.id });
    expect(await found('PL_7 of')).toEqual([sold.id]);
  });

  test('finds a number as reference, product and price at once, each checkout once', async ({
    db,
    shop,
    opened,
    found,
    page,
  }) => {
    const link = aLink(shop, { name: 'Set of 25' });
    await linkStore(db).insert(link);
    const all = [
      await opened({ createdAt: RECORD_TIME - 3, clientReferenceId: '25' }),
      await opened({ createdAt: RECORD_TIME - 2, paymentLinkId: link.id, amount: 25_000_000n }),
      await opened({ createdAt: RECORD_TIME - 1, amount: 25_000_000n }),
      await opened({ createdAt: RECORD_TIME, paymentLinkId: link.id, clientReferenceId: '25' }),
    ].toReversed();
    await opened();

    const first = await page('25', {}, { limit: 3 });
    const second = await page('25', {}, { limit: 3, cursor: first.next ?? '' });

    expect(await found('25')).toEqual(all.map(({ id }) => id));
    expect([first.total, first.hasMore, second.total, second.hasMore, second.next]).toEqual([
      4,
      true,
      4,
      false,
      null,
    ]);
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  });

  test('finds a number that is no amount of a token with many decimal places', async ({ opened, found }) => {
    const reference = '9'.repeat(30);
    const { id } = await opened({ clientReferenceId: reference });

    expect(await found(reference)).toEqual([id]);
  });

  test('finds the checkout of a payment by hash, wallet and amount, and so does a search in payments', async ({
    db,
    opened,
    found,
    payments,
  }) => {
    const paid = await opened({
      amount: 4_000_000n,
      clientReferenceId: 'A-7',
      customerEmail: 'ada@b.example',
    });
    await db.raw('insert into chain_cursors (chain_id, block_number, scanned_at) values (?, 1, 1)', [
      chainId,
    ]);
    await transaction(db, handle =>
      settlement({ handle, seals: SEALED, now: RECORD_TIME + 1 }).simulate(paid, 'completed'),
    );
    const row = await sessionStore(db, SEALED).findById(paid.id);
    const hash = row?.txHash ?? '';

    const texts = [
      hash,
      hash.toUpperCase().replace('0X', '0x'),
      row?.payerAddress ?? '',
      'a-7',
      'ada@b.example',
    ];
    const amount = `${paid.amountDue / 1_000_000n}.${String(paid.amountDue % 1_000_000n).padStart(6, '0')}`;
    for (const text of [...texts, row?.transactionId ?? '', amount])
      expect([text, await found(text), await payments(text)]).toEqual([text, [paid.id], [paid.id]]);
    expect(await found(`0x${'12'.repeat(32)}`)).toEqual([]);
    expect(await payments(WALLET)).toEqual([]);
  });

  test('finds the checkouts of a wallet that signed, and of a deposit address', async ({
    db,
    opened,
    found,
  }) => {
    const signed = await opened();
    await transaction(db, handle =>
      sessionStore(handle, SEALED).bindWallet(signed.id, WALLET, RECORD_TIME + 1),
    );

    expect(await found(WALLET)).toEqual([signed.id]);
    expect(await found(signed.depositAddress ?? `0x${'cd'.repeat(20)}`)).toEqual([]);
  });

  test('is filtered by status, token, chain, days and refunds, and sorted by amount', async ({
    db,
    opened,
    found,
  }) => {
    const small = await opened({ amount: 999_000n, clientReferenceId: 'A' });
    const large = await opened({ amount: 10_000_000n, clientReferenceId: 'A', createdAt: RECORD_TIME - 9 });
    await db('checkout_sessions').where({ id: large.id }).update({ amount_refunded: '0510000' });

    expect(await found('a', {}, { sort: 'amount' })).toEqual([large.id, small.id]);
    expect(await found('a', {}, { sort: 'amount', order: 'asc' })).toEqual([small.id, large.id]);
    expect(await found('', {}, { order: 'asc' })).toEqual([large.id, small.id]);
    expect(await found('', { isRefunded: true })).toEqual([large.id]);
    expect(await found('a', { isRefunded: false })).toEqual([small.id]);
    expect(await found('', { isCandidate: true })).toEqual([]);
    expect(await found('a', { chainId, tokenAddress, to: RECORD_TIME })).toEqual([large.id]);
    expect(await found('a', { chainId: 1 })).toEqual([]);
    expect(await found('a', { status: 'completed' })).toEqual([]);
  });

  test('continues by cursor in every order, whatever is opened meanwhile', async ({ opened, page }) => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) {
      const { id } = await opened({
        createdAt: RECORD_TIME + (index >> 1),
        amount: BigInt(1_000_000 + (index % 2)),
      });
      ids.push(id);
    }
    const walked = async (order: Partial<SortedPageRequest>) => {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const { data, next } = await page('', { to: RECORD_TIME + 5 }, { ...order, limit: 2, cursor });
        seen.push(...data.map(({ id }) => id));
        cursor = next ?? undefined;
        await opened({ createdAt: RECORD_TIME + 9 });
      } while (cursor !== undefined);
      return seen;
    };

    for (const sort of ['created_at', 'amount'] as const) {
      const whole = await page('', { to: RECORD_TIME + 5 }, { sort });
      const newest = whole.data.map(({ id }) => id);
      expect(newest.toSorted()).toEqual(ids.toSorted());
      expect(await walked({ sort })).toEqual(newest);
      expect(await walked({ sort, order: 'asc' })).toEqual(newest.toReversed());
    }
  });

  test('reads an index for every kind of text, never all checkouts', async ({ db, shop, opened, page }) => {
    const link = aLink(shop, { name: 'Notebook' });
    await linkStore(db).insert(link);
    await opened({ customerEmail: 'ada@b.example' });
    const texts = [
      '25',
      'order',
      'note',
      WALLET,
      `0x${'12'.repeat(32)}`,
      'ada@b.example',
      link.id,
      newId('txn'),
      '',
    ];

    for (const text of texts) {
      const plans = await indexPlans(db, () => page(text));
      expect([text, plans]).toEqual([
        text,
        expect.not.stringMatching(/SCAN checkout_sessions(?! USING)|Seq Scan/),
      ]);
    }
    expect(await indexPlans(db, () => page('25'))).toMatch(
      /sessions_by_reference.*sessions_of_price.*sessions_of_exact_amount.*sessions_by_unusual_amount/s,
    );
    expect(await indexPlans(db, () => page('ada@b.example'))).toContain('sessions_of_customer');
    expect(await indexPlans(db, () => page(link.id))).toContain('sessions_of_link');
    expect(await indexPlans(db, () => page('', {}, { sort: 'amount' }))).toContain('sessions_of_price');
  });
});
