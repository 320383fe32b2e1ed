import { expect } from 'vitest';
import { apiKeyStore } from '#payments/keys/api-key-store.ts';
import { watchedPayments } from '#payments/store/watched-payments.ts';
import { subscriptions } from '#payments/webhooks/store/subscriptions.ts';
import { onSqlite as test } from '../../support/each-payments-database.ts';
import { plansOf } from '../../support/query-plans.ts';
import { anEvent } from '../../support/webhook-records.ts';

// SQLite reads joined tables in the order in which they are written, whatever they contain.

test('claims of senders are found among the open payments of the chain, and then their sessions', async ({
  db,
}) => {
  expect(await plansOf(db, () => watchedPayments(db).replaceable(1, ['0xa', '0xb']))).toEqual([
    'SEARCH t USING INDEX transactions_open (chain_id=? AND status=?)',
    'SEARCH s USING INDEX sqlite_autoindex_checkout_sessions_1 (id=?)',
    'USE TEMP B-TREE FOR ORDER BY',
  ]);
});

test('claims are found by id, and then their sessions', async ({ db }) => {
  expect(await plansOf(db, () => watchedPayments(db).claimed(['tx_a', 'tx_b']))).toEqual([
    'SEARCH t USING INDEX sqlite_autoindex_transactions_1 (id=?)',
    'SEARCH s USING INDEX sqlite_autoindex_checkout_sessions_1 (id=?)',
  ]);
});

test('subscriptions are found through the webhooks of the owners', async ({ db, owner, stranger }) => {
  const events = [anEvent(owner), anEvent(stranger)];

  expect(await plansOf(db, () => subscriptions(db).ofEvents(events))).toEqual([
    'SEARCH w USING INDEX webhooks_by_age (organization_id=? AND mode=?)',
    'LIST SUBQUERY 4',
    'SCAN 2-ROW VALUES CLAUSE',
    'SEARCH s USING INDEX webhook_subscriptions_of (webhook_id=? AND since<?)',
    'USE TEMP B-TREE FOR ORDER BY',
  ]);
});

test('the holder of a key is found through the key', async ({ db }) => {
  expect(await plansOf(db, () => apiKeyStore(db).findBySecret('key_a'))).toEqual([
    'MATERIALIZE k',
    'SEARCH api_keys USING INDEX sqlite_autoindex_api_keys_2 (key_hash=?)',
    'SCAN k',
    'SEARCH o USING INDEX sqlite_autoindex_organizations_1 (id=?)',
    'SEARCH s USING INDEX sqlite_autoindex_organization_settings_1 (organization_id=? AND mode=?) LEFT-JOIN',
  ]);
});
