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
  /** Never rejects. */
  load(link: string): Promise<PictureResult>;
  close(): Promise<void>;
}

/** One picture, from the first question to the last byte, redirects included. */
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 5_000_000;

const SUCCESS_MS = DAY_MS;
const FAILURE_MS = 60_000;
const CACHE_BYTES = 64 * 2 ** 20;
/** What an entry takes beside its link and its bytes, about. */
const ENTRY_BYTES = 500;

/** Each holds up to twice `MAX_BYTES` while its parts are put together. */
const FETCHES_AT_ONCE = 6;
const FETCHES_WAITING = 100;

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
    timeoutMs: TIMEOUT_MS,
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
  const running = new Map<string, Promise<PictureResult>>();
  const inTurn = turns<PictureResult>({ atOnce: FETCHES_AT_ONCE, waiting: FETCHES_WAITING });

  return {
    async load(link) {
      const inside = dataUri(link, MAX_BYTES);
      if (inside !== null) return decodedOnce(link, inside);
      const gatewayUrl = gatewayUrlOf(link);
      if (gatewayUrl === null && !/^https?:/i.test(link)) return { status: 'unsupported' };
      const url = gatewayUrl ?? link;
      return (
        remembered(url) ??
        running.get(url) ??
        start(url, gatewayUrl === null ? hosts.anywhere : hosts.gateway)
      );
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

  async function start(url: string, host: GuardedFetch): Promise<PictureResult> {
    const turn = inTurn(() => fetched(url, host));
    if (turn === null) return { status: 'busy' };
    const loading = turn.then(result => {
      known.set(url, { result, until: clock.now() + (result.status === 'ok' ? SUCCESS_MS : FAILURE_MS) });
      return result;
    });
    running.set(url, loading);
    return loading.finally(() => running.delete(url));
  }
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
