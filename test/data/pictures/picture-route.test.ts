import { describe, expect, test } from 'vitest';
import {
  CID,
  NOTHING,
  PNG,
  pictureAt,
  pictureService,
  png,
  refusal,
  refused,
  TOKEN,
} from './picture-service.ts';

const CONFINED = "sandbox; default-src 'none'";
const DRAWING =
  '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><path d="M0 0h9v9z"/></svg>';

describe('a picture', () => {
  test('is served with its type, and only our own pages can embed it', async () => {
    await using service = await pictureService(pictureAt('/1.png'), () => png());

    const response = await service.picture(1);

    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(PNG)).toBe(true);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(PNG.length),
      'content-security-policy': CONFINED,
      'x-content-type-options': 'nosniff',
      'content-disposition': 'inline',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'public, max-age=86400',
      etag: expect.stringMatching(/^"[\w-]{22}"$/),
    });
    expect(response.headers.has('access-control-allow-origin')).toBe(false);
    expect(response.headers.has('access-control-expose-headers')).toBe(false);
  });

  test('in the client’s cache is not sent again', async () => {
    await using service = await pictureService(pictureAt('/1.png'), () => png());
    const first = await service.picture(1);

    const second = await service.picture(1, {
      headers: { 'If-None-Match': first.headers.get('etag') ?? '' },
    });

    expect(second.status).toBe(304);
    expect(second.headers.get('content-security-policy')).toBe(CONFINED);
    expect(await second.text()).toBe('');
  });

  test('can be read only by GET and HEAD', async () => {
    await using service = await pictureService(pictureAt('/1.png'), () => png());

    const head = await service.picture(1, { method: 'HEAD' });
    const post = await service.picture(1, { method: 'POST' });

    expect(head.status).toBe(200);
    expect(head.headers.get('content-length')).toBe(String(PNG.length));
    expect(post.status).toBe(405);
  });

  test.each([
    ['no type', ''],
    ['the type of a page', 'text/html'],
    ['several types', 'text/html, image/png'],
    ['the type of another picture', 'image/svg+xml; charset=utf-8'],
  ])('whose host claims %s gets its type from its bytes', async (_, type) => {
    await using service = await pictureService(pictureAt('/1'), () => png(type));

    const response = await service.picture(1);

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/png');
  });

  test('with an HTML page behind its first bytes stays a picture', async () => {
    const bytes = Buffer.concat([
      Buffer.from('GIF89a\x01\0\x01\0'),
      Buffer.from('/*=1;<script>alert(1)</script>'),
    ]);
    await using service = await pictureService(pictureAt('/1'), () => ({ bytes, type: 'text/html' }));

    const response = await service.picture(1);

    expect(response.headers.get('content-type')).toBe('image/gif');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toBe(CONFINED);
  });

  test('is found in the metadata when the record has no picture address', async () => {
    await using service = await pictureService(
      (_id, host) => ({ metadata: { image: `${host}/1.png` } }),
      () => png(),
    );

    expect((await service.picture(1)).status).toBe(200);
  });

  test('from ipfs comes from the gateway', async () => {
    await using service = await pictureService(
      () => ({ image_url: `ipfs://${CID}/7.png` }),
      ({ url }) => (url === `/ipfs/${CID}/7.png` ? png() : NOTHING()),
    );

    expect((await service.picture(7)).status).toBe(200);
  });

  test.each([
    ['base64', `data:image/png;base64,${PNG.toString('base64')}`],
    ['base64 with escapes', `data:image/png;base64,${encodeURIComponent(PNG.toString('base64'))}`],
    ['percent-encoding', `data:,${[...PNG].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('')}`],
    ['a wrong type', `data:text/html;base64,${PNG.toString('base64')}`],
  ])('in a data URI is decoded: %s', async (_, uri) => {
    await using service = await pictureService(() => ({ image_url: uri }), NOTHING);

    const response = await service.picture(1);

    expect(response.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await response.arrayBuffer()).equals(PNG)).toBe(true);
    expect(service.host.requests).toEqual([]);
  });

  test('is served for the largest id', async () => {
    await using service = await pictureService(pictureAt('/1.png'), () => png());

    expect((await service.picture(2n ** 256n - 1n)).status).toBe(200);
  });
});

