import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { GuardedFetch } from '#http/fetch/guarded-fetch.ts';
import { gatewayLinks, type LinkedHostRules, linkedHosts } from '#http/fetch/linked-hosts.ts';
import { turns } from '#http/fetch/turns.ts';
import { entityTag, inOwnBlock } from '#http/representation.ts';
import { type Clock, DAY_MS } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { type DataUri, dataUri } from './data-uri.ts';

interface Picture {
  readonly type: RasterType;
  readonly bytes: Buffer;
  /** Strong entity tag, in quotes. */
  readonly etag: string;
}

/**
 * Result of loading a link. `unsupported`: the scheme is not fetched. `failed`: the host is not allowed, or sent no
 * complete answer of at most 5 MB in time. `not_raster`: the content is not a raster image. `busy`: too many pictures
 * are being fetched.
 */
export type PictureResult =
  | { readonly status: 'ok'; readonly picture: Picture }
  | { readonly status: 'unsupported' | 'failed' | 'not_raster' | 'busy' };

export interface PictureLoader {
  /** Never rejects. A queued fetch is dropped when the `hungUp` signals of all its readers have aborted. */
  load(link: string, hungUp?: AbortSignal): Promise<PictureResult>;
  close(): Promise<void>;
}

/** Time limit of one picture, including redirects. */
const TIMEOUT_MS = 10_000;
/** A host without response headers by then loses its slot to another. */
const HEADERS_WITHIN_MS = 3_000;
const MAX_BYTES = 5_000_000;

const SUCCESS_MS = DAY_MS;
const FAILURE_MS = 60_000;
const CACHE_BYTES = 64 * 2 ** 20;
/** Approximate overhead of a cache entry, apart from its link and its bytes. */
const ENTRY_BYTES = 500;

/** Each fetch holds up to twice `MAX_BYTES` while its parts are joined. */
const FETCHES_AT_ONCE = 6;
const FETCHES_WAITING = 100;
/** Keeps one slow host from taking every slot or filling the queue. */
const FETCHES_PER_HOST = 2;
const WAITING_PER_HOST = 50;
/** Most pictures are on the gateway. Strangers choose which documents it has to find, so it never gets every slot. */
const FETCHES_OF_GATEWAY = 4;

/** Asks hosts with content negotiation for a format that is accepted. */
const ACCEPT = 'image/avif,image/webp,image/png,image/jpeg,image/gif';

/**
 * Loads pictures from `data:` URIs, the IPFS gateway and public hosts over https. Caches pictures, caches failures for
 * a minute, and shares concurrent fetches of a link.
 */
export function pictureLoader(options: {
  /** Base URL without a trailing slash. */
  readonly ipfsGateway: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly rules?: LinkedHostRules | undefined;
}): PictureLoader {
  const { ipfsGateway, clock, log, rules } = options;
  // Image hosts redirect to their other hosts. The gateway may be a private host, so its requests follow no redirect to
  // another host.
  const hosts = linkedHosts({
    ipfsGateway,
    timeoutMs: TIMEOUT_MS,
    headersWithinMs: HEADERS_WITHIN_MS,
    maxBytes: MAX_BYTES,
    redirects: 'any host',
    rules,
    log,
  });
  const gatewayUrlOf = gatewayLinks(ipfsGateway);
  const known = new LRUCache<string, { result: PictureResult; until: number }>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ result }, url) =>
      ENTRY_BYTES + 2 * url.length + (result.status === 'ok' ? result.picture.bytes.length : 0),
  });
  const loads = new Map<string, SharedLoad>();
  const inTurn = turns<PictureResult>({
    atOnce: FETCHES_AT_ONCE,
    waiting: FETCHES_WAITING,
    waitingPerGroup: WAITING_PER_HOST,
  });

  return {
    async load(link, hungUp) {
      const inside = dataUri(link, MAX_BYTES);
      if (inside !== null) return decodedOnce(link, inside);
      const gatewayUrl = gatewayUrlOf(link);
      if (gatewayUrl === null && !/^https?:/i.test(link)) return { status: 'unsupported' };
      const url = gatewayUrl ?? link;
      const before = remembered(url);
      if (before !== undefined) return before;
      const load = loads.get(url) ?? start(url, { isOnGateway: gatewayUrl !== null });
      load.readers.join(hungUp);
      return load.result;
    },
    close: hosts.close,
  };

  function remembered(name: string): PictureResult | undefined {
    const entry = known.get(name);
    return entry !== undefined && clock.now() < entry.until ? entry.result : undefined;
  }

  /** Decodes a `data:` URI once, because every request for the picture brings the same link. */
  function decodedOnce(link: string, inside: DataUri): PictureResult {
    if (inside.isTooLong) return { status: 'failed' };
    const name = `data:${hash('sha256', link)}`;
    const before = remembered(name);
    if (before !== undefined) return before;
    const bytes = inside.decode();
    const result: PictureResult = bytes.length > MAX_BYTES ? { status: 'failed' } : pictureIn(bytes);
    known.set(name, { result, until: clock.now() + SUCCESS_MS });
    return result;
  }

  function start(url: string, { isOnGateway }: { isOnGateway: boolean }): SharedLoad {
    const readers = readersOf();
    const turn = inTurn({
      group: URL.parse(url)?.host ?? '',
      groupAtOnce: isOnGateway ? FETCHES_OF_GATEWAY : FETCHES_PER_HOST,
      task: () => fetched(url, isOnGateway ? hosts.gateway : hosts.anywhere),
      left: readers.allLeft,
    });
    const result = turn.then((found): PictureResult => {
      loads.delete(url);
      if (found === null) return { status: 'busy' };
      known.set(url, {
        result: found,
        until: clock.now() + (found.status === 'ok' ? SUCCESS_MS : FAILURE_MS),
      });
      return found;
    });
    const load = { readers, result };
    loads.set(url, load);
    return load;
  }
}

/** One load of a link, shared by all concurrent requests. */
interface SharedLoad {
  readonly readers: Readers;
  readonly result: Promise<PictureResult>;
}

interface Readers {
  readonly allLeft: AbortSignal;
  /** A reader without a signal never leaves. */
  join(hungUp: AbortSignal | undefined): void;
}

function readersOf(): Readers {
  const allLeft = new AbortController();
  let count = 0;
  const leave = () => {
    count -= 1;
    if (count === 0) allLeft.abort();
  };
  return {
    allLeft: allLeft.signal,
    join(hungUp) {
      count += 1;
      if (hungUp?.aborted === true) leave();
      else hungUp?.addEventListener('abort', leave, { once: true });
    },
  };
}

async function fetched(url: string, host: GuardedFetch): Promise<PictureResult> {
  try {
    const { status, bytes } = await host.fetch({ url, headers: { accept: ACCEPT } });
    return status === 200 ? pictureIn(bytes) : { status: 'failed' };
  } catch {
    // The fetch has logged the reason. The author of the link must not learn more than that it failed.
    return { status: 'failed' };
  }
}

function pictureIn(bytes: Buffer): PictureResult {
  const type = rasterTypeOf(bytes);
  return type === undefined
    ? { status: 'not_raster' }
    : { status: 'ok', picture: { type, bytes: inOwnBlock(bytes), etag: entityTag(bytes) } };
}

/** A raster format, which cannot hold a script or a reference. */
type RasterType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif';

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
