import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isWellFormedKey } from '#payments/keys/api-key.ts';
import { eachDatabase } from '../../support/databases.ts';
import { type GatedKeys, startGatedKeys } from '../../support/gated-keys.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';

const KEYS = '/api/v1/api-keys';
const refused = (code: string, param?: string) => ({
  error: {
    type: 'invalid_request_error',
    code,
    message: expect.any(String),
    ...(param === undefined ? {} : { param }),
  },
});

interface Created {
  readonly id: string;
  readonly key: string;
}

eachDatabase('API keys', databases => {
  let service: GatedKeys;
  let clock: ManualClock;
  let organizationId: string;
  let admin: { id: string; secret: string };

  beforeAll(async () => {
    clock = manualClock();
    const limits = { standard: 1e6, elevated: 1e6 };
    service = await startGatedKeys({ database: await databases.create('payments'), clock, limits });
  });
  afterAll(() => service[Symbol.asyncDispose]());
  beforeEach(async () => {
    clock.advance(1_000);
    organizationId = await service.organization();
    const { key, secret } = await service.key({ organizationId });
    admin = { id: key.id, secret };
    // Keys created from here on are newer.
    clock.advance(1);
  });

  const post = (body: unknown, path = KEYS, key = admin.secret) => service.send('POST', path, { key, body });
  const created = async (body: object): Promise<Created> => {
    const answer = await post({ name: 'Shop', permission: 'admin', ...body });
    expect(answer.status).toBe(201);
    return JSON.parse(answer.text);
  };
  const works = async (key: string) => {
    const { status, text } = await service.send('GET', KEYS, { key });
    return status === 200 ? true : /"code":"(\w+)"/.exec(text)?.[1];
  };
  const at = (ms: number) => new Date(clock.now() + ms).toISOString();

  describe('are created', () => {
    test('with a working secret that no other answer shows', async () => {
      const answer = await post({ name: 'Shop', permission: 'write', expires_at: null });
      const { key, id }: Created = JSON.parse(answer.text);
      const list = await service.send('GET', KEYS, { key: admin.secret });

      expect(answer.status).toBe(201);
      expect(answer.body).toEqual({
        object: 'api_key',
        id: expect.stringMatching(/^ak_[0-9A-Za-z]{24}$/),
        name: 'Shop',
        key,
        key_prefix: key.slice(0, 13),
        last_four: key.slice(-4),
        permission: 'write',
        permissions: ['read', 'write'],
        mode: 'live',
        is_active: true,
        expires_at: null,
        last_used_at: null,
        created_at: new Date(clock.now()).toISOString(),
        revoked_at: null,
      });
      expect(isWellFormedKey(key)).toBe(true);
      expect(await works(key)).toBe('insufficient_permissions');
      expect(list.text).toContain(id);
      expect(list.text).not.toContain(key);
    });

    test('for the mode of the calling key; a live key may also create test keys', async () => {
      const live = await created({});
      const forTest = await created({ mode: 'test' });
      const byTest = await post({ name: 'x', permission: 'read' }, KEYS, forTest.key);
      const liveByTest = await post({ name: 'x', permission: 'read', mode: 'live' }, KEYS, forTest.key);

      expect([live.key.slice(0, 8), forTest.key.slice(0, 8)]).toEqual(['tg_live_', 'tg_test_']);
      expect(byTest.body).toMatchObject({ mode: 'test' });
      expect([liveByTest.status, liveByTest.body]).toEqual([400, refused('invalid_field_value', 'mode')]);
    });

    test('with an expiry in the future, in any UTC offset and to the millisecond', async () => {
      const { key } = await created({ expires_at: at(2_000 + 7_200_000).replace('Z', '9999+02:00') });

      clock.advance(1_999);
      expect(await works(key)).toBe(true);
      clock.advance(1);
      expect(await works(key)).toBe('key_expired');
    });

    test('but not with an expiry that is now or past', async () => {
      for (const expires_at of [at(0), at(-1), '1970-01-01T00:00:00Z']) {
        const answer = await post({ name: 'Shop', permission: 'read', expires_at });
        expect([answer.status, answer.body]).toEqual([400, refused('invalid_field_value', 'expires_at')]);
      }
    });

    test.each([
      [{ permission: 'read' }, 'missing_required_field', 'name'],
      [{ name: 'x' }, 'missing_required_field', 'permission'],
      [{ name: ' ', permission: 'read' }, 'invalid_field_value', 'name'],
      [{ name: 'x', permission: 'owner' }, 'invalid_field_value', 'permission'],
      [{ name: 'x', permission: 'read', mode: 'prod' }, 'invalid_field_value', 'mode'],
      [{ name: 'x', permission: 'read', expires_at: 'soon' }, 'invalid_field_value', 'expires_at'],
    ])('but not from %j', async (body, code, param) => {
      const answer = await post(body);

      expect([answer.status, answer.body]).toEqual([400, refused(code, param)]);
    });
  });

  describe('are listed', () => {
    test('newest first, in pages, with revoked keys', async () => {
      clock.advance(1);
      const second = await created({ name: 'second' });
      clock.advance(1);
      const third = await created({ name: 'third' });
      await service.send('DELETE', `${KEYS}/${second.id}`, { key: admin.secret });

      const pages = [
        await service.send('GET', `${KEYS}?limit=2`, { key: admin.secret }),
        await service.send('GET', `${KEYS}?limit=2&page=2`, { key: admin.secret }),
        await service.send('GET', `${KEYS}?limit=2&page=3`, { key: admin.secret }),
      ].map(({ body }) => body);

      const envelope = { object: 'list', total_count: 3, url: KEYS };
      const revoked = { id: second.id, is_active: false, revoked_at: at(0) };
      expect(pages).toMatchObject([
        { ...envelope, has_more: true, data: [{ id: third.id, is_active: true }, revoked] },
        { ...envelope, has_more: false, data: [{ id: admin.id, permissions: ['read', 'write', 'admin'] }] },
        { ...envelope, has_more: false, data: [] },
      ]);
    });

    test('for both modes with a live key, and for test mode with a test key', async () => {
      const { id, key } = await created({ mode: 'test' });

      const live = await service.send('GET', KEYS, { key: admin.secret });
      const test = await service.send('GET', KEYS, { key });

      expect(live.body).toMatchObject({ total_count: 2 });
      expect(test.body).toMatchObject({ total_count: 1, data: [{ id }] });
    });
  });

  describe('are revoked', () => {
    const revoke = (id: string, key = admin.secret) => service.send('DELETE', `${KEYS}/${id}`, { key });

    test('at once, even by themselves, and a second revocation changes nothing', async () => {
      const { id, key } = await created({});
      const revokedAt = at(0);

      const answer = await revoke(id, key);
      clock.advance(1_000);
      const again = await revoke(id);

      expect([answer.status, answer.body]).toEqual([200, { object: 'api_key_revoked', id, revoked: true }]);
      expect(again.text).toBe(answer.text);
      expect(await works(key)).toBe('key_revoked');
      const list = await service.send('GET', KEYS, { key: admin.secret });
      expect(list.body).toMatchObject({ data: [{ id, revoked_at: revokedAt }, {}] });
    });

    test('except for the last active admin key of a mode', async () => {
      const test = await created({ mode: 'test' });
      const expired = await created({ expires_at: at(1) });
      await created({ permission: 'write' });
      clock.advance(1);

      for (const id of [admin.id, test.id]) {
        const answer = await revoke(id);
        expect([answer.status, answer.body]).toEqual([400, refused('invalid_status_transition')]);
      }
      expect((await revoke(expired.id)).status).toBe(200);
      await created({});
      expect((await revoke(admin.id)).status).toBe(200);
    });

    test('but only one of the last two admin keys when both are revoked at the same time', async () => {
      const other = await created({});

      const answers = await Promise.all([revoke(other.id, admin.secret), revoke(admin.id, other.key)]);

      const working = await Promise.all([admin.secret, other.key].map(works));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(working.filter(answer => answer === true)).toHaveLength(1);
    });
  });

  describe('are rolled', () => {
    const roll = (id: string, body: unknown) => post(body, `${KEYS}/${id}/roll`);

    test('into a new key of the same kind, and the old key ends at once', async () => {
      const expires_at = at(3_600_000);
      const old = await created({ name: 'Till', permission: 'write', mode: 'test', expires_at });

      const answer = await roll(old.id, {});
      const { id, key }: Created = JSON.parse(answer.text);

      expect(answer.status).toBe(201);
      expect(answer.body).toMatchObject({ name: 'Till', permission: 'write', mode: 'test', expires_at });
      expect(id).not.toBe(old.id);
      expect(await works(old.key)).toBe('key_expired');
      expect(await works(key)).toBe('insufficient_permissions');
    });

    test('with a grace period that never extends the life of the old key', async () => {
      const old = await created({});
      const short = await created({ expires_at: at(1_000) });

      expect((await roll(old.id, { old_key_expires_in: 60 })).status).toBe(201);
      expect((await roll(short.id, { old_key_expires_in: 60 })).status).toBe(201);

      clock.advance(1_000);
      expect([await works(old.key), await works(short.key)]).toEqual([true, 'key_expired']);
      clock.advance(58_999);
      expect(await works(old.key)).toBe(true);
      clock.advance(1);
      expect(await works(old.key)).toBe('key_expired');
    });

    test('even the last admin key, by itself', async () => {
      const answer = await roll(admin.id, {});

      const { key }: Created = JSON.parse(answer.text);
      expect([await works(admin.secret), await works(key)]).toEqual(['key_expired', true]);
    });

    test('only once: a rolled key keeps its grace period and cannot be rolled again', async () => {
      const old = await created({ permission: 'write' });
      const first = await roll(old.id, { old_key_expires_in: 604_800 });
      const before = await service.send('GET', KEYS, { key: admin.secret });

      const again = await roll(old.id, { old_key_expires_in: 604_800 });

      const after = await service.send('GET', KEYS, { key: admin.secret });
      const { id }: Created = JSON.parse(first.text);
      expect([again.status, again.body]).toEqual([400, refused('invalid_status_transition')]);
      expect(after.body).toEqual(before.body);
      expect((await roll(id, {})).status).toBe(201);
    });

    test('and a rolled admin key no longer counts: it can be revoked early, the last other admin key cannot', async () => {
      const rolled = await roll(admin.id, { old_key_expires_in: 604_800 });
      const { id, key }: Created = JSON.parse(rolled.text);

      const last = await service.send('DELETE', `${KEYS}/${id}`, { key: admin.secret });
      const early = await service.send('DELETE', `${KEYS}/${admin.id}`, { key });

      expect([last.status, last.body]).toEqual([400, refused('invalid_status_transition')]);
      expect(early.status).toBe(200);
      expect([await works(admin.secret), await works(key)]).toEqual(['key_revoked', true]);
    });

    test('but not once revoked or expired, nor with more than seven days of grace', async () => {
      const revoked = await created({});
      await service.send('DELETE', `${KEYS}/${revoked.id}`, { key: admin.secret });
      const expired = await created({ expires_at: at(1) });
      clock.advance(1);

      for (const { id } of [revoked, expired]) {
        const answer = await roll(id, {});
        expect([answer.status, answer.body]).toEqual([400, refused('invalid_status_transition')]);
      }
      const tooLong = await roll(admin.id, { old_key_expires_in: 604_801 });
      expect([tooLong.status, tooLong.body]).toEqual([
        400,
        refused('invalid_field_value', 'old_key_expires_in'),
      ]);
    });
  });
});
