import { describe, expect, test } from 'vitest';
import { pictureLoader } from '#data/pictures/picture-loader.ts';
import { createLogger } from '#lib/logger.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { type Behaviour, type SeenRequest, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { PNG, png } from './picture-service.ts';

/** A loader, and a host on loopback that it may reach. */
async function loading(
  respond: (request: SeenRequest) => Behaviour | Promise<Behaviour>,
  options: { cacheBytes?: number } = {},
) {
  const stack = new AsyncDisposableStack();
  const host = stack.use(await startScriptedUpstream(respond));
  const { port } = new URL(host.url);
  const loader = stack.adopt(
    pictureLoader({
      ipfsGateway: 'http://127.0.0.1:9',
      clock: manualClock(),
      log: createLogger({ level: 'silent' }),
      rules: { allowHttp: true, allowedNetworks: ['127.0.0.1'] },
      ...options,
    }),
    ({ close }) => close(),
  );
  const load = async (name: string | number) =>
    (await loader.load(`http://127.0.0.1:${port}/${name}`)).status;
  return { host, load, loader, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('six pictures are fetched at a time, a hundred wait, and more are told to come back', async () => {
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

  const loads = Array.from({ length: 106 }, (_, number) => pictures.load(number));
  const refused = await pictures.load('one more');
  const joined = pictures.load(0);
  await expect.poll(() => pictures.host.requests.length, { timeout: 10_000 }).toBe(6);
  release.resolve();

  expect(refused).toBe('busy');
  expect(await Promise.all([...loads, joined])).toEqual(Array(107).fill('ok'));
  expect(most).toBe(6);
  expect(pictures.host.requests).toHaveLength(106);
  expect(await pictures.load('one more')).toBe('ok');
});

test('what is remembered is bounded: the picture that was asked for least recently goes first', async () => {
  const bytes = Buffer.concat([PNG, Buffer.alloc(400_000)]);
  await using pictures = await loading(() => ({ bytes, type: 'image/png' }), { cacheBytes: 1_000_000 });
  for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) await pictures.load(name);

  expect(pictures.host.requests.map(({ url }) => url)).toEqual(['/a', '/b', '/c', '/b']);
});

test('a picture that is larger than all that may be remembered is shown', async () => {
  const bytes = Buffer.concat([PNG, Buffer.alloc(400_000)]);
  await using pictures = await loading(() => ({ bytes, type: 'image/png' }), { cacheBytes: 100_000 });

  expect([await pictures.load('a'), await pictures.load('a')]).toEqual(['ok', 'ok']);
  expect(pictures.host.requests).toHaveLength(2);
});

describe('a picture in its own address', () => {
  const dataUri = (bytes: number, encode: (content: Buffer) => string) =>
    encode(Buffer.concat([PNG, Buffer.alloc(bytes - PNG.length)]));
  const base64 = (content: Buffer) => `data:image/png;base64,${content.toString('base64')}`;
  const percent = (content: Buffer) => `data:,${content.toString('hex').replaceAll(/../g, '%$&')}`;

  test.each([
    ['percent-encoded', percent, 87_000, 88_000],
    ['in base64', base64, 5_000_000, 5_001_000],
  ])(
    'is shown up to the longest link that is %s, and refused beyond it',
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
  ])('is decoded once, also when it is %s', async (_, link) => {
    await using pictures = await loading(() => png());

    const first = await pictures.loader.load(link);

    expect(await pictures.loader.load(link)).toBe(first);
  });

  test('keeps a percent sign without two digits as it is', async () => {
    await using pictures = await loading(() => png());

    const result = await pictures.loader.load(`${percent(PNG)}%%4%zz%`);

    expect(result.status === 'ok' && result.picture.bytes.subarray(PNG.length).toString()).toBe('%%4%zz%');
  });
});
