import { describe, expect, test } from 'vitest';
import { BackendError } from '#data/backends/port/backend-error.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { NOBODY, opened, passed } from './opened.ts';

describe('an answer', () => {
  test('with any other status is judged by the back end', async () => {
    const missing = new BackendError('not_found', 'no_such_record', 'block 7 was not found');
    await using to = await opened(
      ({ path }) => ({ json: { message: 'no' }, status: path === '/blocks/7' ? 404 : 422 }),
      {
        judge: ({ status: code }) => (code === 404 ? missing : undefined),
      },
    );

    expect(await to.failure('/blocks/7')).toBe(missing);
    expect(await to.get('/blocks/x')).toEqual({ status: 422, body: { message: 'no' } });
    expect(to.lines()).toEqual([]);
  });

  test('comes over a reused connection, to a request that names its sender and the accepted codings', async () => {
    await using to = await opened(() => ({ json: { ok: true } }), { headers: { 'x-api-key': 'k3y' } });

    await to.get('/blocks', { query: new URLSearchParams({ type: 'block', 'a b': '&' }) });
    for (let count = 0; count < 9; count += 1) await to.get('/stats');

    const [first, second] = to.service.requests;
    expect(first).toMatchObject({ method: 'GET', url: '/api/v2/blocks?type=block&a+b=%26' });
    expect(first?.headers).toMatchObject({
      accept: 'application/json',
      'accept-encoding': 'br, gzip',
      'user-agent': 'tollgate/1.2.3',
      'x-api-key': 'k3y',
    });
    expect(second?.url).toBe('/api/v2/stats');
    expect(to.service.connections()).toBeLessThanOrEqual(2);
  });

  test('may need a key, or credentials from the base address', async () => {
    await using service = await opened(() => ({ json: {} }));
    const baseUrl = service.service.url.replace('http://', 'http://me:p%40ss@');
    await using to = await opened(() => ({ json: {} }), { baseUrl: `${baseUrl}/?apikey=abc` });

    await to.get('/blocks', { query: new URLSearchParams({ type: 'uncle' }) });

    expect(service.service.requests[0]).toMatchObject({
      url: '/api/v2/blocks?apikey=abc&type=uncle',
      headers: { authorization: `Basic ${btoa('me:p@ss')}` },
    });
  });
});

describe('a transport fault', () => {
  test.for(['before headers', 'after headers', 'within the body'] as const)(
    'is retried once: cut %s',
    async cut => {
      await using to = await opened(({ number }) => (number === 1 ? { cut } : { json: { ok: true } }));

      expect(await to.get()).toEqual({ status: 200, body: { ok: true } });
      expect(to.service.requests).toHaveLength(2);
      expect(to.lines()).toEqual([]);
    },
  );

  test('is not retried when the deadline passes during the wait', async () => {
    await using to = await opened(() => ({ cut: 'before headers' }));
    const deadline = new AbortController();
    const failed = to.upstream.get('/blocks', { signal: deadline.signal }).catch((error: unknown) => error);
    await expect.poll(() => to.clock.sleepers()).toBe(1);

    deadline.abort(passed());

    expect(await failed).toMatchObject({ kind: 'unavailable', reason: 'timeout' });
    expect(to.service.requests).toHaveLength(1);
  });

  test('is retried after 50 to 250 ms', async () => {
    await using to = await opened(({ number }) => (number === 1 ? { cut: 'before headers' } : { json: 1 }));
    const pending = to.upstream.get('/blocks', { signal: AbortSignal.timeout(PATIENCE_MS) });
    await expect.poll(() => to.clock.sleepers()).toBe(1);

    to.clock.advance(49);
    expect(to.clock.sleepers()).toBe(1);
    to.clock.advance(201);

    expect(await pending).toEqual({ status: 200, body: 1 });
  });
});

test('a cancelled request ends at once and is not logged', async () => {
  await using to = await opened(() => 'silence');
  const gone = new AbortController();
  const pending = to.failure('/blocks', { signal: gone.signal });
  await expect.poll(() => to.service.requests.length).toBe(1);

  gone.abort(new Error('the client hung up'));

  expect(await pending).toMatchObject({ kind: 'unavailable', reason: 'failed', cause: gone.signal.reason });
  expect(to.lines()).toEqual([]);
});

test('an already aborted signal sends nothing', async () => {
  await using to = await opened(() => ({ json: {} }));

  expect(await to.failure('/blocks', { signal: AbortSignal.abort() })).toMatchObject({ kind: 'unavailable' });
  expect(to.service.requests).toHaveLength(0);
});

