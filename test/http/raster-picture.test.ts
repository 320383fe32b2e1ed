import { expect, test } from 'vitest';
import { isShowable, rasterPictureIn } from '#http/raster-picture.ts';
import { PNG } from '../data/pictures/picture-service.ts';

const latin = (text: string) => Buffer.from(text, 'latin1');

/** The first box of an ISO media file, and the bytes after it. */
function mediaFile(brands: readonly string[], rest = 'moov'): Buffer {
  const [major = '', ...compatible] = brands;
  const box = latin(`\0\0\0\0ftyp${major}\0\0\0\0${compatible.join('')}`);
  box.writeUInt32BE(box.length);
  return Buffer.concat([box, latin(rest)]);
}

test.each([
  ['a PNG', PNG, 'image/png'],
  ['a JPEG with JFIF', latin('\xff\xd8\xff\xe0\0\x10JFIF'), 'image/jpeg'],
  ['a JPEG with Exif', latin('\xff\xd8\xff\xe1\0\x10Exif'), 'image/jpeg'],
  ['a GIF of 1987', latin('GIF87a\x01\0\x01\0'), 'image/gif'],
  ['a GIF', latin('GIF89a\x01\0\x01\0'), 'image/gif'],
  ['a WebP', latin('RIFF\x1a\0\0\0WEBPVP8L'), 'image/webp'],
  ['an AVIF', mediaFile(['avif', 'mif1', 'miaf']), 'image/avif'],
  ['an AVIF with a generic main brand', mediaFile(['mif1', 'avif', 'miaf']), 'image/avif'],
  ['a moving AVIF', mediaFile(['avis', 'msf1']), 'image/avif'],
])('%s is recognised by its first bytes', (_, bytes, type) => {
  expect(rasterPictureIn(bytes)?.type).toBe(type);
});

test.each([
  ['nothing', ''],
  ['the half of a signature', '\x89PNG\r\n'],
  ['a PNG behind a blank', ' \x89PNG\r\n\x1a\n'],
  ['a GIF without a known version', 'GIF00a'],
  ['a sound', 'RIFF\x1a\0\0\0WAVEfmt '],
  ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['a page', '<!doctype html>'],
  ['a script', 'alert(1)'],
  ['a document', '%PDF-1.7'],
  ['a bitmap', 'BM\x3a\0\0\0'],
  ['an icon', '\0\0\x01\0\x01\0'],
  ['a TIFF', 'II*\0'],
  ['an archive', 'PK\x03\x04'],
])('%s is not a raster picture', (_, text) => {
  expect(rasterPictureIn(latin(text))).toBeUndefined();
});

test.each([
  ['a film', mediaFile(['isom', 'iso2', 'mp41'])],
  ['a HEIC', mediaFile(['heic', 'mif1'])],
  ['a film with avif after its first box', mediaFile(['isom', 'iso2'], 'avifavif')],
  ['a film whose version is avif', latin('\0\0\0\x10ftypisomavif')],
  ['a box that claims to go on', latin('\xff\xff\xff\xffftypisom')],
  ['a box without brands', latin('\0\0\0\x08ftyp')],
  ['a box that ends within a brand', latin('\0\0\0\x0bftypavi')],
])('%s is not AVIF', (_, bytes) => {
  expect(rasterPictureIn(bytes)).toBeUndefined();
});

/** Number as bytes, from that of the most value; `least` begins with that of the least. */
const most = (bytes: number, value: number) =>
  Buffer.from(value.toString(16).padStart(2 * bytes, '0'), 'hex');
const least = (bytes: number, value: number) => most(bytes, value).reverse();
const chunk = (name: string, data = Buffer.alloc(0)) =>
  Buffer.concat([most(4, data.length), latin(name), data, Buffer.alloc(4)]);
const box = (name: string, ...data: Buffer[]) => {
  const content = Buffer.concat(data);
  return Buffer.concat([most(4, 8 + content.length), latin(name), content]);
};

const pngOf = (width: number, height: number, ...before: Buffer[]) =>
  Buffer.concat([
    latin('\x89PNG\r\n\x1a\n'),
    chunk('IHDR', Buffer.concat([most(4, width), most(4, height), Buffer.alloc(5)])),
    ...before,
    chunk('IDAT', Buffer.alloc(9)),
    chunk('acTL', Buffer.alloc(8)),
  ]);
const gifFrame = (width: number, height: number) =>
  Buffer.concat([latin(',\0\0\0\0'), least(2, width), least(2, height), latin('\x80abcdef\x02\x01x\0')]);
