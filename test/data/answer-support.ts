import type { EncodedBody } from '../../src/contract/contracts/operations.ts';
import type { Answer, Answers, Backend, BodyOf, Validity } from '../../src/data/backends/port/backend.ts';
import { BackendError, type BackendErrorKind } from '../../src/data/backends/port/backend-error.ts';
import { responseCache } from '../../src/data/cache/response-cache.ts';
import { type Chain, chainKey } from '../../src/data/fallback/chain.ts';
import { type DataHandlersOptions, dataHandlers } from '../../src/data/handlers.ts';
import type { Lifetimes } from '../../src/data/serve/lifetime.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';

export const LIFETIMES: Lifetimes = {
  finalMs: 86_400_000,
  movingMs: 3_600_000,
  unsettledMs: 10_000,
  overrides: {},
};

/** A back end that answers from memory. */
export function backend(options: {
  name: string;
  answers: Answers;
  chainId?: number;
  kind?: Backend['kind'];
  isMetered?: boolean;
  dataId?: string;
  validity?: () => Validity;
}): Backend {
  const { chainId = 1, kind = 'index', isMetered = false, validity, dataId, name, answers } = options;
  return {
    kind,
    name,
    chainId,
    isMetered,
    answers,
    ...(dataId === undefined ? {} : { dataId }),
    ...(validity === undefined ? {} : { validity }),
    status: () => ({ ready: true, head: undefined, lag: undefined }),
  };
}

export function chain(id: number, ...backends: Backend[]): Chain {
  const key = chainKey(id, 'settings', backends);
  return {
    id,
    key,
    name: `Chain ${id}`,
    native: { symbol: 'ETH', decimals: 18 },
    confirmations: 12,
    backends,
  };
}

/** A failure of each kind, with a reason that belongs to it. */
export function failure(kind: BackendErrorKind): BackendError {
  const reasons = {
    unavailable: 'failed',
    unsupported: 'no_such_answer',
    not_found: 'no_such_record',
    rejected: 'bad_input',
  } as const;
  return new BackendError(kind, reasons[kind], `it was ${kind}`, { cause: new Error('secret-key-123') });
}

/** An answerer over the given chains, with a stopped clock. */
export function answererOver(
  chains: readonly Chain[],
  overrides: Partial<DataHandlersOptions> & { clock?: ManualClock; maxBytes?: number } = {},
) {
  const { maxBytes = 1_000_000, ...rest } = overrides;
  const clock = overrides.clock ?? manualClock();
  const log = createLogger({ level: 'silent' });
  const { serve, insights, close } = dataHandlers({
    chains,
    cache: responseCache({ maxBytes, clock }),
    lifetimes: LIFETIMES,
    // Longer than a test may take, so a test whose request waits for its deadline fails.
    timeoutMs: 120_000,
    staggerMs: 400,
    log,
    metrics: createMetrics(),
    ...rest,
    clock,
  });
  return { serve, insights, close, clock };
}

/** An empty page or one of made-up blocks: only its identity matters here. */
export function emptyPage(): Answer<BodyOf<'listTokenTransfers'>> {
  return { body: { items: [], next_page_params: null } };
}

/** Hash of a transaction that repeats one digit. */
export const hashOf = (digit: string) => `0x${digit.repeat(64)}`;

interface Told {
  headers?: Readonly<Record<string, string>>;
}

/** Headers and text body of a handler's answer. */
export async function told(
  answer: Promise<Told & ({ body: unknown } | { encoded: EncodedBody<unknown> })>,
): Promise<Record<string, string>> {
  const found = await answer;
  const body =
    'encoded' in found ? found.encoded.representation.identity.toString() : JSON.stringify(found.body);
  return { ...found.headers, body };
}
