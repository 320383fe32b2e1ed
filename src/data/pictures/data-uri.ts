/**
 * The bytes that lie in a `data:` URI (RFC 2397), in base64 or percent-encoded. Null for any other URI. Its media type
 * is left out: what the bytes are is for the caller to find out.
 */
export function dataUriBytes(uri: string): Buffer | null {
  const [head, parameters = ''] = /^data:([^,]*),/i.exec(uri) ?? [];
  if (head === undefined) return null;
  // One character for each byte: the bytes of a picture are no UTF-8, so decodeURIComponent would throw.
  const content = uri
    .slice(head.length)
    .replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return /;\s*base64\s*$/i.test(parameters) ? Buffer.from(content, 'base64') : Buffer.from(content, 'latin1');
}