const gifOf = (width: number, height: number, ...frames: Buffer[]) =>
  Buffer.concat([
    latin('GIF89a'),
    least(2, width),
    least(2, height),
    latin('\0\0\0!\xf9\x04abcd\0'),
    ...frames,
    latin(';'),
  ]);
const jpegOf = (width: number, height: number) =>
  Buffer.concat([
    latin('\xff\xd8\xff\xe0\0\x10JFIF'),
    Buffer.alloc(10),
    latin('\xff\xff\xc2\0\x11\x08'),
    most(2, height),
    most(2, width),
    Buffer.alloc(9),
  ]);
const webpOf = (kind: string, data: Buffer) => Buffer.concat([latin(`RIFF0000WEBP${kind}0000`), data]);
const avifOf = (width: number, height: number, name = 'avif') =>
  Buffer.concat([
    mediaFile([name], ''),
    box('free'),
    box(
      'meta',
      Buffer.alloc(4),
      box('iprp', box('ipco', box('ispe', Buffer.alloc(4), most(4, width), most(4, height)))),
    ),
    box('mdat', latin('ispe\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff')),
  ]);

test.each([
  ['a PNG', pngOf(300, 70_000), { width: 300, height: 70_000, isMoving: false }],
  ['a moving PNG', pngOf(3, 4, chunk('acTL', Buffer.alloc(8))), { width: 3, height: 4, isMoving: true }],
  ['a JPEG', jpegOf(640, 480), { width: 640, height: 480, isMoving: false }],
  ['a GIF', gifOf(20, 10, gifFrame(20, 10)), { width: 20, height: 10, isMoving: false }],
  ['a moving GIF', gifOf(20, 10, gifFrame(9, 9), gifFrame(9, 9)), { width: 20, height: 10, isMoving: true }],
  ['a GIF with a larger frame', gifOf(1, 1, gifFrame(900, 5)), { width: 900, height: 5, isMoving: false }],
  [
    'a WebP',
    webpOf('VP8 ', Buffer.concat([latin('abc\x9d\x01\x2a'), least(2, 0x4000 + 70), least(2, 80)])),
    { width: 70, height: 80, isMoving: false },
  ],
  [
    'a lossless WebP',
    webpOf('VP8L', Buffer.concat([latin('\x2f'), least(4, (79 << 14) | 69), Buffer.alloc(9)])),
    { width: 70, height: 80, isMoving: false },
  ],
  [
    'a moving WebP',
    webpOf('VP8X', Buffer.concat([latin('\x02\0\0\0'), least(3, 69), least(3, 79)])),
    { width: 70, height: 80, isMoving: true },
  ],
  ['an AVIF', avifOf(5_000, 4_000), { width: 5_000, height: 4_000, isMoving: false }],
  ['a moving AVIF', avifOf(50, 40, 'avis'), { width: 50, height: 40, isMoving: true }],
])('the size of %s is read', (_, bytes, size) => {
  expect(rasterPictureIn(bytes)?.size).toEqual(size);
});

test.each([
  ['a PNG of 400 million pixels', pngOf(20_000, 20_000)],
  ['a moving GIF of 9 million pixels', gifOf(3_000, 3_000, gifFrame(1, 1), gifFrame(1, 1))],
  ['a GIF whose frame has 400 million pixels', gifOf(1, 1, gifFrame(20_000, 20_000))],
  ['an AVIF of 100 million pixels', avifOf(10_000, 10_000)],
  ['a JPEG that ends before its size', jpegOf(1, 1).subarray(0, 24)],
  ['a PNG without a size', pngOf(0, 20)],
  ['an AVIF without a size', mediaFile(['avif'])],
])('%s is not shown', (_, bytes) => {
  const picture = rasterPictureIn(bytes);

  expect(picture).toBeDefined();
  expect(picture && isShowable(picture)).toBe(false);
});

test('a picture of 25 million pixels is shown', () => {
  const picture = rasterPictureIn(pngOf(5_000, 5_000));

  expect(picture && isShowable(picture)).toBe(true);
});

test('the first bytes of any length are read without an error', () => {
  for (const whole of [pngOf(3, 4), jpegOf(3, 4), gifOf(3, 4, gifFrame(3, 4)), avifOf(3, 4)])
    for (let length = 0; length < whole.length; length++)
      expect(() => rasterPictureIn(whole.subarray(0, length))).not.toThrow();
});
