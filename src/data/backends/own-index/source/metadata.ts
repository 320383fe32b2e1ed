import { isObject } from '#lib/json.ts';

/** What a token publishes of one id. */
export interface Metadata {
  readonly document: Record<string, unknown>;
  readonly imageUrl: string | null;
  readonly animationUrl: string | null;
  readonly externalUrl: string | null;
}

/** Documents nested deeper are nobody's metadata. Decision 43. */
const MAX_DEPTH = 64;

/** What may stand behind a link or a picture; `javascript:` and the like may not. */
const MEDIA = ['https:', 'http:', 'ipfs:', 'ar:', 'data:'];
const PAGES = ['https:', 'http:', 'ipfs:', 'ar:'];

/**
 * The metadata that lies in the URI itself: a `data:` URI (RFC 2397) of a JSON object, or the bare object. Null for
 * every other URI, because nothing is fetched, and for what is no such document. Decision 43.
 */
export function metadataIn(uri: string | null): Metadata | null {
  const text = uri === null ? null : contentOf(uri);
  return text === null ? null : metadataOf(text);
}

/** What a document says; null when it is no JSON object, or one that is made to be deep. */
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

/** The text that lies in a URI itself; null when it lies elsewhere. */
export function contentOf(uri: string): string | null {
  if (uri.startsWith('{')) return uri;
  const parts = /^data:([^,]*),/i.exec(uri);
  if (parts === null) return null;
  const [head, parameters = ''] = parts;
  const content = percentDecoded(uri.slice(head.length));
  return /;\s*base64\s*$/i.test(parameters) ? Buffer.from(content, 'base64').toString() : content;
}

/** Many contracts write their JSON into the URI unescaped, with signs of percent in it. */
function percentDecoded(content: string): string {
  try {
    return decodeURIComponent(content);
  } catch {
    return content;
  }
}

function objectIn(text: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) && !isDeep(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** Level by level, because a document made to be deep would exhaust the stack, here and when it is written out. */
function isDeep(document: unknown): boolean {
  let level: unknown[] = [document];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === MAX_DEPTH) return true;
    level = level.flatMap(value => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
  return false;
}

/** The first of the members that leads to a picture or the like; `javascript:` and its kind do not. */
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
