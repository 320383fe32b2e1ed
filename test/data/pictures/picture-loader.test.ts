import { describe, expect, test } from 'vitest';
import { pictureLoader } from '#data/pictures/picture-loader.ts';
import { createLogger } from '#lib/logger.ts';
import { type Behaviour, type SeenRequest, startScriptedUpstream } from '../../lab/scripted-upstream.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { PNG, png } from './picture-service.ts';

interface LoadOptions {
  readonly host?: string;
  readonly hungUp?: AbortSignal;
}

/** Pictures as `data:` URIs. */
const base64 = (content: Buffer) => `data:image/png;base64,${content.toString('base64')}`;
const percent = (content: Buffer) => `data:,${content.toString('hex').replaceAll(/../g, '%$&')}`;

/** A loader, and a host on loopback that it may reach. */
async function loading(respond: (request: SeenRequest) => Behaviour | Promise<Behaviour>) {
  const stack = new AsyncDisposableStack();
  const host = stack.use(await startScriptedUpstream(respond));
  const { port } = new URL(host.url);
  const loader = stack.adopt(
    pictureLoader({
      ipfsGateway: 'http://127.0.0.1:9',
      clock: manualClock(),
      log: createLogger({ level: 'silent' }),
      rules: {
        allowHttp: true,
        allowedNetworks: ['127.0.0.1'],
        lookup: async () => [{ address: '127.0.0.1', family: 4 }],
      },
    }),
    ({ close }) => close(),
  );
  const load = async (name: string | number, { host = 'files', hungUp }: LoadOptions = {}) =>
    (await loader.load(`http://${host}.test:${port}/${name}`, hungUp)).status;
  return { host, load, loader, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('six pictures load at a time, a hundred wait, and further requests are asked to retry', async () => {
  const release = Promise.withResolvers<void>();
  let open = 0;
  let most = 0;
  await using pictures = await loading(async () => {
    open += 1;
    most = Math.max(most, open);
    await release.promise;
    open -= 1;
    return png();
  });

  const loads = Array.from({ length: 106 }, (_, number) =>
    pictures.load(number, { host: `host${number % 6}` }),
  );
  const refused = await pictures.load('one more');
  const joined = pictures.load(0, { host: 'host0' });
  await expect.poll(() => pictures.host.requests.length).toBe(6);
  release.resolve();

  expect(refused).toBe('busy');
  expect(await Promise.all([...loads, joined])).toEqual(Array(107).fill('ok'));
  expect(most).toBe(6);
  expect(pictures.host.requests).toHaveLength(106);
  expect(await pictures.load('one more')).toBe('ok');
});

describe('a slow host', () => {
  /** A loader whose host answers under the name `slow` only when `release` is called. */
  async function besideSlowHost() {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    const pictures = await loading(async ({ headers }) => {
      if (headers.host?.startsWith('slow.')) await promise;
      return png();
    });
    const slow = (name: string | number, hungUp?: AbortSignal) =>
      pictures.load(name, { host: 'slow', ...(hungUp && { hungUp }) });
    const asked = () => pictures.host.requests.map(({ url }) => url);
    return { ...pictures, slow, asked, release };
  }

  test('loads two pictures at a time with a queue of fifty, and delays no other host', async () => {
    await using pictures = await besideSlowHost();

    const loads = Array.from({ length: 52 }, (_, number) => pictures.slow(number));
    const refused = await pictures.slow('one more');
    const elsewhere = await pictures.load('elsewhere');
    await expect.poll(() => pictures.asked().length).toBe(3);
    pictures.release();

    expect([refused, elsewhere]).toEqual(['busy', 'ok']);
    expect(await Promise.all(loads)).toEqual(Array(52).fill('ok'));
    expect(pictures.asked()).toHaveLength(53);
  });

  test('is not asked for a picture whose requests were all cancelled', async () => {
    await using pictures = await besideSlowHost();
    const running = [pictures.slow(1), pictures.slow(2)];
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];

    const left = [pictures.slow(3, first.signal), pictures.slow(3, second.signal)];
    const kept = [pictures.slow(4, third.signal), pictures.slow(4)];
    for (const controller of [first, second, third]) controller.abort();
    const late = pictures.slow(5, first.signal);
    expect(await Promise.all([...left, late])).toEqual(['busy', 'busy', 'busy']);
    pictures.release();

    expect(await Promise.all([...running, ...kept])).toEqual(Array(4).fill('ok'));
    expect(pictures.asked().sort()).toEqual(['/1', '/2', '/4']);
    expect(await pictures.slow(3)).toBe('ok');
  });
});

test('the cache is bounded and evicts the least recently requested picture', async () => {
  const bytes = Buffer.concat([PNG, Buffer.alloc(4_900_000)]);
  await using pictures = await loading(() => ({ bytes, type: 'image/png' }));
  const others = Array.from({ length: 11 }, (_, number) => `${number}`);
  for (const name of ['a', 'b', ...others, 'a', 'c', 'a', 'b']) await pictures.load(name);

  const expected = ['a', 'b', ...others, 'c', 'b'].map(name => `/${name}`);
  expect(pictures.host.requests.map(({ url }) => url)).toEqual(expected);
});

describe('a picture in a data URI', () => {
  const dataUri = (bytes: number, encode: (content: Buffer) => string) =>
    encode(Buffer.concat([PNG, Buffer.alloc(bytes - PNG.length)]));

  test.each([
    ['percent-encoded', percent, 87_000, 88_000],
    ['in base64', base64, 5_000_000, 5_001_000],
  ])(
    'is served up to the longest allowed URI that is %s, and refused beyond it',
    async (_, encode, fits, exceeds) => {
      await using pictures = await loading(() => png());

      expect((await pictures.loader.load(dataUri(fits, encode))).status).toBe('ok');
      expect((await pictures.loader.load(dataUri(exceeds, encode))).status).toBe('failed');
    },
  );

  test.each([
    ['a picture', percent(PNG)],
    ['something else', 'data:,%00'],
    ['more bytes than a picture may have', dataUri(5_000_300, base64)],
  ])('is decoded only once, also when it is %s', async (_, link) => {
    await using pictures = await loading(() => png());

    const first = await pictures.loader.load(link);

    expect(await pictures.loader.load(link)).toBe(first);
  });

  test('keeps a percent sign without two digits', async () => {
    await using pictures = await loading(() => png());

    const result = await pictures.loader.load(`${percent(PNG)}%%4%zz%`);

    expect(result.status === 'ok' && result.picture.bytes.subarray(PNG.length).toString()).toBe('%%4%zz%');
  });
});

test.each([
  ['fetched', (port: string) => `http://files.test:${port}/1`],
  ['in base64', () => base64(PNG)],
  ['percent-encoded', () => percent(PNG)],
])('a picture %s holds no memory beyond its bytes', async (_, linkOf) => {
  await using pictures = await loading(() => png());
  const { port } = new URL(pictures.host.url);

  const result = await pictures.loader.load(linkOf(port));

  const bytes = result.status === 'ok' ? result.picture.bytes : undefined;
  expect(bytes?.equals(PNG)).toBe(true);
  expect(bytes?.buffer.byteLength).toBe(PNG.length);
});
