import type {
  Answer,
  Ask,
  Backend,
  BodyOf,
  RequestOf,
  Validity,
} from '../../src/data/backends/port/backend.ts';
import type { responseCache } from '../../src/data/cache/response-cache.ts';
import { explorer } from '../../src/data/explorer/operations.ts';
import type { Lifetimes } from '../../src/data/serve/lifetime.ts';
import { uncompressed } from '../../src/http/representation.ts';
import type { Logger } from '../../src/lib/logger.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { answererOver, backend, chain, emptyPage, hashOf, told } from './answer-support.ts';

export type Page = Answer<BodyOf<'listTokenTransfers'>>;
type TransferAsk = (request: RequestOf<'listTransactionTokenTransfers'>, ask: Ask) => Promise<Page>;

/** One chain with one back end whose answers the test chooses; `loads` counts its requests. */
export function setUp({
  answer = async () => emptyPage(),
  validity,
  isMetered = false,
  dataId,
  clock = manualClock(),
  more = [],
  ...rest
}: {
  answer?: TransferAsk;
  validity?: () => Validity;
  isMetered?: boolean;
  /** Options of the back end. */
  dataId?: string;
  clock?: ManualClock;
  /** Chains after the first. */
  more?: Backend[];
  maxBytes?: number;
  lifetimes?: Lifetimes;
  cache?: ReturnType<typeof responseCache>;
  log?: Logger;
} = {}) {
  const state = { loads: 0, answer };
  const count: TransferAsk = (request, ask) => {
    state.loads += 1;
    return state.answer(request, ask);
  };
  const first = backend({
    name: 'first',
    isMetered,
    answers: {
      listTokenTransfers: (_, ask) => count({ path: { transaction_hash: '' }, query: {} }, ask),
      listTransactionTokenTransfers: count,
    },
    ...(validity === undefined ? {} : { validity }),
    ...(dataId === undefined ? {} : { dataId }),
  });
  const chains = [chain(1, first), ...more.map(one => chain(one.chainId, one))];
  const handlers = explorer(answererOver(chains, { clock, ...rest }).serve);
  const feed = (headers: Record<string, string> = {}, query: RequestOf<'listTokenTransfers'>['query'] = {}) =>
    told(handlers.listTokenTransfers({ path: {}, query }, { headers }));
  const record = (
    query: RequestOf<'listTransactionTokenTransfers'>['query'] = {},
    hash = hashOf('a'),
    headers: Record<string, string> = {},
  ) => told(handlers.listTransactionTokenTransfers({ path: { transaction_hash: hash }, query }, { headers }));
  return { state, clock, feed, record };
}

/** A record with exactly as many confirmations as the chain requires. */
export const final = async () => ({ ...emptyPage(), confirmations: 12 });

/** A final answer of the first back end: fresh for a second, kept for a minute. */
export function storedEntry(clock: ManualClock, identity: Buffer) {
  return {
    representation: uncompressed(identity),
    chainIds: [1],
    backends: ['first'],
    storedAt: clock.now(),
    freshUntil: clock.now() + 1_000,
    keepUntil: clock.now() + 60_000,
    final: true,
  };
}
