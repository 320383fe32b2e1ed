import { expect, test } from 'vitest';
import { migrate } from '#db/migrate.ts';
import { openDatabase } from '#db/open.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { select } from '#payments/tables/select.ts';
import { anOrganization } from '../../lab/payments-records.ts';
import { bothDatabases } from '../../support/databases.ts';

const NOW = 1_700_000_000_000;

bothDatabases('a database from before reasons of ended sessions', databases => {
  test('gets the reasons that are known, and the uses of dropped payments', async () => {
    const old = openDatabase(await databases.create());
    const step = PAYMENTS_MIGRATIONS.findIndex(one => one.name === 'reasons of ended sessions');
    await migrate(old, PAYMENTS_MIGRATIONS.slice(0, step));
    const { id: organization } = anOrganization();
    await organizationStore(old).insert({ ...anOrganization(), id: organization });
    await old.raw(`insert into payment_links (id, organization_id, mode, short_code, name, is_active, chain_id,
      token_address, recipient_address, button_text, shipping_options, collect_shipping_address, items, max_uses,
      current_uses, metadata, created_at, updated_at, search_text)
      values ('pl_1', '${organization}', 'test', 'one', 'One', true, 31337, '0xt', '0xr', 'Pay', '[]', false, '[]', 2, 2,
        '{}', ${NOW}, ${NOW}, 'ONE')`);
    const session = (id: string, status: string, isReorged: boolean, endedAt: number | null) =>
      `('${id}', '${organization}', 'test', 'pl_1', '${status}', 'awaiting_payment', 31337, '0xt', '0xr', '015', '015', '016',
        true, '010', '{}', 0, 1, false, ${isReorged}, '{}', ${NOW}, ${NOW}, ${NOW}, ${endedAt})`;
    await old.raw(`insert into checkout_sessions (id, organization_id, mode, payment_link_id, status, payment_status,
      chain_id, token_address, recipient_address, subtotal, amount, amount_due, is_wallet_only, amount_received,
      presentation, confirmations, required_confirmations, is_late, is_reorged, metadata, expires_at, created_at,
      updated_at, ended_at)
      values ${session('cs_1', 'expired', false, NOW + 5)}, ${session('cs_2', 'expired', false, NOW - 5)},
        ${session('cs_3', 'completed', false, NOW)}, ${session('cs_4', 'completed', true, NOW)},
        ${session('cs_5', 'active', false, null)}`);

    await migrate(old, PAYMENTS_MIGRATIONS);

    const rows = await select({ from: 'checkout_sessions', columns: ['ended_reason'] }).rows(
      old,
      'order by id',
    );
    expect(rows.map(row => row.ended_reason)).toEqual(['time', 'merchant', null, null, null]);
    const links = await select({ from: 'payment_links', columns: ['current_uses', 'max_uses'] }).rows(old);
    expect(links).toEqual([{ current_uses: 1, max_uses: 2 }]);
    await old.destroy();
  });
});
