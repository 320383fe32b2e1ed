/** A raster format, which cannot hold a script or a reference. */
export type RasterType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif';

/** Size of a picture in pixels, and whether it has several frames. */
interface RasterSize {
  readonly width: number;
  readonly height: number;
  readonly isMoving: boolean;
}

/** Raster picture as its first bytes describe it; `size` is undefined when they do not say it. */
interface RasterPicture {
  readonly type: RasterType;
  readonly size: RasterSize | undefined;
}

/** Pixels of a picture that a browser may decode: 100 MB in its memory. */
export const MAX_RASTER_PIXELS = 25_000_000;
/** Pixels of a picture with several frames, each of which a browser decodes again and again. */
const MAX_MOVING_PIXELS = 4_194_304;

/** True for a picture that says its size, and is not too large for a browser (Decision 440). */
export function isShowable({ size }: RasterPicture): boolean {
  return (
    size !== undefined && size.width * size.height <= (size.isMoving ? MAX_MOVING_PIXELS : MAX_RASTER_PIXELS)
  );
}

/** Reads the format and the size of a picture without decoding it. Undefined when it is none of the formats. */
export function rasterPictureIn(bytes: Buffer): RasterPicture | undefined {
  const type = rasterTypeOf(bytes);
  if (type === undefined) return undefined;
  const { width, height, isMoving } = READERS[type](bytes) ?? { width: 0, height: 0, isMoving: false };
  return { type, size: width > 0 && height > 0 ? { width, height, isMoving } : undefined };
}

/**
 * Format shown by the first bytes; undefined for anything else, including SVG and HTML. The host's `Content-Type` is
 * ignored, because browsers trust the one we send. Source: the WHATWG standard "MIME Sniffing", 6.1, and for AVIF the
 * AV1 Image File Format, 9.
 */
function rasterTypeOf(bytes: Buffer): RasterType | undefined {
  const begins = (signature: string, at = 0) =>
    bytes.subarray(at, at + signature.length).equals(Buffer.from(signature, 'latin1'));
  if (begins('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (begins('\xff\xd8\xff')) return 'image/jpeg';
  if (begins('GIF87a') || begins('GIF89a')) return 'image/gif';
  if (begins('RIFF') && begins('WEBPVP', 8)) return 'image/webp';
  return begins('ftyp', 4) && brandsOf(bytes).some(brand => AVIF_BRANDS.includes(brand))
    ? 'image/avif'
    : undefined;
}

/** Brands of a single picture and of a sequence. */
const AVIF_BRANDS: readonly string[] = ['avif', 'avis'];
const BRAND_BYTES = 4;
const MAJOR_BRAND_AT = 8;
/** Offset after the version of the major brand. */
const COMPATIBLE_BRANDS_AT = 16;
/** Larger than the box of any real picture. */
const MAX_BOX_BYTES = 256;

/** Major and compatible brands in the first box of an ISO media file. */
function brandsOf(bytes: Buffer): string[] {
  const end = Math.min(bytes.readUInt32BE(0), bytes.length, MAX_BOX_BYTES);
  const brands: string[] = [];
  for (let at = MAJOR_BRAND_AT; at + BRAND_BYTES <= end; at += BRAND_BYTES) {
    const isVersion = at > MAJOR_BRAND_AT && at < COMPATIBLE_BRANDS_AT;
    if (!isVersion) brands.push(bytes.toString('latin1', at, at + BRAND_BYTES));
  }
  return brands;
}

const READERS: Readonly<Record<RasterType, (bytes: Buffer) => RasterSize | undefined>> = {
  'image/png': pngSize,
  'image/jpeg': jpegSize,
  'image/gif': gifSize,
  'image/webp': webpSize,
  'image/avif': avifSize,
};

/** Source: PNG, third edition, 11.2.1 and 11.3.6.1: a moving picture has `acTL` before its first data. */
function pngSize(bytes: Buffer): RasterSize | undefined {
  if (bytes.length < 24 || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined;
  let isMoving = false;
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const name = bytes.toString('latin1', at + 4, at + 8);
    if (name === 'acTL') isMoving = true;
    if (name === 'IDAT') break;
  }
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), isMoving };
}

