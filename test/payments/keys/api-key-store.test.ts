import { beforeEach, expect, test } from 'vitest';
import { rowsOf } from '#db/query.ts';
import { newKey } from '#payments/keys/api-key.ts';
import { apiKeyStore } from '#payments/keys/api-key-store.ts';
import type { Owner } from '#payments/model/owner.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { anApiKey, anOrganization, RECORD_TIME } from '../../lab/payments-records.ts';
import { bothDatabases } from '../../support/databases.ts';
import { givenDatabase } from '../../support/given-database.ts';

const MINUTE = 60_000;

bothDatabases('the API keys', databases => {
  const given = givenDatabase(databases, { isShared: true });
  let live: Owner;
  let them: Owner;

  beforeEach(async () => {
    live = given.owner;
    them = await given.newOwner();
  });

  test('are found by their whole secret, with the tier of their organization', async () => {
    const store = apiKeyStore(given.db);
    const organization = anOrganization({ tier: 'elevated' });
    await organizationStore(given.db).insert(organization);
    const secret = newKey('live');
    const key = anApiKey(
      { organizationId: organization.id, mode: 'live' },
      {
        permission: 'write',
        expiresAt: RECORD_TIME + 1,
        lastUsedAt: RECORD_TIME + 2,
        revokedAt: RECORD_TIME + 3,
      },
    );
    await store.insert(key, secret);
    await store.insert(anApiKey(them), newKey('live'));

    expect(await store.findBySecret(secret)).toEqual({
      key,
      tier: 'elevated',
      merchant: { name: organization.name, logoUrl: null, toleranceBps: 0 },
    });
    expect(await store.findBySecret(secret.slice(0, -1))).toBeUndefined();
    expect(await store.findBySecret(newKey('live'))).toBeUndefined();
  });

  test('store only a hash of their secret', async () => {
    const secret = newKey('live');
    await apiKeyStore(given.db).insert(anApiKey(live), secret);

    const rows = await rowsOf(given.db, 'select * from api_keys');

    expect(JSON.stringify(rows)).not.toContain(secret.slice(8));
  });

  test('never share a secret', async () => {
    const secret = newKey('live');
    await apiKeyStore(given.db).insert(anApiKey(live), secret);

    await expect(apiKeyStore(given.db).insert(anApiKey(live), secret)).rejects.toSatisfy(error => {
      expect(given.db.dialect.violatedColumns(error)).toEqual(['key_hash']);
      return true;
    });
  });

  test('are found by id only in the given organization and modes', async () => {
    const store = apiKeyStore(given.db);
    const key = anApiKey(live);
    await store.insert(key, newKey('live'));

    expect(await store.find(live.organizationId, ['live'], key.id)).toEqual(key);
    expect(await store.find(live.organizationId, ['live', 'test'], key.id)).toEqual(key);
    expect(await store.find(live.organizationId, ['test'], key.id)).toBeUndefined();
    expect(await store.find(live.organizationId, [], key.id)).toBeUndefined();
    expect(await store.find(them.organizationId, ['live', 'test'], key.id)).toBeUndefined();
  });

  test('are listed newest first, page by page, in the given modes', async () => {
    const store = apiKeyStore(given.db);
    const keys = [3, 2, 1].map(age => anApiKey(live, { createdAt: RECORD_TIME - age }));
    const [oldest, middle, newest] = keys;
    const ofTest = anApiKey({ ...live, mode: 'test' }, { createdAt: RECORD_TIME });
    const foreign = anApiKey(them);
    for (const key of [...keys, ofTest, foreign]) await store.insert(key, newKey(key.mode));

    const firstPage = await store.list(live.organizationId, ['live'], { page: 1, limit: 2 });
    const secondPage = await store.list(live.organizationId, ['live'], { page: 2, limit: 2 });
    const both = await store.list(live.organizationId, ['live', 'test'], { page: 1, limit: 2 });

    expect(firstPage).toEqual({ data: [newest, middle], total: 3, hasMore: true });
    expect(secondPage).toEqual({ data: [oldest], total: 3, hasMore: false });
    expect(both).toEqual({ data: [ofTest, newest], total: 4, hasMore: true });
  });

  test('record their use at most once per minute', async () => {
    const store = apiKeyStore(given.db);
    const key = anApiKey(live);
    await store.insert(key, newKey('live'));
    const lastUsedAfter = async (now: number) => {
      await store.touch(key.id, now);
      return (await store.find(live.organizationId, ['live'], key.id))?.lastUsedAt;
    };

    expect(await lastUsedAfter(RECORD_TIME)).toBe(RECORD_TIME);
    expect(await lastUsedAfter(RECORD_TIME + MINUTE - 1)).toBe(RECORD_TIME);
    expect(await lastUsedAfter(RECORD_TIME + MINUTE)).toBe(RECORD_TIME + MINUTE);
  });

  test('are revoked once and keep the time of it', async () => {
    const store = apiKeyStore(given.db);
    const key = anApiKey(live);
    const other = anApiKey(live);
    await store.insert(key, newKey('live'));
    await store.insert(other, newKey('live'));

    const first = await store.revoke(key.id, RECORD_TIME + 1);
    const again = await store.revoke(key.id, RECORD_TIME + 2);

    expect([first, again]).toEqual([true, false]);
    expect((await store.find(live.organizationId, ['live'], key.id))?.revokedAt).toBe(RECORD_TIME + 1);
    expect((await store.find(live.organizationId, ['live'], other.id))?.revokedAt).toBeNull();
  });

  test('are rolled once, and end at the end of the grace period or at their earlier expiry', async () => {
    const store = apiKeyStore(given.db);
    const endless = anApiKey(live);
    const short = anApiKey(live, { expiresAt: RECORD_TIME + MINUTE });
    for (const key of [endless, short]) await store.insert(key, newKey('live'));

    const rolls = [];
    for (const { id } of [endless, short])
      rolls.push(await store.roll(id, RECORD_TIME + 2 * MINUTE, RECORD_TIME));
    rolls.push(await store.roll(endless.id, RECORD_TIME + 9 * MINUTE, RECORD_TIME + 1));

    expect(rolls).toEqual([true, true, false]);
    expect((await store.find(live.organizationId, ['live'], endless.id))?.rolledAt).toBe(RECORD_TIME);
    expect((await store.find(live.organizationId, ['live'], endless.id))?.expiresAt).toBe(
      RECORD_TIME + 2 * MINUTE,
    );
    expect((await store.find(live.organizationId, ['live'], short.id))?.expiresAt).toBe(RECORD_TIME + MINUTE);
  });

  test('count as another admin key only in the same mode and if not revoked, expired or rolled', async () => {
    const store = apiKeyStore(given.db);
    const first = anApiKey(live);
    const second = anApiKey(live, { expiresAt: RECORD_TIME + 1 });
    const onlyTrial = anApiKey({ ...live, mode: 'test' });
    const others = [
      anApiKey(live, { expiresAt: RECORD_TIME }),
      anApiKey(live, { revokedAt: RECORD_TIME }),
      anApiKey(live, { rolledAt: RECORD_TIME }),
      anApiKey(live, { permission: 'write' }),
      anApiKey(them),
    ];
    for (const key of [first, second, onlyTrial, ...others]) await store.insert(key, newKey(key.mode));

    const has = await Promise.all(
      [first, second, onlyTrial].map(key => store.hasOtherAdmin(key, RECORD_TIME)),
    );

    expect(has).toEqual([true, true, false]);
    expect(await store.hasOtherAdmin(first, RECORD_TIME + 1)).toBe(false);
  });

  test('belong to an existing organization', async () => {
    const key = anApiKey({ organizationId: 'org_missing', mode: 'live' });

    await expect(apiKeyStore(given.db).insert(key, newKey('live'))).rejects.toThrow(/foreign key/i);
  });
});
