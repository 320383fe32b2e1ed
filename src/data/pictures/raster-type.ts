/** A raster format, which cannot hold a script or a reference. */
export type RasterType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif';

/**
 * Format shown by the first bytes; undefined for anything else, including SVG and HTML. The host's `Content-Type` is
 * ignored, because browsers trust the one we send. Source: the WHATWG standard "MIME Sniffing", 6.1, and for AVIF the
 * AV1 Image File Format, 9.
 */
export function rasterTypeOf(bytes: Buffer): RasterType | undefined {
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
