import { expect, test } from 'vitest';
import { migrate } from '#db/migrate.ts';
import { openDatabase } from '#db/open.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { select } from '#payments/tables/select.ts';
import { anOrganization } from '../../lab/payments-records.ts';
import { bothDatabases } from '../../support/databases.ts';

const NOW = 8_640_000_000;

bothDatabases('a database from before overpaid amounts', databases => {
  test('knows the largest amount beyond each price', async () => {
    const old = openDatabase(await databases.create());
    const step = PAYMENTS_MIGRATIONS.findIndex(one => one.name === 'overpaid amounts');
    await migrate(old, PAYMENTS_MIGRATIONS.slice(0, step));
    const shop = anOrganization();
    await organizationStore(old).insert(shop);
    const session = (id: string, due: string) =>
      `('${id}', '${shop.id}', 'test', 'completed', 'paid', 31337, '0xt', '0xr', '015', '015', '${due}', false, '015',
        '{}', 1, 1, false, false, '{}', ${NOW}, ${NOW}, ${NOW})`;
    await old.raw(`insert into checkout_sessions (id, organization_id, mode, status, payment_status, chain_id,
      token_address, recipient_address, subtotal, amount, amount_due, is_wallet_only, amount_received, presentation,
      confirmations, required_confirmations, is_late, is_reorged, metadata, expires_at, created_at, updated_at)
      values ${session('cs_even', '015')}, ${session('cs_over', '016')}, ${session('cs_twice', '017')}`);
    const payment = (
      id: string,
      of: string,
      beyond: string | null,
      isDuplicate: boolean,
      status = 'completed',
    ) =>
      `('${id}', '${shop.id}', 'test', '${status}', '${of}', 31337, '0xt', '0212', '0xa', '0xr', '${id}', 1, 1, 1,
        'wallet', false, ${isDuplicate}, false, ${beyond === null ? 'null' : `'${beyond}'`}, ${NOW})`;
    await old.raw(`insert into transactions (id, organization_id, mode, status, session_id, chain_id, token_address, amount,
      sender, recipient, tx_hash, log_index, confirmations, required_confirmations, matched_by, is_late, is_duplicate,
      is_partial, overpaid_amount, created_at)
      values ${payment('txn_1', 'cs_even', null, false)}, ${payment('txn_2', 'cs_over', '013', false)},
        ${payment('txn_3', 'cs_twice', '013', false)}, ${payment('txn_4', 'cs_twice', null, true)},
        ${payment('txn_5', 'cs_even', null, true, 'failed')}`);

    await migrate(old, PAYMENTS_MIGRATIONS);

    const sessions = select({ from: 'checkout_sessions', columns: ['id', 'amount_overpaid'] });
    const rows = await sessions.rows(old, 'order by id');
    expect(rows.map(row => [row.id, row.amount_overpaid])).toEqual([
      ['cs_even', '010'],
      ['cs_over', '013'],
      ['cs_twice', '0212'],
    ]);
    await old.destroy();
  });
});
