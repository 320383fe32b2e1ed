import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#lib/ids.ts';
import type { ApiKey } from '#payments/keys/api-key.ts';
import { apiKeyStore } from '#payments/keys/api-key-store.ts';
import { eachDatabase } from '../../support/databases.ts';
import { type Answered, type GatedKeys, startGatedKeys } from '../../support/gated-keys.ts';

const KEYS = '/api/v1/api-keys';
/** Headers that differ between any two requests. */
const OF_THE_REQUEST = ['date', 'x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit'];

/** An answer without its id and without headers that vary per request. */
function mask({ status, headers, text }: Answered, id: string) {
  const kept = [...headers].filter(([name]) => !OF_THE_REQUEST.includes(name));
  return { status, headers: kept, body: text.replaceAll(id, '<id>') };
}

eachDatabase('another organization’s key', databases => {
  let service: GatedKeys;
  let ours: string;
  let theirs: ApiKey;

  beforeAll(async () => {
    service = await startGatedKeys({ database: await databases.create('payments') });
    ours = (await service.key({ organizationId: await service.organization() })).secret;
    theirs = (await service.key({ organizationId: await service.organization() })).key;
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const requests = [
    ['DELETE', (id: string) => `${KEYS}/${id}`, undefined],
    ['POST', (id: string) => `${KEYS}/${id}/roll`, {}],
  ] as const;

  test.each(requests)('answers to %s exactly like a missing one', async (method, pathOf, body) => {
    const sent = { key: ours, ...(body === undefined ? {} : { body }) };
    const missing = newId('ak');

    const hidden = mask(await service.send(method, pathOf(theirs.id), sent), theirs.id);
    const unknown = mask(await service.send(method, pathOf(missing), sent), missing);

    expect(hidden).toEqual(unknown);
    expect([hidden.status, JSON.parse(hidden.body)]).toEqual([
      404,
      {
        error: {
          type: 'not_found_error',
          code: 'resource_not_found',
          message: "No api_key with id '<id>'.",
        },
      },
    ]);
  });

  test('is unchanged', async () => {
    const now = await apiKeyStore(service.db).find(theirs.organizationId, ['live'], theirs.id);

    expect(now).toEqual(theirs);
  });

  test('is not in the caller’s list', async () => {
    const { body } = await service.send('GET', KEYS, { key: ours });

    expect(body).toMatchObject({ total_count: 1, data: [{ key_prefix: ours.slice(0, 13) }] });
  });

  test('is hidden, and so is the caller’s own live key from its test key', async () => {
    const organizationId = await service.organization();
    const live = (await service.key({ organizationId })).key;
    const { secret } = await service.key({ organizationId, mode: 'test' });
    const missing = newId('ak');

    const hidden = await service.send('DELETE', `${KEYS}/${live.id}`, { key: secret });
    const unknown = await service.send('DELETE', `${KEYS}/${missing}`, { key: secret });

    expect(mask(hidden, live.id)).toEqual(mask(unknown, missing));
    expect(hidden.status).toBe(404);
  });

  test.each(['x', 'ak_', `ak_${'0'.repeat(25)}`, 'x'.repeat(200), "' or 1=1 --", 'pl_4kZ', '🎉'])(
    'and any malformed id are not found: %s',
    async id => {
      const answer = await service.send('DELETE', `${KEYS}/${encodeURIComponent(id)}`, { key: ours });

      expect([answer.status, answer.body]).toMatchObject([404, { error: { code: 'resource_not_found' } }]);
    },
  );
});
