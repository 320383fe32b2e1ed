import { expect, test } from 'vitest';
import { migrate } from '#db/migrate.ts';
import { openDatabase } from '#db/open.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { select } from '#payments/tables/select.ts';
import { anOrganization } from '../../lab/payments-records.ts';
import { bothDatabases } from '../../support/databases.ts';

const DAY_MS = 86_400_000;
const NOW = 100 * DAY_MS;

bothDatabases('a database from before signed wallets', databases => {
  test('keeps the wallets that signed, and forgets those that only paid an exact amount', async () => {
    const old = openDatabase(await databases.create());
    const step = PAYMENTS_MIGRATIONS.findIndex(one => one.name === 'signed wallets');
    await migrate(old, PAYMENTS_MIGRATIONS.slice(0, step));
    const shop = anOrganization();
    await organizationStore(old).insert(shop);
    const organization = shop.id;
    const session = (id: string, due: string, payer: string | null, endedAt: number | null) =>
      `('${id}', '${organization}', 'test', '${endedAt === null ? 'active' : 'expired'}', 'awaiting_payment', 31337, '0xt',
        '0xr', '015', '015', '${due}', false, '010', '{}', 0, 1, false, false, '{}', ${NOW}, ${NOW}, ${NOW},
        ${payer === null ? 'null' : `'${payer}'`}, ${endedAt})`;
    await old.raw(`insert into checkout_sessions (id, organization_id, mode, status, payment_status, chain_id,
      token_address, recipient_address, subtotal, amount, amount_due, is_wallet_only, amount_received, presentation,
      confirmations, required_confirmations, is_late, is_reorged, metadata, expires_at, created_at, updated_at,
      payer_address, ended_at)
      values ${session('cs_exact', '016', '0xa', null)}, ${session('cs_none', '017', null, null)},
        ${session('cs_old', '018', '0xc', NOW - 3 * DAY_MS)}, ${session('cs_paid', '019', '0xd', NOW - DAY_MS)},
        ${session('cs_signed', '0220', '0xe', null)}`);
    const payment = (id: string, of: string, sender: string, matchedBy: string) =>
      `('${id}', '${organization}', 'test', 'completed', '${of}', 31337, '0xt', '015', '${sender}', '0xr', '${id}', 1, 1, 1,
        '${matchedBy}', false, false, false, ${NOW})`;
    await old.raw(`insert into transactions (id, organization_id, mode, status, session_id, chain_id, token_address, amount,
      sender, recipient, tx_hash, log_index, confirmations, required_confirmations, matched_by, is_late, is_duplicate,
      is_partial, created_at)
      values ${payment('txn_1', 'cs_exact', '0xa', 'amount')}, ${payment('txn_2', 'cs_paid', '0xd', 'wallet')}`);

    await migrate(old, PAYMENTS_MIGRATIONS);

    const rows = await select({ from: 'checkout_sessions', columns: ['id', 'signed_address'] }).rows(
      old,
      'order by id',
    );
    expect(rows.map(row => [row.id, row.signed_address])).toEqual([
      ['cs_exact', null],
      ['cs_none', null],
      ['cs_old', null],
      ['cs_paid', '0xd'],
      ['cs_signed', '0xe'],
    ]);
    await old.destroy();
  });
});
