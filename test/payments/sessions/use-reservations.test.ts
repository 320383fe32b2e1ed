import fc from 'fast-check';
import { expect, test } from 'vitest';
import { migrate } from '#db/migrate.ts';
import { openDatabase } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { holdsUse } from '#payments/model/session.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { reserveUse } from '#payments/sessions/use-reservations.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { select } from '#payments/tables/select.ts';
import { aLink, anOrganization, RECORD_TIME } from '../../lab/payments-records.ts';
import { aSession, aTransfer } from '../../lab/payments-sessions.ts';
import { bothDatabases } from '../../support/databases.ts';
import { givenDatabase } from '../../support/given-database.ts';

const SEALED = seals(['a secret that only this test knows, and long']);
const NOW = RECORD_TIME + 1_000;
const walletOf = (index: number) => `0x${String(index).padStart(40, 'a')}`;

bothDatabases('reserved uses', databases => {
  const given = givenDatabase(databases, { isShared: true });

  test('are never more than are left, however many wallets sign and pay at once', async () => {
    const numbers = fc.record({
      maxUses: fc.integer({ min: 1, max: 4 }),
      signing: fc.integer({ min: 1, max: 6 }),
      paying: fc.integer({ min: 0, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(numbers, async ({ maxUses, signing, paying }) => {
        const link = aLink(given.owner, { maxUses, reserveUses: true });
        await linkStore(given.db).insert(link);
        const opened = (changes: object) =>
          transaction(given.db, handle =>
            sessionStore(handle, SEALED).open(aSession(given.owner, { paymentLinkId: link.id, ...changes })),
          );
        const signed = await Promise.all(
          Array.from({ length: signing }, (_, index) => opened({ signedAddress: walletOf(index) })),
        );
        const unsigned = await Promise.all(Array.from({ length: paying }, () => opened({})));
        const ofEach = (index: number) => (index % 2 === 0 ? given.db : given.other);
        const pay = (id: string, index: number) =>
          transaction(ofEach(index), async handle => {
            const settle = settlement({ handle, seals: SEALED, now: NOW });
            const amount = (await sessionStore(handle, SEALED).findById(id))?.amountDue ?? 0n;
            const transfer = aTransfer({ amount });
            const seen = await settle.recordTransfer({ id }, transfer, {
              matchedBy: 'amount',
              confirmations: 3,
            });
            await settle.complete(seen.id);
          });

        await Promise.all([
          ...signed.map((session, index) =>
            transaction(ofEach(index), handle => reserveUse(handle, session, NOW)),
          ),
          ...unsigned.map(({ id }, index) => pay(id, index)),
        ]);
        const stored = await sessionStore(given.db, SEALED).findMany(
          [...signed, ...unsigned].map(one => one.id),
        );
        const all = [...stored.values()];
        const held = all.filter(one => holdsUse(one, NOW));
        const completed = all.filter(one => one.status === 'completed');
        expect(held.length + completed.length).toBe(Math.min(maxUses, signing + paying));

        await Promise.all(held.map(({ id }, index) => pay(id, index)));
        const paid = await sessionStore(given.db, SEALED).findMany(held.map(one => one.id));
        expect([...paid.values()].every(one => one.status === 'completed')).toBe(true);
        const { currentUses } = (await linkStore(given.db).find(given.owner, link.id)) ?? {};
        expect(currentUses).toBe(held.length + completed.length);
      }),
      { numRuns: 6 },
    );
  });

  test('are none in a database from before them', async () => {
    const old = openDatabase(await databases.create());
    const step = PAYMENTS_MIGRATIONS.findIndex(one => one.name === 'reserved uses');
    await migrate(old, PAYMENTS_MIGRATIONS.slice(0, step));
    await organizationStore(old).insert(anOrganization({ id: 'org_1' }));
    await old.raw(`insert into payment_links (id, organization_id, mode, short_code, name, is_active, chain_id,
      token_address, recipient_address, button_text, shipping_options, collect_shipping_address, items, max_uses,
      current_uses, metadata, created_at, updated_at, search_text)
      values ('pl_1', 'org_1', 'test', 'one', 'One', true, 31337, '0xt', '0xr', 'Pay', '[]', false, '[]', 2, 2,
        '{}', ${NOW}, ${NOW}, 'ONE')`);
    await old.raw(`insert into checkout_sessions (id, organization_id, mode, payment_link_id, status, payment_status,
      chain_id, token_address, recipient_address, subtotal, amount, amount_due, is_wallet_only, amount_received,
      presentation, confirmations, required_confirmations, is_late, is_reorged, metadata, expires_at, created_at, updated_at)
      values ('cs_1', 'org_1', 'test', 'pl_1', 'active', 'awaiting_payment', 31337, '0xt', '0xr', '015', '015', '016',
        false, '010', '{}', 0, 1, false, false, '{}', ${NOW}, ${NOW}, ${NOW})`);

    await migrate(old, PAYMENTS_MIGRATIONS);

    const link = await linkStore(old).find({ organizationId: 'org_1', mode: 'test' }, 'pl_1');
    expect(link).toMatchObject({ reserveUses: false, maxUses: 2 });
    const columns = ['use_reserved_until'] as const;
    expect(await select({ from: 'checkout_sessions', columns }).rows(old)).toEqual([
      { use_reserved_until: null },
    ]);
    await old.destroy();
  });
});
