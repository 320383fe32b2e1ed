import { expect, test } from 'vitest';
import { migrate } from '#db/migrate.ts';
import { openDatabase } from '#db/open.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { organizationSettingsStore, organizationStore } from '#payments/store/organization-store.ts';
import { anOrganization } from '../../lab/payments-records.ts';
import { bothDatabases } from '../../support/databases.ts';

bothDatabases('a database from before tolerances', databases => {
  test('has none for its sessions, links and organizations', async () => {
    const old = openDatabase(await databases.create());
    const step = PAYMENTS_MIGRATIONS.findIndex(one => one.name === 'payment tolerance');
    await migrate(old, PAYMENTS_MIGRATIONS.slice(0, step));
    const shop = anOrganization();
    const owner = { organizationId: shop.id, mode: 'test' } as const;
    await organizationStore(old).insert(shop);
    await old.raw(`insert into organization_settings (organization_id, mode, recipients_locked, origins, updated_at)
      values ('${shop.id}', 'test', false, '[]', 1)`);
    await old.raw(`insert into payment_links (id, organization_id, mode, short_code, name, is_active, amount, chain_id,
      token_address, recipient_address, button_text, shipping_options, collect_shipping_address, items, current_uses,
      metadata, created_at, updated_at, search_text)
      values ('pl_1', '${shop.id}', 'test', 'code', 'Tea', true, '015', 31337, '0xt', '0xr', 'Pay', '[]', false, '[]', 0,
        '{}', 1, 1, 'TEA')`);
    await old.raw(`insert into checkout_sessions (id, organization_id, mode, status, payment_status, chain_id,
      token_address, recipient_address, subtotal, amount, amount_due, is_wallet_only, amount_received, presentation,
      confirmations, required_confirmations, is_late, is_reorged, metadata, expires_at, created_at, updated_at)
      values ('cs_1', '${shop.id}', 'test', 'active', 'awaiting_payment', 31337, '0xt', '0xr', '015', '015', '016', false,
        '010', '{}', 0, 1, false, false, '{}', 1, 1, 1)`);

    await migrate(old, PAYMENTS_MIGRATIONS);

    const sessions = sessionStore(old, seals(['a secret that only this test knows, and long']));
    expect(await sessions.find(owner, 'cs_1')).toMatchObject({ toleranceBps: 0 });
    expect(await linkStore(old).find(owner, 'pl_1')).toMatchObject({ toleranceBps: null });
    expect(await organizationSettingsStore(old).find(owner)).toMatchObject({ toleranceBps: 0 });
    expect(await organizationStore(old).profile(owner)).toMatchObject({ toleranceBps: 0 });
    await old.destroy();
  });
});
