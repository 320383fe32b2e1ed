import fc from 'fast-check';
import { expect, test } from 'vitest';
import { uintColumn } from '#db/columns.ts';
import type { Db } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { newId } from '#lib/ids.ts';
import type { PaymentLink } from '#payments/model/payment-link.ts';
import { type LinkList, linkStore } from '#payments/store/link-store.ts';
import type { SessionRow } from '#payments/tables/session-tables.ts';
import { aLink, RECORD_TIME, SIZE_FIELD } from '../../lab/payments-records.ts';
import { bothDatabases } from '../../support/databases.ts';
import { givenDatabase } from '../../support/given-database.ts';

const MAX_UINT256 = 2n ** 256n - 1n;
const NEWEST: LinkList = { sort: 'created_at', order: 'desc' };
const ALL = { page: 1, limit: 100 };

bothDatabases('the payment links', databases => {
  const given = givenDatabase(databases, { isShared: true });

  const inserted = async (...links: PaymentLink[]) => {
    for (const link of links) await linkStore(given.db).insert(link);
    return links;
  };
  const furnished = (): Partial<PaymentLink> => ({
    description: 'Two notebooks,\n120 pages é',
    isActive: false,
    amount: MAX_UINT256,
    minAmount: 0n,
    maxAmount: 10n ** 18n,
    suggestedAmount: 1n,
    chainId: Number.MAX_SAFE_INTEGER,
    imageUrl: 'https://books.example/a.png',
    themeColor: '#0052ff',
    buttonText: 'Pay now',
    returnUrl: 'https://books.example/thanks',
    returnLabel: 'Back',
    branding: { business_name: 'Corner Books', logo_url: null },
    formSchema: {
      fields: [SIZE_FIELD],
    },
    shippingOptions: [{ id: 'express', name: 'Express', amount: '5', estimated_days: null }],
    collectShippingAddress: true,
    items: [
      {
        id: 'pli_7bNe3KyHq6SvR1uCgO5jMx2D',
        name: 'Notebook',
        description: null,
        image_url: null,
        amount: String(MAX_UINT256),
        quantity: 2,
      },
    ],
    maxUses: 1_000_000_000,
    currentUses: 3,
    expiresAt: RECORD_TIME + 5,
    metadata: { zebra: '1', apple: '"2"', '': '' },
    updatedAt: RECORD_TIME + 1,
  });

  test('are found unchanged, by id and by short code', async () => {
    const [plain, rich] = [aLink(given.owner), aLink(given.owner, furnished())];
    await inserted(plain, rich);
    const store = linkStore(given.db);

    expect(await store.find(given.owner, plain.id)).toEqual(plain);
    expect(await store.find(given.owner, rich.id)).toEqual(rich);
    expect(await store.findByShortCode(rich.shortCode)).toEqual(rich);
    expect(await store.findByShortCode(rich.shortCode.slice(1))).toBeUndefined();
    const metadata = (await store.find(given.owner, rich.id))?.metadata;
    expect(Object.keys(metadata ?? {})).toEqual(['zebra', 'apple', '']);
  });

  test('of another organization or of the other mode are treated as missing', async () => {
    const link = aLink(given.owner, { name: 'Ours' });
    await inserted(link);
    const store = linkStore(given.db);

    for (const caller of [await given.newOwner(), { ...given.owner, mode: 'test' as const }]) {
      expect(await store.find(caller, link.id)).toBeUndefined();
      expect(await store.list(caller, NEWEST, ALL)).toEqual({ data: [], total: 0, hasMore: false });
      expect(await store.remove(caller, link.id)).toBe(false);
      expect(await store.update({ ...link, ...caller, name: 'Theirs' })).toBe(false);
    }
    expect(await store.find(given.owner, link.id)).toEqual(link);
  });

  test('change in every field except id, owner, creation time and uses', async () => {
    const [link, bystander] = [aLink(given.owner, { currentUses: 1 }), aLink(given.owner)];
    await inserted(link, bystander);
    const store = linkStore(given.db);
    const changed = { ...link, ...furnished(), shortCode: 'another-1', name: 'Changed' };

    expect(await store.update({ ...changed, currentUses: 77, createdAt: 1 })).toBe(true);

    expect(await store.find(given.owner, link.id)).toEqual({ ...changed, currentUses: 1 });
    expect(await store.find(given.owner, bystander.id)).toEqual(bystander);
  });

  test('are removed once, and their short codes stay taken', async () => {
    const [link, successor] = [aLink(given.owner, { shortCode: 'summer' }), aLink(given.owner)];
    const store = linkStore(given.db);
    expect(await store.reserveShortCode('summer', link.id)).toBe(true);
    await store.insert(link);

    expect(await store.remove(given.owner, link.id)).toBe(true);

    expect(await store.remove(given.owner, link.id)).toBe(false);
    expect(await store.find(given.owner, link.id)).toBeUndefined();
    expect(await store.findByShortCode('summer')).toBeUndefined();
    expect(await store.reserveShortCode('summer', successor.id)).toBe(false);
    expect(await store.reserveShortCode('summer', link.id)).toBe(true);
    expect(await store.reserveShortCode('Summer', successor.id)).toBe(true);
  });

  test('that reserve one short code at once: one gets it, and the other transactions continue', async () => {
    const reserve = (on: Db, linkId: string) =>
      transaction(on, async handle => {
        const store = linkStore(handle);
        const own = await store.reserveShortCode('wanted', linkId);
        if (!own) expect(await store.reserveShortCode(`instead-${linkId}`, linkId)).toBe(true);
        return own;
      });

    const won = await Promise.all(
      Array.from({ length: 12 }, (_, i) => reserve(i % 2 === 0 ? given.db : given.other, `pl_${i}`)),
    );

    expect(won.filter(Boolean)).toHaveLength(1);
  });

  test('know if they have sessions, and their removal clears the link of those sessions', async () => {
    const [used, unused] = [aLink(given.owner), aLink(given.owner)];
    await inserted(used, unused);
    const store = linkStore(given.db);
    await given.db('checkout_sessions').insert(sessionValues(used));

    expect(await store.hasSessions(used.id)).toBe(true);
    expect(await store.hasSessions(unused.id)).toBe(false);

    expect(await store.remove(given.owner, used.id)).toBe(true);
    expect(await rowsOf(given.db, 'select payment_link_id from checkout_sessions')).toEqual([
      { payment_link_id: null },
    ]);
  });

  test('count uses up to their limit or without one, and not after their removal', async () => {
    const [limited, endless] = [aLink(given.owner, { maxUses: 2, currentUses: 1 }), aLink(given.owner)];
    await inserted(limited, endless);
    const store = linkStore(given.db);

    expect(await store.countUse(limited.id, RECORD_TIME + 9)).toBe(true);
    expect(await store.countUse(limited.id, RECORD_TIME + 10)).toBe(false);
    expect(await store.countUse(endless.id, RECORD_TIME + 11)).toBe(true);
    expect(await store.countUse('pl_missing', RECORD_TIME)).toBe(false);

    const used = { currentUses: 2, updatedAt: RECORD_TIME + 9 };
    expect(await store.find(given.owner, limited.id)).toEqual({ ...limited, ...used });
    expect((await store.find(given.owner, endless.id))?.currentUses).toBe(1);
  });

  test('never count more uses than allowed, even with concurrent checkouts', async () => {
    const limits = fc.record({
      maxUses: fc.integer({ min: 1, max: 8 }),
      checkouts: fc.integer({ min: 1, max: 14 }),
    });
    await fc.assert(
      fc.asyncProperty(limits, async ({ maxUses, checkouts }) => {
        const link = aLink(given.owner, { maxUses });
        await inserted(link);
        const complete = (on: Db) =>
          transaction(on, async handle => {
            // Like settlement, which reads the link before it counts a use.
            await linkStore(handle).find(given.owner, link.id);
            return linkStore(handle).countUse(link.id, RECORD_TIME);
          });

        const counted = await Promise.all(
          Array.from({ length: checkouts }, (_, i) => complete(i % 2 === 0 ? given.db : given.other)),
        );

        const expected = Math.min(maxUses, checkouts);
        expect(counted.filter(Boolean)).toHaveLength(expected);
        expect((await linkStore(given.db).find(given.owner, link.id))?.currentUses).toBe(expected);
      }),
      { numRuns: 8 },
    );
  });

  test('belong to an existing organization', async () => {
    const link = aLink({ organizationId: 'org_missing', mode: 'live' });

    await expect(linkStore(given.db).insert(link)).rejects.toThrow(/foreign key/i);
  });
});

/** An active session of a link, by column. */
function sessionValues(link: PaymentLink) {
  const price = uintColumn(link.amount ?? 1n);
  return {
    id: newId('cs'),
    organization_id: link.organizationId,
    mode: link.mode,
    payment_link_id: link.id,
    status: 'active',
    payment_status: 'awaiting_payment',
    chain_id: link.chainId,
    token_address: link.tokenAddress,
    recipient_address: link.recipientAddress,
    subtotal: price,
    amount: price,
    amount_due: price,
    is_wallet_only: false,
    amount_received: uintColumn(0n),
    presentation: '{}',
    confirmations: 0,
    required_confirmations: 1,
    is_late: false,
    is_reorged: false,
    metadata: '{}',
    expires_at: RECORD_TIME + 1,
    created_at: RECORD_TIME,
    updated_at: RECORD_TIME,
  } satisfies Partial<SessionRow>;
}
