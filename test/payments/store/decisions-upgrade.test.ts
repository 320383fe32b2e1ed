import { expect, test } from 'vitest';
import { booleanOf, uintColumn } from '#db/columns.ts';
import { migrate } from '#db/migrate.ts';
import { type Db, openDatabase } from '#db/open.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { select } from '#payments/tables/select.ts';
import { anOrganization } from '../../lab/payments-records.ts';
import { bothDatabases } from '../../support/databases.ts';

const NOW = 1_700_000_000_000;
const COIN = 10n ** 18n;

bothDatabases('a database', databases => {
  /** A database as it was before a step, with an organization. */
  async function before(name: string): Promise<{ old: Db; owner: string }> {
    const old = openDatabase(await databases.create());
    const step = PAYMENTS_MIGRATIONS.findIndex(one => one.name === name);
    await migrate(old, PAYMENTS_MIGRATIONS.slice(0, step));
    const shop = anOrganization();
    await organizationStore(old).insert(shop);
    return { old, owner: `'${shop.id}', 'test'` };
  }

  async function insertSession(old: Db, owner: string, id: string): Promise<void> {
    await old.raw(`insert into checkout_sessions (id, organization_id, mode, status, payment_status, chain_id,
      token_address, recipient_address, subtotal, amount, amount_due, is_wallet_only, amount_received, presentation,
      confirmations, required_confirmations, is_late, is_reorged, metadata, expires_at, created_at, updated_at)
      values ('${id}', ${owner}, 'active', 'underpaid', 31337, '0xt', '0xr', '015', '015', '016', true, '013', '{}', 0, 1,
        false, false, '{}', ${NOW}, ${NOW}, ${NOW})`);
  }

  async function insertPayment(old: Db, owner: string, id: string, matchedBy: string): Promise<void> {
    await old.raw(`insert into transactions (id, organization_id, mode, status, session_id, chain_id, token_address, amount,
      sender, recipient, tx_hash, log_index, confirmations, required_confirmations, matched_by, is_late, is_duplicate,
      is_partial, created_at)
      values ('${id}', ${owner}, 'completed', 'cs_1', 31337, '0xt', '015', '0xa', '0xr', '0x${id}', 1, 1, 1,
        '${matchedBy}', false, false, false, ${NOW})`);
  }

  async function insertTransfer(old: Db, owner: string, id: string, payment: string | null): Promise<void> {
    const assigned = payment === null ? 'null, null, null' : `'cs_1', '${payment}', ${NOW + 7}`;
    await old.raw(`insert into unmatched_transfers (id, organization_id, mode, chain_id, tx_hash, log_index, block_number,
      block_hash, block_time, token_address, sender, recipient, amount, confirmed_at, session_id, transaction_id,
      assigned_at, created_at)
      values ('${id}', ${owner}, 31337, '0x${id}', 1, 1, '0xb', ${NOW}, '0xt', '0xa', '0xr', '${uintColumn(3n * COIN)}',
        ${NOW}, ${assigned}, ${NOW})`);
  }

  test('from before decisions about payments gets the times of its assignments', async () => {
    const { old, owner } = await before('decisions about payments');
    await insertSession(old, owner, 'cs_1');
    await insertPayment(old, owner, 'txn_1', 'assignment');
    await insertPayment(old, owner, 'txn_2', 'wallet');
    await insertTransfer(old, owner, 'utr_1', 'txn_1');
    await insertTransfer(old, owner, 'utr_2', null);

    await migrate(old, PAYMENTS_MIGRATIONS);

    const payments = await select({
      from: 'transactions',
      columns: ['id', 'assigned_at', 'assigned_by', 'moved_from'],
    }).rows(old, 'order by id');
    expect(payments).toEqual([
      { id: 'txn_1', assigned_at: NOW + 7, assigned_by: null, moved_from: null },
      { id: 'txn_2', assigned_at: null, assigned_by: null, moved_from: null },
    ]);
    const transfers = await select({
      from: 'unmatched_transfers',
      columns: ['id', 'assigned_at', 'dismissed_at', 'amount_refunded'],
    }).rows(old, 'order by id');
    expect(transfers).toEqual([
      { id: 'utr_1', assigned_at: NOW + 7, dismissed_at: null, amount_refunded: '010' },
      { id: 'utr_2', assigned_at: null, dismissed_at: null, amount_refunded: '010' },
    ]);
    await old.destroy();
  });

  test('from before the moves of payments knows the last move of each payment', async () => {
    const { old, owner } = await before('moves of payments');
    await insertSession(old, owner, 'cs_1');
    await insertPayment(old, owner, 'txn_1', 'assignment');
    await insertPayment(old, owner, 'txn_2', 'assignment');
    await old.raw(`update transactions set moved_from = 'cs_0', assigned_at = ${NOW + 9}, assigned_by = 'api_key:ak_1',
      assigned_reason = 'By mail' where id = 'txn_2'`);

    await migrate(old, PAYMENTS_MIGRATIONS);

    expect(await select({ from: 'payment_moves', columns: ['*'] }).rows(old)).toEqual([
      {
        transaction_id: 'txn_2',
        session_id: 'cs_0',
        since: 0,
        moved_at: NOW + 9,
        moved_by: 'api_key:ak_1',
        moved_reason: 'By mail',
      },
    ]);
    await old.destroy();
  });

  test('from before proofs of payments has payments that were not checked', async () => {
    const { old, owner } = await before('proven payments');
    await insertSession(old, owner, 'cs_1');
    await insertPayment(old, owner, 'txn_1', 'wallet');

    await migrate(old, PAYMENTS_MIGRATIONS);

    const payments = await select({ from: 'transactions', columns: ['id', 'proven'] }).rows(old);
    expect(payments).toEqual([{ id: 'txn_1', proven: null }]);
    await old.destroy();
  });

  test('from before the sums of refunds gets those of its sessions and unmatched transfers', async () => {
    const { old, owner } = await before('sums of refunds');
    await insertSession(old, owner, 'cs_1');
    await insertSession(old, owner, 'cs_2');
    await insertTransfer(old, owner, 'utr_1', null);
    await insertTransfer(old, owner, 'utr_2', null);
    const refunds = [
      ['requires_action', "'cs_1', null", 5n * COIN + 999_999_999_999_999n],
      ['completed', "'cs_1', null", 2n],
      ['cancelled', "'cs_1', null", 7n],
      ['completed', "null, 'utr_1'", COIN],
      ['completed', "null, 'utr_1'", 2n * COIN],
      ['pending', "null, 'utr_2'", COIN],
    ] as const;
    for (const [index, [status, of, amount]] of refunds.entries()) {
      await old.raw(`insert into refunds (id, organization_id, mode, status, session_id, unmatched_transfer_id, chain_id,
        token_address, amount, recipient, destination, destination_source, confirmations, required_confirmations,
        created_by, expires_at, created_at, updated_at)
        values ('re_${index}', ${owner}, '${status}', ${of}, 31337, '0xt', '${uintColumn(amount)}', '0xr', '0xd', 'merchant',
          0, 1, 'api_key:ak_1', ${NOW}, ${NOW}, ${NOW})`);
    }

    await migrate(old, PAYMENTS_MIGRATIONS);

    const sessions = await select({ from: 'checkout_sessions', columns: ['id', 'amount_reserved'] }).rows(
      old,
      'order by id',
    );
    expect(sessions.map(row => row.amount_reserved)).toEqual([
      uintColumn(5n * COIN + 1_000_000_000_000_001n),
      '010',
    ]);
    const transfers = await select({ from: 'unmatched_transfers', columns: ['amount_refunded'] }).rows(
      old,
      'order by id',
    );
    expect(transfers.map(row => row.amount_refunded)).toEqual([uintColumn(3n * COIN), '010']);
    await old.destroy();
  });

  test('from before refunds, candidates and mails about money reports such money, and mails no payer', async () => {
    const { old, owner } = await before('refunds');
    await insertSession(old, owner, 'cs_1');
    await insertTransfer(old, owner, 'utr_1', null);
    await old.raw(`insert into notification_settings (organization_id, mode, email_enabled, messenger_enabled,
      enabled_events, updated_at) values (${owner}, true, false, '[]', ${NOW})`);

    await migrate(old, PAYMENTS_MIGRATIONS);

    const [settings] = await select({
      from: 'notification_settings',
      columns: ['attention', 'customer_emails'],
    }).rows(old);
    expect([booleanOf(settings?.attention), booleanOf(settings?.customer_emails)]).toEqual([true, false]);
    const [session] = await select({
      from: 'checkout_sessions',
      columns: ['amount_refunded', 'amount_reserved', 'amount_overpaid'],
    }).rows(old);
    expect(session).toEqual({ amount_refunded: '010', amount_reserved: '010', amount_overpaid: '010' });
    expect(await select({ from: 'transfer_candidates', columns: ['*'] }).rows(old)).toEqual([]);
    await old.raw(`insert into transfer_candidates (transfer_id, session_id, match_rank, is_only)
      values ('utr_1', 'cs_1', 1, true)`);
    await old.raw("delete from unmatched_transfers where id = 'utr_1'");
    expect(await select({ from: 'transfer_candidates', columns: ['*'] }).rows(old)).toEqual([]);
    await old.destroy();
  });
});
