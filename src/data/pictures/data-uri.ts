/** Longest percent-encoded link. Such pictures are small drawings; larger ones use base64. */
const MAX_ENCODED_LENGTH = 256 * 1024;
/** More than any head that `dataUri` accepts. */
const MAX_HEAD_LENGTH = 1_024;

/** A `data:` URI (RFC 2397), in base64 or percent-encoded. */
export interface DataUri {
  /** True when the link is longer than allowed for its picture. Known without decoding. */
  readonly isTooLong: boolean;
  /** Decoded bytes. The media type is ignored: the caller detects the format. */
  decode(): Buffer;
}

/** Reads the head of a `data:` URI with at most `maxBytes` bytes. Null for any other URI. */
export function dataUri(uri: string, maxBytes: number): DataUri | null {
  const [head] = /^data:[^,]{0,1000},/i.exec(uri) ?? [];
  if (head === undefined) return null;
  const isBase64 = /;\s*base64\s*,$/i.test(head);
  const maxLength = isBase64 ? MAX_HEAD_LENGTH + Math.ceil((maxBytes * 4) / 3) : MAX_ENCODED_LENGTH;
  return {
    isTooLong: uri.length > maxLength,
    decode() {
      const content = percentDecoded(uri.slice(head.length));
      return isBase64 ? Buffer.from(content.toString('latin1'), 'base64') : content;
    },
  };
}

const PERCENT = 0x25;

/**
 * Decodes one byte per character or `%xx`. `decodeURIComponent` would throw, because picture bytes are not UTF-8. A `%`
 * without two digits stays.
 */
function percentDecoded(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1, length += 1) {
    const value = bytes[at] === PERCENT ? escapedByte(bytes, at) : undefined;
    bytes[length] = value ?? bytes[at] ?? 0;
    if (value !== undefined) at += 2;
  }
  return bytes.subarray(0, length);
}

function escapedByte(bytes: Buffer, at: number): number | undefined {
  const [high, low] = [hexDigit(bytes[at + 1]), hexDigit(bytes[at + 2])];
  return high === undefined || low === undefined ? undefined : high * 16 + low;
}

function hexDigit(code = 0): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined;
}
