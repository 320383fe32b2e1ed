import { expect, test } from 'vitest';
import { rasterTypeOf } from '#data/pictures/picture-loader.ts';
import { PNG } from './picture-service.ts';

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
  expect(rasterTypeOf(bytes)).toBe(type);
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
  expect(rasterTypeOf(latin(text))).toBeUndefined();
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
  expect(rasterTypeOf(bytes)).toBeUndefined();
});
