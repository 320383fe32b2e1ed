import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { GuardedFetch } from '#http/fetch/guarded-fetch.ts';
import { gatewayLinks, type LinkedHostRules, linkedHosts } from '#http/fetch/linked-hosts.ts';
import { turns } from '#http/fetch/turns.ts';
import { isShowable, type RasterType, rasterPictureIn } from '#http/raster-picture.ts';
import { entityTag, inOwnBlock } from '#http/representation.ts';
import { type Clock, DAY_MS } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { type DataUri, dataUri } from './data-uri.ts';
import { isDrawable, isDrawing } from './drawing.ts';

interface Picture {
  readonly type: RasterType | typeof DRAWING_TYPE;
  readonly bytes: Buffer;
  /** Strong entity tag, in quotes. */
  readonly etag: string;
}

/**
 * Result of loading a link. `unsupported`: the scheme is not fetched. `failed`: the host is not allowed, or sent no
 * complete answer of at most 5 MB in time. `not_a_picture`: the content is none that is shown. `too_costly`: a browser
 * would need too much memory or time for it. `busy`: too many pictures are being fetched.
 */
export type PictureResult =
  | { readonly status: 'ok'; readonly picture: Picture }
  | { readonly status: 'unsupported' | 'failed' | 'not_a_picture' | 'too_costly' | 'busy' };

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
const ACCEPT = 'image/avif,image/webp,image/png,image/jpeg,image/gif,image/svg+xml;q=0.9';

/** With its encoding, which a document could name differently. */
export const DRAWING_TYPE = 'image/svg+xml; charset=utf-8';

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
  const raster = rasterPictureIn(bytes);
  const type = raster?.type ?? (isDrawing(bytes) ? DRAWING_TYPE : undefined);
  if (type === undefined) return { status: 'not_a_picture' };
  const isAllowed = raster === undefined ? isDrawable(bytes) : isShowable(raster);
  if (!isAllowed) return { status: 'too_costly' };
  return { status: 'ok', picture: { type, bytes: inOwnBlock(bytes), etag: entityTag(bytes) } };
}
