import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { GuardedFetch } from '../../http/fetch/guarded-fetch.ts';
import { gatewayLinks, type LinkedHostRules, linkedHosts } from '../../http/fetch/linked-hosts.ts';
import { turns } from '../../http/fetch/turns.ts';
import { entityTag } from '../../http/representation.ts';
import { type Clock, DAY_MS } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { type DataUri, dataUri } from './data-uri.ts';
import { type RasterType, rasterTypeOf } from './raster-type.ts';

export interface Picture {
  readonly type: RasterType;
  readonly bytes: Buffer;
  /** Quoted, strong. */
  readonly etag: string;
}

/**
 * What is behind a link. `unsupported` its scheme is not fetched; `failed` there is no host that may be asked, or no
 * complete answer of at most 5 MB in time; `not_raster` there is something else than a picture of pixels; `busy` too many
 * pictures are being fetched.
 */
export type PictureResult =
  | { readonly status: 'ok'; readonly picture: Picture }
  | { readonly status: 'unsupported' | 'failed' | 'not_raster' | 'busy' };

export interface PictureLoader {
  /** Never rejects. A fetch that waits for its turn is given up when `hungUp` of all its readers has aborted. */
  load(link: string, hungUp?: AbortSignal): Promise<PictureResult>;
  close(): Promise<void>;
}

/** One picture, from the first question to the last byte, redirects included. */
const TIMEOUT_MS = 10_000;
/** A host that does not answer by then leaves its turn to another. */
const HEADERS_WITHIN_MS = 3_000;
const MAX_BYTES = 5_000_000;

const SUCCESS_MS = DAY_MS;
const FAILURE_MS = 60_000;
const CACHE_BYTES = 64 * 2 ** 20;
/** What an entry takes beside its link and its bytes, about. */
const ENTRY_BYTES = 500;

/** Each holds up to twice `MAX_BYTES` while its parts are put together. */
const FETCHES_AT_ONCE = 6;
const FETCHES_WAITING = 100;
/** One slow host neither takes every turn nor fills the queue. */
const FETCHES_PER_HOST = 2;
const WAITING_PER_HOST = 50;
/** Most pictures are on the gateway. Strangers name documents that it has to look for, so it does not get every turn. */
const FETCHES_OF_GATEWAY = 4;

/** Hosts that negotiate then prefer what is shown. */
const ACCEPT = 'image/avif,image/webp,image/png,image/jpeg,image/gif';

/**
 * Reads pictures out of their `data:` URI, from the ipfs gateway or from public hosts over https. Remembers what came,
 * failures for a minute, and fetches a link once at a time.
 */
export function pictureLoader(options: {
  /** Without a slash at its end. */
  readonly ipfsGateway: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly rules?: LinkedHostRules | undefined;
  readonly cacheBytes?: number;
}): PictureLoader {
  const { ipfsGateway, clock, log, rules, cacheBytes = CACHE_BYTES } = options;
  // Image hosts send clients on to others of theirs. The gateway may ask private hosts, so it stays where it is.
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
    maxSize: cacheBytes,
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

  /** What lies in a link is decoded once, because the link comes with every request for its picture. */
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

/** A load of one link for everybody who asks for it meanwhile. */
interface SharedLoad {
  readonly readers: Readers;
  readonly result: Promise<PictureResult>;
}

interface Readers {
  readonly allLeft: AbortSignal;
  /** Without a signal the reader stays. */
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
    // The fetch has logged why. A stranger who wrote the link learns no more than that it failed.
    return { status: 'failed' };
  }
}

function pictureIn(bytes: Buffer): PictureResult {
  const type = rasterTypeOf(bytes);
  return type === undefined
    ? { status: 'not_raster' }
    : { status: 'ok', picture: { type, bytes, etag: entityTag(bytes) } };
}
