import { expect, test } from 'vitest';
import { uintColumn } from '#db/columns.ts';
import { migrate } from '#db/migrate.ts';
import { openDatabase } from '#db/open.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { select } from '#payments/tables/select.ts';
import { anOrganization } from '../../lab/payments-records.ts';
import { bothDatabases } from '../../support/databases.ts';

const [PAYER, OTHER] = ['0xa', '0xb'];
const COIN = 10n ** 18n;

bothDatabases('a database from before acceptances', databases => {
  test.for<[string, ...(readonly [sender: string, amount: bigint])[]]>([
    ['of small amounts', [PAYER, 7n], [OTHER, 5n]],
    ['whose last digits carry', [PAYER, 999_999_999_999_999n], [OTHER, 2n]],
    ['beyond 63 bits', [PAYER, 123_456n * COIN + 1n], [OTHER, 77n * COIN], [OTHER, 999_999_999_999_999_999n]],
    ['of one payer only', [PAYER, 3n * COIN], [PAYER, 4n]],
  ])('counts the payments %s', async ([, ...payments]) => {
    const old = openDatabase(await databases.create());
    const step = PAYMENTS_MIGRATIONS.findIndex(one => one.name === 'acceptance of sessions');
    await migrate(old, PAYMENTS_MIGRATIONS.slice(0, step));
    const shop = anOrganization();
    await organizationStore(old).insert(shop);
    const ofPayer = payments
      .filter(([sender]) => sender === PAYER)
      .reduce((sum, [, amount]) => sum + amount, 0n);
    const owner = `'${shop.id}', 'test'`;
    await old.raw(`insert into checkout_sessions (id, organization_id, mode, status, payment_status, chain_id,
      token_address, recipient_address, subtotal, amount, amount_due, is_wallet_only, amount_received, presentation,
      confirmations, required_confirmations, is_late, is_reorged, metadata, expires_at, created_at, updated_at,
      payer_address)
      values ('cs_1', ${owner}, 'completed', 'paid', 31337, '0xt', '0xr', '015', '015', '016', false,
        '${uintColumn(ofPayer)}', '{}', 0, 1, false, false, '{}', 1, 1, 1, '${PAYER}')`);
    const rows = [
      ...payments.map(one => [...one, 'completed'] as const),
      [OTHER, 900n, 'failed'] as const,
    ].map(
      ([sender, amount, status], index) =>
        `('txn_${index}', ${owner}, '${status}', 'cs_1', 31337, '0xt', '${uintColumn(amount)}', '${sender}', '0xr',
          '0x${index}', 1, 1, 1, 'assignment', false, false, false, 1)`,
    );
    await old.raw(`insert into transactions (id, organization_id, mode, status, session_id, chain_id, token_address, amount,
      sender, recipient, tx_hash, log_index, confirmations, required_confirmations, matched_by, is_late, is_duplicate,
      is_partial, created_at) values ${rows.join(', ')}`);

    await migrate(old, PAYMENTS_MIGRATIONS);

    const [session] = await select({
      from: 'checkout_sessions',
      columns: ['amount_received', 'accepted_at', 'accepted_amount'],
    }).rows(old, '');
    expect(session).toEqual({
      amount_received: uintColumn(payments.reduce((sum, [, amount]) => sum + amount, 0n)),
      accepted_at: null,
      accepted_amount: null,
    });
    await old.destroy();
  });
});