test('closing aborts running requests and refuses later ones', async () => {
  await using to = await opened(() => 'silence');
  const pending = to.failure();
  await expect.poll(() => to.service.requests.length).toBe(1);

  await to.upstream.close();

  expect(await pending).toMatchObject({ kind: 'unavailable' });
  expect(await to.failure()).toMatchObject({ kind: 'unavailable' });
});

describe('the reporting of failures', () => {
  test('reports failures without the query and without keys that the upstream repeats', async () => {
    const key = 'proapi_0123456789';
    const text = `bad key ${key} for /blocks?apikey=topsecret ${'x'.repeat(400)}`;
    await using service = await opened(() => ({ text, status: 403 }));
    await using to = await opened(() => 'silence', {
      baseUrl: `${service.service.url}?apikey=topsecret`,
      headers: { authorization: `Bearer ${key}` },
    });

    const failure = await to.failure('/blocks', { query: new URLSearchParams({ q: 'private' }) });

    const [line] = to.lines();
    expect(line).toMatchObject({ level: 40, upstream: 'scripted', path: '/blocks', status: 403 });
    expect(line?.text).toMatch(/^bad key \[hidden\] for \/blocks\?apikey=\[hidden\] x+$/);
    expect(String(line?.text)).toHaveLength(200);
    expect(JSON.stringify(to.lines())).not.toMatch(/proapi|topsecret|private/);
    expect(failure.message).toBe('it answered 403');
  });

  test.each([
    ['as it is in the address', 'pro%2Bkey%2F123456%3D%3D'],
    ['with small escapes', 'pro%2bkey%2f123456%3d%3d'],
    ['without its escapes', 'pro+key/123456=='],
  ])('keeps a key out of client messages, spelled %s', async (_how, spelled) => {
    await using service = await opened(() => ({
      json: { message: `bad key ${spelled}, sorry` },
      status: 422,
    }));
    await using to = await opened(() => ({ json: {} }), {
      baseUrl: `${service.service.url}?apikey=pro%2Bkey%2F123456%3D%3D`,
      judge: ({ body }) => new BackendError('rejected', 'bad_input', JSON.stringify(body)),
    });

    expect((await to.failure()).message).toBe('{"message":"bad key [hidden], sorry"}');
  });

  test('removes a possible key in the base path from client messages, and keeps common path parts', async () => {
    await using service = await opened(() => ({
      json: { message: 'no k3y-1234567 in api/v2' },
      status: 422,
    }));
    await using to = await opened(() => ({ json: {} }), {
      baseUrl: `${service.service.url}/k3y-1234567`,
      judge: ({ body }) => new BackendError('rejected', 'bad_input', JSON.stringify(body)),
    });

    expect((await to.failure()).message).toBe('{"message":"no [hidden] in api/v2"}');
  });

  test('passes on no upstream text that repeats the request, whatever the address contains', async () => {
    await using to = await opened(({ url }) => ({ json: { message: `Bad request ${url}` }, status: 422 }), {
      judge: ({ body }) => new BackendError('rejected', 'bad_input', JSON.stringify(body)),
    });

    const failure = await to.failure('/blocks', { query: new URLSearchParams({ type: 'x' }) });

    expect({ kind: failure.kind, message: failure.message }).toEqual({
      kind: 'rejected',
      message: 'the back end refused the request',
    });
  });

  test('keeps keys out of client messages, even if the upstream repeats them', async () => {
    const key = 'proapi_0123456789';
    await using to = await opened(
      () => ({ json: { message: `no such key ${key} ${'x'.repeat(400)}` }, status: 422 }),
      {
        headers: { 'x-api-key': key },
        judge: ({ body }) => new BackendError('rejected', 'bad_input', `refused: ${JSON.stringify(body)}`),
      },
    );

    const failure = await to.failure('/blocks');

    expect(failure.message).toMatch(/^refused: \{"message":"no such key \[hidden\] x+$/);
    expect(failure.message).toHaveLength(300);
  });

  test('names the fault of a connection', async () => {
    await using to = await opened(() => 'silence', { baseUrl: NOBODY });

    await to.failure();

    expect(to.lines()).toMatchObject([
      { path: '/blocks', code: 'ECONNREFUSED', fault: expect.stringContaining('connect') },
    ]);
  });

  test('writes one line per second and counts the rest', async () => {
    await using to = await opened(() => ({ json: 'Not found', status: 404 }));

    for (let count = 0; count < 5; count += 1) await to.failure();
    to.clock.advance(1000);
    await to.failure();

    expect(to.lines().map(({ more }) => more)).toEqual([undefined, 4]);
  });
});
