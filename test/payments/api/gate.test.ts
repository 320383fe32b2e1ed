import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newKey } from '#payments/keys/api-key.ts';
import { apiKeyStore } from '#payments/keys/api-key-store.ts';
import { eventually } from '../../http/serve.ts';
import { until } from '../../lab/until.ts';
import { eachDatabase } from '../../support/databases.ts';
import { type GatedKeys, startGatedKeys } from '../../support/gated-keys.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { rawRequest } from '../../support/raw-request.ts';

const refused = (code: string) => ({
  error: { type: 'authentication_error', code, message: expect.any(String) },
});
const LIST = '/api/v1/api-keys';

eachDatabase('an API key', databases => {
  let service: GatedKeys;
  let clock: ManualClock;
  let organizationId: string;
  let admin: string;

  beforeAll(async () => {
    clock = manualClock();
    service = await startGatedKeys({ database: await databases.create('payments'), clock });
    organizationId = await service.organization();
    admin = (await service.key({ organizationId })).secret;
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const status = async (headers: Record<string, string>) => {
    const { status, body } = await service.send('GET', LIST, { headers });
    return status === 200 ? 200 : [status, body];
  };

  describe('is accepted', () => {
    test('as Authorization: Bearer in any letter case, as X-API-Key, or as both when they are equal', async () => {
      expect(await status({ authorization: `Bearer ${admin}` })).toBe(200);
      expect(await status({ authorization: `bEARER  ${admin}` })).toBe(200);
      expect(await status({ 'x-api-key': admin })).toBe(200);
      expect(await status({ authorization: `Bearer ${admin}`, 'x-api-key': admin })).toBe(200);
    });
  });

  describe('is refused', () => {
    test('when it is missing, and the answer says how to send one', async () => {
      const { status, body, headers } = await service.send('GET', LIST);

      expect([status, body]).toEqual([401, refused('key_missing')]);
      expect(headers.get('www-authenticate')).toBe('Bearer');
      expect(headers.get('cache-control')).toBe('no-store');
    });

    test('when the Bearer scheme has no key after it, as if nothing had been sent', async () => {
      for (const authorization of ['Bearer', 'bearer ', '']) {
        expect(await status({ authorization })).toEqual([401, refused('key_missing')]);
        expect(await status({ authorization, 'x-api-key': admin })).toBe(200);
      }
    });

    test('when the headers hold two keys, another scheme or a malformed key', async () => {
      const other = (await service.key({ organizationId })).secret;
      const wrong = [
        { authorization: `Bearer ${admin}`, 'x-api-key': other },
        { authorization: `Basic ${btoa('user:password')}`, 'x-api-key': admin },
        { authorization: admin },
        { authorization: `Bearer ${admin} ${admin}` },
        { authorization: `Bearer ${admin.slice(0, -1)}` },
        { 'x-api-key': `${admin}, ${admin}` },
        { 'x-api-key': newKey('live') },
      ];

      for (const headers of wrong) expect(await status(headers)).toEqual([401, refused('key_invalid')]);
    });

    test('with one letter wrong, without a database look-up', async () => {
      await using unreachable = await startGatedKeys({ database: await databases.create('payments') });
      const letter = admin.at(20) === 'x' ? 'y' : 'x';
      await unreachable.db.destroy();

      const typingError = await unreachable.send('GET', LIST, {
        key: admin.slice(0, 20) + letter + admin.slice(21),
      });
      const lookedUp = await unreachable.send('GET', LIST, { key: admin });

      expect([typingError.status, typingError.body]).toEqual([401, refused('key_invalid')]);
      expect(lookedUp.status).toBeGreaterThanOrEqual(500);
    });

    test('from the moment it is revoked', async () => {
      const { key, secret } = await service.key({ organizationId });
      const before = await service.send('GET', LIST, { key: secret });

      await service.send('DELETE', `${LIST}/${key.id}`, { key: admin });
      const after = await service.send('GET', LIST, { key: secret });

      expect(before.status).toBe(200);
      expect([after.status, after.body]).toEqual([401, refused('key_revoked')]);
    });

    test('from the millisecond it expires', async () => {
      const { secret } = await service.key({ organizationId, expiresAt: clock.now() + 1_000 });

      clock.advance(999);
      expect(await status({ 'x-api-key': secret })).toBe(200);
      clock.advance(1);
      expect(await status({ 'x-api-key': secret })).toEqual([401, refused('key_expired')]);
    });

    test('as revoked when it is both revoked and expired', async () => {
      const { key, secret } = await service.key({ organizationId, expiresAt: clock.now() + 1_000 });
      await apiKeyStore(service.db).revoke(key.id, clock.now());

      clock.advance(1_000);

      expect(await status({ 'x-api-key': secret })).toEqual([401, refused('key_revoked')]);
    });
  });

  describe('has a last-use time', () => {
    const lastUse = async (id: string) =>
      (await apiKeyStore(service.db).find(organizationId, ['live'], id))?.lastUsedAt ?? undefined;

    test('that is written at the first use and then at most once per minute', async () => {
      const { key, secret } = await service.key({ organizationId });
      const first = clock.now();

      await status({ 'x-api-key': secret });
      expect(
        await until(
          () => lastUse(key.id),
          time => time === first,
        ),
      ).toBe(first);
      clock.advance(59_999);
      await status({ 'x-api-key': secret });
      // A write of the second use would be visible before that of the third.
      clock.advance(1);
      expect(await lastUse(key.id)).toBe(first);
      await status({ 'x-api-key': secret });
      const second = await until(
        () => lastUse(key.id),
        time => time !== first,
      );
      expect(second).toBe(first + 60_000);
    });

    test('that is not written again for a use that this or another process has just written', async () => {
      const { key, secret } = await service.key({ organizationId });
      const written: string[] = [];
      service.db.on('query', ({ sql }: { sql: string }) => {
        if (sql.includes('set last_used_at')) written.push(sql);
      });
      const use = () => status({ 'x-api-key': secret });
      const isNoted = () =>
        until(
          () => lastUse(key.id),
          time => time === clock.now(),
        );

      await use();
      await isNoted();
      await use();
      clock.advance(60_000);
      await apiKeyStore(service.db).touch(key.id, clock.now());
      await use();
      clock.advance(60_000);
      await use();
      await isNoted();

      // The first use, that of the other process, and the last one.
      expect(written).toHaveLength(3);
    });

    test('and is accepted even when that time cannot be written', async () => {
      const { secret } = await service.key({ organizationId });
      await service.db.raw(REFUSE_USES[databases.kind]);

      const answer = await service.send('GET', LIST, { key: secret });

      expect(answer.status).toBe(200);
      await eventually(() =>
        service.entries.find(({ msg }) => msg === 'failed while noting the use of an API key'),
      );
      await service.db.raw(ALLOW_USES[databases.kind]);
    });
  });

  test('is named by its id in the access log, with its organization', async () => {
    const { key, secret } = await service.key({ organizationId });

    await service.send('GET', `${LIST}?limit=7`, { key: secret });

    const entry = await eventually(() => service.entries.find(({ path }) => path === `${LIST}?limit=7`));
    expect(entry).toMatchObject({
      operationId: 'listApiKeys',
      status: 200,
      keyId: key.id,
      organizationId,
    });
  });

  test('and the keys it creates never appear in the log', async () => {
    const { secret } = await service.key({ organizationId });
    const created = await service.send('POST', LIST, {
      key: secret,
      body: { name: 'Logged?', permission: 'read' },
      headers: { 'idempotency-key': 'logged' },
    });
    await service.send('GET', `${LIST}?api_key=${secret}`, { headers: { 'x-api-key': secret } });
    await service.send('GET', LIST, { key: `${secret}x` });
    await rawRequest(service.url, `GET ${LIST} HTTP/1.1\r\nX-API-Key: ${secret}\r\nBad\r\n\r\n`);
    await service.db.raw('alter table api_keys rename to elsewhere');
    const failed = await service.send('GET', LIST, { key: secret });
    await service.db.raw('alter table elsewhere rename to api_keys');

    const made = /"key":"(tg_live_\w+)"/.exec(created.text)?.[1] ?? 'no key was made';
    const log = JSON.stringify(service.entries);
    expect(failed.status).toBe(500);
    expect(failed.text).not.toContain('api_keys');
    expect(log).toContain('request failed');
    for (const hidden of [secret, made]) expect(log).not.toContain(hidden.slice(13));
  });
});

/** Makes every write of a last use fail. */
const REFUSE_USES = {
  sqlite: `create trigger refuse_uses before update of last_used_at on api_keys
    begin select raise(abort, 'refused'); end`,
  postgres: 'alter table api_keys add constraint no_uses check (last_used_at is null) not valid',
};
const ALLOW_USES = {
  sqlite: 'drop trigger refuse_uses',
  postgres: 'alter table api_keys drop constraint no_uses',
};
