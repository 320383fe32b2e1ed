/** A format of pixels, which holds no script and no reference to anything else. */
export type RasterType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif';

/**
 * The format that the first bytes show; undefined for everything else, SVG and HTML included. A host's `Content-Type` is
 * not asked, because browsers trust the one that we send.
 * Source: the WHATWG standard "MIME Sniffing", 6.1, and for AVIF the AV1 Image File Format, 9.
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

/** A picture and a sequence of them. */
const AVIF_BRANDS: readonly string[] = ['avif', 'avis'];
const BRAND_BYTES = 4;
const MAJOR_BRAND_AT = 8;
/** Behind the version of the major brand. */
const COMPATIBLE_BRANDS_AT = 16;
/** Far more brands than any picture has. */
const MAX_BOX_BYTES = 256;

/** The brands of an ISO media file, from its first box: the major one and the compatible ones. */
function brandsOf(bytes: Buffer): string[] {
  const end = Math.min(bytes.readUInt32BE(0), bytes.length, MAX_BOX_BYTES);
  const brands: string[] = [];
  for (let at = MAJOR_BRAND_AT; at + BRAND_BYTES <= end; at += BRAND_BYTES) {
    const isVersion = at > MAJOR_BRAND_AT && at < COMPATIBLE_BRANDS_AT;
    if (!isVersion) brands.push(bytes.toString('latin1', at, at + BRAND_BYTES));
  }
  return brands;
}
