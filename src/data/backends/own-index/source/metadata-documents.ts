import { LRUCache } from 'lru-cache';
import { gatewayLinks } from '#http/fetch/linked-hosts.ts';
import { turns } from '#http/fetch/turns.ts';
import { type Clock, DAY_MS } from '#lib/clock.ts';
import { contentOf } from './metadata.ts';

/** Reason for a missing document. `pending` means that it may arrive soon. */
type DocumentFailure =
  | 'pending'
  | 'unsupported'
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'too_long'
  | 'unreadable';

export type FetchedDocument =
  | { readonly status: 'ok'; readonly text: string }
  | { readonly status: DocumentFailure };

/** Fetches over https, from any host or from the operator's gateway. Never rejects. */
export type FetchDocument = (url: string, from: 'anywhere' | 'gateway') => Promise<FetchedDocument>;

/** The documents that NFT contracts link to. */
export interface MetadataDocuments {
  /** Reads a document. Never rejects and has no time limit of its own. */
  read(uri: string): Promise<FetchedDocument>;
  /** Converts a link for browsers. Links to ipfs lead to the gateway; others stay unchanged. */
  browsable(link: string): string;
}

/** Documents of an index without a fetcher: only those contained in their own URI. */
export const INSIDE_ONLY: MetadataDocuments = {
  async read(uri) {
    const text = contentOf(uri);
    return text === null ? { status: 'unsupported' } : { status: 'ok', text };
  },
  browsable: link => link,
};

const SUCCESS_MS = DAY_MS;
const FAILURE_MS = 60_000;
const CACHE_BYTES = 32 * 2 ** 20;
/** Approximate memory of an entry without its texts, in bytes. */
const ENTRY_BYTES = 500;

const FETCHES_AT_ONCE = 16;
const FETCHES_WAITING = 200;
/** Limits per host, so that a slow one neither uses all fetches nor fills the queue. */
const FETCHES_PER_HOST = 4;
const WAITING_PER_HOST = 100;
/**
 * Limit for the gateway, which has most documents. It searches long for some of them, so it may not use all fetches.
 */
const FETCHES_OF_GATEWAY = 12;

/** Reads documents from their own URI, from the ipfs gateway or over https, and caches them (Decision 91). */
export function metadataDocuments(options: {
  fetchDocument: FetchDocument;
  /** Without a slash at its end. */
  ipfsGateway: string;
  clock: Clock;
}): MetadataDocuments {
  const { fetchDocument, ipfsGateway, clock } = options;
  const gatewayUrlOf = gatewayLinks(ipfsGateway);
  const known = new LRUCache<string, { found: FetchedDocument; until: number }>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ found }, url) =>
      ENTRY_BYTES + 2 * (url.length + (found.status === 'ok' ? found.text.length : 0)),
  });
  const running = new Map<string, Promise<FetchedDocument>>();
  const inTurn = turns<FetchedDocument>({
    atOnce: FETCHES_AT_ONCE,
    waiting: FETCHES_WAITING,
    waitingPerGroup: WAITING_PER_HOST,
  });

  return {
    async read(uri) {
      const inside = await INSIDE_ONLY.read(uri);
      if (inside.status === 'ok') return inside;
      const gatewayUrl = gatewayUrlOf(uri);
      if (gatewayUrl === null && !/^https?:/i.test(uri)) return { status: 'unsupported' };
      const url = gatewayUrl ?? uri;
      const entry = known.get(url);
      if (entry !== undefined && clock.now() < entry.until) return entry.found;
      return running.get(url) ?? load(url, gatewayUrl === null ? 'anywhere' : 'gateway');
    },
    browsable: link => gatewayUrlOf(link) ?? link,
  };

  async function load(url: string, from: 'anywhere' | 'gateway'): Promise<FetchedDocument> {
    const turn = inTurn({
      group: URL.parse(url)?.host ?? '',
      groupAtOnce: from === 'gateway' ? FETCHES_OF_GATEWAY : FETCHES_PER_HOST,
      task: () => fetchDocument(url, from),
    });
    const loading = turn.then((found): FetchedDocument => {
      if (found === null) return { status: 'pending' };
      known.set(url, { found, until: clock.now() + (found.status === 'ok' ? SUCCESS_MS : FAILURE_MS) });
      return found;
    });
    running.set(url, loading);
    return loading.finally(() => running.delete(url));
  }
}
