import { isObject } from '#lib/json.ts';
import { countMembers } from '#lib/json-text/member-count.ts';

/** Metadata that a token publishes for one id. */
export interface Metadata {
  readonly document: Record<string, unknown>;
  readonly imageUrl: string | null;
  readonly animationUrl: string | null;
  readonly externalUrl: string | null;
}

/** Maximum nesting depth; no real metadata is deeper (Decision 43). */
const MAX_DEPTH = 64;
/** Maximum number of keys and items. The author of a token writes its metadata, and parsing blocks the process. */
const MAX_MEMBERS = 5_000;

/** Accepted schemes of media and page links. `javascript:` and similar schemes are excluded. */
const MEDIA = ['https:', 'http:', 'ipfs:', 'ar:', 'data:'];
const PAGES = ['https:', 'http:', 'ipfs:', 'ar:'];

/**
 * Metadata contained in the URI itself: a `data:` URI (RFC 2397) with a JSON object, or the bare object. Null for any
 * other URI, because nothing is fetched (Decision 43).
 */
export function metadataIn(uri: string | null): Metadata | null {
  const text = uri === null ? null : contentOf(uri);
  return text === null ? null : metadataOf(text);
}

/** Parses a document. Null when it is no JSON object, nested too deep or too large. */
export function metadataOf(text: string): Metadata | null {
  const document = objectIn(text);
  if (document === null) return null;
  return {
    document,
    imageUrl: mediaIn(document, ['image_url', 'image']),
    animationUrl: mediaIn(document, ['animation_url']),
    externalUrl: linkIn(document, ['external_url'], PAGES),
  };
}

/** Text contained in a URI; null for a URI that points elsewhere. */
export function contentOf(uri: string): string | null {
  if (uri.startsWith('{')) return uri;
  const parts = /^data:([^,]*),/i.exec(uri);
  if (parts === null) return null;
  const [head, parameters = ''] = parts;
  const content = percentDecoded(uri.slice(head.length));
  return /;\s*base64\s*$/i.test(parameters) ? Buffer.from(content, 'base64').toString() : content;
}

/** Decodes percent-escapes. Many contracts write unescaped JSON with percent signs, which is returned unchanged. */
function percentDecoded(content: string): string {
  try {
    return decodeURIComponent(content);
  } catch {
    return content;
  }
}

function objectIn(text: string): Record<string, unknown> | null {
  if (countMembers(Buffer.from(text), MAX_MEMBERS) > MAX_MEMBERS) return null;
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) && !isDeep(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** Checks level by level. A malicious document would exhaust the stack, here and in serialisation. */
function isDeep(document: unknown): boolean {
  let level: unknown[] = [document];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === MAX_DEPTH) return true;
    level = level.flatMap(value => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
  return false;
}

/** First of the named members that is a media link with an accepted scheme. */
export function mediaIn(document: Record<string, unknown>, names: readonly string[]): string | null {
  return linkIn(document, names, MEDIA);
}

function linkIn(
  document: Record<string, unknown>,
  names: readonly string[],
  schemes: readonly string[],
): string | null {
  for (const name of names) {
    const value = document[name];
    if (typeof value !== 'string') continue;
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(value)?.[0].toLowerCase();
    if (scheme !== undefined && schemes.includes(scheme)) return value;
  }
  return null;
}
