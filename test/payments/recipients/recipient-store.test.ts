import { afterEach, beforeEach, expect, test } from 'vitest';
import { runKeysCommand } from '#command/keys/keys.ts';
import { migrate } from '#db/migrate.ts';
import { type Db, openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import type { Owner } from '#payments/model/owner.ts';
import { recipientOwnership } from '#payments/recipients/recipient-ownership.ts';
import { recipientStore } from '#payments/recipients/recipient-store.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { anOrganization, RECORD_TIME } from '../../lab/payments-records.ts';
import { aSession } from '../../lab/payments-sessions.ts';
import { bothDatabases } from '../../support/databases.ts';

const AT = { chainId: 31_337, address: `0x${'5e'.repeat(20)}` };
const sealed = seals(['a secret that seals nothing but what tests keep']);

bothDatabases('the recipients', databases => {
  let db: Db;
  beforeEach(async () => {
    db = openDatabase(await databases.create('payments'));
  });
  afterEach(() => db.destroy());

  async function anOwner(): Promise<Owner> {
    const organization = anOrganization();
    await organizationStore(db).insert(organization);
    return { organizationId: organization.id, mode: 'test' };
  }
  const name = (owner: Owner) =>
    transaction(db, handle => recipientStore(handle).name(owner, AT, RECORD_TIME));
  const open = (owner: Owner) =>
    transaction(db, handle =>
      sessionStore(handle, sealed).open(aSession(owner, { recipientAddress: AT.address })),
    );
  const prove = (owner: Owner, proof: 'signature' | 'operator' = 'signature') =>
    transaction(db, async handle => {
      const recipient = await recipientStore(handle).name(owner, AT, RECORD_TIME);
      return recipientOwnership(handle).prove(recipient, proof, RECORD_TIME);
    });

  test('concurrent naming of an address by several organizations leaves exactly one owner', async () => {
    const owners = [await anOwner(), await anOwner(), await anOwner(), await anOwner()];

    const named = await Promise.all([...owners, ...owners].map(name));

    const all = await recipientStore(db).allAt(AT);
    expect(all).toHaveLength(owners.length);
    expect(all.filter(one => one.isOwner)).toHaveLength(1);
    expect(new Set(named.map(one => one.id)).size).toBe(owners.length);
  });

  test('a proof concurrent with sessions of the former owner leaves them without an exact amount', async () => {
    const [first, second] = [await anOwner(), await anOwner()];
    await name(first);

    await Promise.all([open(first), prove(second), open(first), open(first)]);

    const exact = await rowsOf(db, 'select id from checkout_sessions where not is_wallet_only');
    expect(exact).toEqual([]);
    expect((await recipientStore(db).ownerOf(AT))?.organizationId).toBe(second.organizationId);
  });

  test('an assignment by the operator overrides signatures until it is withdrawn', async () => {
    const [first, second] = [await anOwner(), await anOwner()];
    const chosen = await prove(first, 'operator');
    const other = await name(second);
    const sign = (at: number) =>
      transaction(db, async handle => {
        const signed = await recipientStore(handle).find(second, other.id);
        return signed && recipientOwnership(handle).proveBySignature(signed, at);
      });

    const refused = await sign(RECORD_TIME + 1);
    await transaction(db, handle => recipientOwnership(handle).withdrawProof(chosen));
    const accepted = await sign(RECORD_TIME + 2);

    expect(refused).toBeUndefined();
    expect(accepted).toMatchObject({ isOwner: true, proof: 'signature' });
  });

  test('a signature over a message older than a proof stays invalid after the proof is withdrawn', async () => {
    const [first, second] = [await anOwner(), await anOwner()];
    const stale = await name(second);
    const chosen = await transaction(db, async handle => {
      const recipient = await recipientStore(handle).name(first, AT, RECORD_TIME);
      return recipientOwnership(handle).prove(recipient, 'signature', RECORD_TIME + 1);
    });
    await transaction(db, handle => recipientOwnership(handle).withdrawProof(chosen));
    const sign = (at: number) =>
      transaction(db, async handle => {
        const signed = await recipientStore(handle).find(second, stale.id);
        return signed && recipientOwnership(handle).proveBySignature(signed, at);
      });

    const refused = await sign(RECORD_TIME + 2);
    await recipientStore(db).renewNonce(stale.id, RECORD_TIME + 3);

    expect(refused).toBeUndefined();
    expect(await sign(RECORD_TIME + 4)).toMatchObject({ isOwner: true, proof: 'signature' });
  });

  test('the command line lists, assigns and releases an address', async () => {
    const [first, second] = [await anOwner(), await anOwner()];
    await name(first);
    const run = (action: 'list' | 'assign' | 'release', organization?: string) => {
      const address = action === 'list' ? undefined : AT.address;
      const given = { action, address, organization, chain: String(AT.chainId), mode: undefined };
      const secretKey = { kind: 'value' as const, value: 'a secret that seals nothing but what tests keep' };
      const context = { chains: [], now: RECORD_TIME, secretKey, dashboardUrl: 'http://pay.example' };
      return runKeysCommand(db, { kind: 'recipient', given }, context);
    };

    await run('assign', second.organizationId);
    const assigned = (await run('list')).lines;
    await run('release');
    const released = (await run('list')).lines;

    expect(assigned.map(line => line.split('  ')[4])).toEqual(
      expect.arrayContaining([
        'not the owner',
        `owner by operator since ${new Date(RECORD_TIME).toISOString()}`,
      ]),
    );
    expect(released.map(line => line.split('  ')[4]).sort()).toEqual(['not the owner', 'provisional owner']);
  });

  test('in an older database the organization that first opened a session at an address becomes its owner', async () => {
    const old = openDatabase(await databases.create());
    const step = PAYMENTS_MIGRATIONS.findIndex(one => one.name === 'recipients');
    await migrate(old, PAYMENTS_MIGRATIONS.slice(0, step));
    const [first, second] = [anOrganization(), anOrganization()];
    for (const one of [first, second]) await organizationStore(old).insert(one);
    const values = (id: string, organization: string, due: string, at: number) =>
      `('${id}', '${organization}', 'test', 'active', 'awaiting_payment', 31337, '0xt', '${AT.address}', '015', '015',
        '${due}', false, '010', '{}', 0, 1, false, false, '{}', ${at + 9}, ${at}, ${at})`;
    await old.raw(`insert into checkout_sessions (id, organization_id, mode, status, payment_status, chain_id,
      token_address, recipient_address, subtotal, amount, amount_due, is_wallet_only, amount_received, presentation,
      confirmations, required_confirmations, is_late, is_reorged, metadata, expires_at, created_at, updated_at)
      values ${values('cs_b', second.id, '016', 20)}, ${values('cs_a', first.id, '015', 10)}`);
    const transfer = (id: string, organization: string, hash: string) =>
      `('${id}', '${organization}', 'test', 31337, '${hash}', 1, 1, '0xb', 5, '0xt', '0xs', '${AT.address}', '015', 5)`;
    await old.raw(`insert into unmatched_transfers (id, organization_id, mode, chain_id, tx_hash, log_index,
      block_number, block_hash, block_time, token_address, sender, recipient, amount, created_at)
      values ${transfer('utr_1', first.id, '0x1')}, ${transfer('utr_2', second.id, '0x1')}, ${transfer('utr_3', second.id, '0x2')},
        ${transfer('utr_4', first.id, '0x4')}`);
    // The other organization had assigned its copy of the last one.
    await old.raw(`insert into transactions (id, organization_id, mode, status, session_id, chain_id, token_address, amount,
      recipient, tx_hash, log_index, confirmations, required_confirmations, matched_by, is_late, is_duplicate, is_partial,
      created_at) values ('txn_4', '${second.id}', 'test', 'completed', 'cs_b', 31337, '0xt', '015', '${AT.address}', '0x4',
      1, 1, 1, 'assignment', false, false, false, 5)`);

    await migrate(old, PAYMENTS_MIGRATIONS);

    const all = await recipientStore(old).allAt(AT);
    expect(all.map(one => [one.organizationId, one.isOwner, one.proof])).toEqual([
      [first.id, true, null],
      [second.id, false, null],
    ]);
    expect(all[0]?.id).toMatch(/^rcp_[0-9A-Za-z]{24}$/);
    const left = await rowsOf(old, 'select id, organization_id from unmatched_transfers order by id');
    expect(left).toEqual([
      { id: 'utr_1', organization_id: first.id },
      { id: 'utr_3', organization_id: first.id },
    ]);
    const exact = await rowsOf(old, 'select id from checkout_sessions where not is_wallet_only');
    expect(exact).toEqual([{ id: 'cs_a' }]);
    await old.destroy();
  });
});