/** Markers that begin a frame: all from C0 to CF but those of tables and arithmetic conditioning. */
const FRAME = /^c[0-35-79-bd-f]$/;

/** Source: ITU-T T.81, B.2.2. */
function jpegSize(bytes: Buffer): RasterSize | undefined {
  for (let at = 2; at + 9 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) at += 1;
    else if (FRAME.test(marker.toString(16)))
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5), isMoving: false };
    else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return undefined;
}

/** Largest extent of the screen and of all frames, because browsers enlarge the screen to the first frame. */
function gifSize(bytes: Buffer): RasterSize | undefined {
  if (bytes.length < 13) return undefined;
  let width = bytes.readUInt16LE(6);
  let height = bytes.readUInt16LE(8);
  let frames = 0;
  for (let at = 13 + colourTableBytes(bytes[10]); at + 10 <= bytes.length; ) {
    const kind = bytes[at];
    if (kind === 0x2c) {
      frames += 1;
      width = Math.max(width, bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5));
      height = Math.max(height, bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7));
      at = afterBlocks(bytes, at + 11 + colourTableBytes(bytes[at + 9]));
    } else if (kind === 0x21) at = afterBlocks(bytes, at + 2);
    else break;
  }
  return { width, height, isMoving: frames > 1 };
}

function colourTableBytes(flags = 0): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

/** Offset after a chain of blocks, each with its length before it, which an empty one ends. */
function afterBlocks(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== 0) at += 1 + (bytes[at] ?? 0);
  return at + 1;
}

/** Source: RFC 9649, 2.5 to 2.7 and 3.4; RFC 6386, 9.1. */
function webpSize(bytes: Buffer): RasterSize | undefined {
  if (bytes.length < 30) return undefined;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return {
        width: bytes.readUIntLE(24, 3) + 1,
        height: bytes.readUIntLE(27, 3) + 1,
        isMoving: ((bytes[20] ?? 0) & 2) !== 0,
      };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, isMoving: false };
    }
    case 'VP8 ':
      return {
        width: bytes.readUInt16LE(26) & 0x3fff,
        height: bytes.readUInt16LE(28) & 0x3fff,
        isMoving: false,
      };
    default:
      return undefined;
  }
}

/** Boxes with descriptions of pictures, which is where their sizes are searched. Compressed data is not among them. */
const DESCRIBING_BOXES: readonly string[] = ['meta', 'moov'];

/** Largest size that a description names. Source: ISO/IEC 23008-12, 6.5.3 (`ispe`); ISO/IEC 14496-12, 12.1.3 (`av01`). */
function avifSize(bytes: Buffer): RasterSize | undefined {
  let [width, height] = [0, 0];
  const isMoving = brandsOf(bytes).includes('avis');
  const add = (name: string, box: Buffer, read: (at: number) => [width: number, height: number]) => {
    for (let at = box.indexOf(name); at !== -1; at = box.indexOf(name, at + 4)) {
      if (at + 32 > box.length) return;
      const [w, h] = read(at);
      [width, height] = [Math.max(width, w), Math.max(height, h)];
    }
  };
  for (let at = 0; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    // A length of 0 means up to the end, and one of 1 that the real one follows, which only large data has.
    const end = length < 8 ? bytes.length : Math.min(at + length, bytes.length);
    if (DESCRIBING_BOXES.includes(bytes.toString('latin1', at + 4, at + 8))) {
      // Padded, so that a size at the end can be read.
      const box = Buffer.concat([bytes.subarray(at, end), Buffer.alloc(32)]);
      add('ispe', box, from => [box.readUInt32BE(from + 8), box.readUInt32BE(from + 12)]);
      add('av01', box, from => [box.readUInt16BE(from + 28), box.readUInt16BE(from + 30)]);
    }
    at = end;
  }
  return { width, height, isMoving };
}