describe('no picture is served', () => {
  test.each([
    ['an invalid id', '/chain/1/token/TOKEN/instance/one/picture'],
    ['an id of 2^256', `/chain/1/token/TOKEN/instance/${2n ** 256n}/picture`],
    ['an invalid address', '/chain/1/token/0x12/instance/1/picture'],
    ['an address with a slash at its end', '/chain/1/token/TOKEN/instance/1/picture/'],
    ['a chain that is not served', '/chain/2/token/TOKEN/instance/1/picture'],
  ])('for %s', async (_, path) => {
    await using service = await pictureService(pictureAt('/1.png'), () => png());

    const response = await fetch(`${service.url}${path.replace('TOKEN', TOKEN)}`);

    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).not.toContain('image/');
    expect(service.host.requests).toEqual([]);
  });

  test('for a missing NFT', async () => {
    await using service = await pictureService(
      () => undefined,
      () => png(),
    );

    expect(await refusal(await service.picture(1))).toEqual(refused(404));
  });

  test.each([
    ['no metadata', {}],
    ['metadata without a picture', { metadata: { name: 'Nothing to see' } }],
    ['a picture that is not a string', { metadata: { image: { url: 'https://files.test/1.png' } } }],
    ['a script', { metadata: { image: 'javascript:alert(1)' } }],
    ['a file of ours', { metadata: { image: 'file:///etc/passwd' } }],
    ['an unsupported scheme', { metadata: { image: 'ar://abc/7.png' } }],
    ['a way out of the folder of the gateway', { image_url: 'ipfs://a/../../secret.png' }],
    ['one with encoded slashes', { image_url: 'ipfs://a/..%2f..%2Fsecret.png' }],
    ['one with encoded backslashes', { image_url: 'ipfs://a/..%5c..%5Csecret.png' }],
    ['a path on the gateway with an encoded NUL', { image_url: 'ipfs://a/1.png%00.txt' }],
  ])('where the NFT has %s', async (_, instance) => {
    await using service = await pictureService(
      () => instance,
      () => png(),
    );

    expect(await refusal(await service.picture(1))).toEqual(
      refused(404, 'This NFT has no picture that can be fetched'),
    );
    expect(service.host.requests).toEqual([]);
  });

  test('where pages are off', async () => {
    await using service = await pictureService(pictureAt('/1.png'), () => png(), { pages: false });

    const response = await service.picture(1);

    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ message: 'Not found' });
    expect(service.host.requests).toEqual([]);
  });

  test.each([
    ['a page with a drawing', `<html>${DRAWING}</html>`, 'image/svg+xml'],
    ['a page that is named a PNG', '<!doctype html><script>alert(1)</script>', 'image/png'],
    ['a document', '%PDF-1.7\n', 'application/pdf'],
    ['nothing', '', 'image/png'],
  ])('from %s', async (_, text, type) => {
    await using service = await pictureService(pictureAt('/1.png'), () => ({ text, type }));

    expect(await refusal(await service.picture(1))).toEqual(
      refused(415, 'The picture is not a PNG, JPEG, GIF, WebP, AVIF or SVG'),
    );
  });

  test.each([
    [
      'many pixels',
      Buffer.concat([PNG.subarray(0, 16), Buffer.from('00004e2000004e20', 'hex'), PNG.subarray(24)]),
    ],
    ['a drawing that refers to itself', Buffer.from(`<svg><g id="a"><use href="#a"/></g></svg>`)],
  ])('from %s', async (_, bytes) => {
    await using service = await pictureService(pictureAt('/1'), () => ({ bytes, type: 'image/png' }));

    expect(await refusal(await service.picture(1))).toEqual(
      refused(415, 'The picture has too many pixels, or is a drawing that is too complex'),
    );
  });
});

describe('a drawing', () => {
  test('is served as a document that runs and loads nothing', async () => {
    await using service = await pictureService(pictureAt('/1'), () => ({ text: DRAWING, type: 'text/html' }));

    const response = await service.picture(1);

    expect(response.status).toBe(200);
    expect(await response.text()).toBe(DRAWING);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/svg+xml; charset=utf-8',
      'content-security-policy': `${CONFINED}; style-src 'unsafe-inline'; img-src data:; font-src data:`,
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    });
  });

  test.each([
    ['base64', `data:image/svg+xml;base64,${Buffer.from(DRAWING).toString('base64')}`],
    ['percent-encoding', `data:image/svg+xml;utf8,${encodeURIComponent(DRAWING)}`],
    ['plain text', `data:image/svg+xml;utf8,${DRAWING}`],
  ])('in a data URI is decoded: %s', async (_, uri) => {
    await using service = await pictureService(() => ({ image_url: uri }), NOTHING);

    const response = await service.picture(1);

    expect(response.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
    expect(await response.text()).toBe(DRAWING);
    expect(service.host.requests).toEqual([]);
  });
});
