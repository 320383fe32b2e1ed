import type { Metrics } from '../../http/metrics.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Backend, Validity } from '../backends/port/backend.ts';
import { asBackendError, BackendError } from '../backends/port/backend-error.ts';
import type { Chain, Failure } from './chain.ts';
import { endsChain } from './failure-table.ts';

/** A chain with the back end that answered for it. */
export interface AnsweringChain {
  readonly chain: Chain;
  readonly backend: Backend;
  /** Read before the back end was asked. */
  readonly validity: Validity | undefined;
  /** First block of the answer. Present only when earlier blocks of the chain are missing from it. */
  readonly firstBlock?: number | undefined;
}

/** Answer of one back end about some of the chains. */
interface Part<Result> {
  readonly result: Result;
  /** The first of these chains. */
  readonly first: Chain;
}

/** Outcome of asking several chains. */
export interface ChainsAnswer<Result> {
  /** All chains asked, in the order of the request. */
  readonly chains: readonly Chain[];
  /** Ordered by the first chain of each, as in the request. */
  readonly parts: readonly Part<Result>[];
  /** In the order of the request, like `failed`. */
  readonly answered: readonly AnsweringChain[];
  /** Chains without such a record at present. A later block may add one. */
  readonly empty: readonly AnsweringChain[];
  /** Chains without an answer, with the failures of each. */
  readonly failed: readonly FailedChain[];
  /** Failures that preceded an answer. */
  readonly passedOver: readonly Failure[];
}

interface FailedChain {
  readonly chain: Chain;
  readonly failures: readonly Failure[];
}

/** Asks a back end about chains. Returns undefined when it does not serve this operation. */
export type AskBackend<Result> = (
  backend: Backend,
  ask: { readonly chainIds: readonly number[]; readonly signal: AbortSignal },
) => Promise<Result> | undefined;

export interface AskChainsOptions {
  /** Aborts the whole. */
  readonly signal: AbortSignal;
  /** Time limit of one back end, in milliseconds, so that one that hangs leaves time for the next. */
  readonly timeoutMs: number;
  /** True when an answer without the chain's early blocks is better than none; false when absent. */
  readonly takesPartial?: boolean;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** A chain, the position of its next back end, and the failures so far. */
interface Candidate extends FailedChain {
  readonly position: number;
}

/** A candidate in a group that is asked about in one call. */
interface Member extends Candidate {
  readonly backend: Backend;
  /** As in `AnsweringChain`. */
  readonly firstBlock?: number;
}

/**
 * Asks all chains concurrently. For each chain, back ends are tried in order: the next one is asked when one is
 * unavailable or does not serve the operation; `not_found` and `rejected` are final for the chain. Chains whose next
 * back end is shared are asked about in one call.
 */
export async function askChains<Result>(
  chains: readonly Chain[],
  ask: AskBackend<Result>,
  options: AskChainsOptions,
): Promise<ChainsAnswer<Result>> {
  const byOrder = (one: Chain, other: Chain) => chains.indexOf(one) - chains.indexOf(other);
  const parts: Part<Result>[] = [];
  const answered: AnsweringChain[] = [];
  const empty: AnsweringChain[] = [];
  let failed: Candidate[] = [];
  const passedOver: Failure[] = [];
  await go(chains.map(chain => ({ chain, position: 0, failures: [] })));
  if (options.takesPartial === true) await goOnWithPartial();
  parts.sort((a, b) => byOrder(a.first, b.first));
  answered.sort((a, b) => byOrder(a.chain, b.chain));
  failed.sort((a, b) => byOrder(a.chain, b.chain));
  return { chains, parts, answered, empty, failed, passedOver };

  async function goOnWithPartial(): Promise<void> {
    const silent = failed;
    failed = [];
    await Promise.all(
      silent.map(async candidate => {
        const member = partialMember(candidate);
        if (member === undefined) failed.push(candidate);
        else await askTogether([member]);
      }),
    );
  }

  async function go(candidates: readonly Candidate[]): Promise<void> {
    const groups = new Map<string, [Member, ...Member[]]>();
    for (const candidate of candidates) {
      const backend = candidate.chain.backends[candidate.position];
      if (backend === undefined) {
        failed.push(candidate);
        continue;
      }
      const key = backend.sharedAs ?? backend.name;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [{ ...candidate, backend }]);
      else group.push({ ...candidate, backend });
    }
    await Promise.all([...groups.values()].map(askTogether));
  }

  async function askTogether(members: readonly [Member, ...Member[]]): Promise<void> {
    const [{ backend, chain: first, firstBlock }] = members;
    const { signal, timeoutMs } = options;
    const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const asked = members.map(({ chain, backend: own }) => ({
      chain,
      backend: own,
      validity: own.validity?.(),
      firstBlock,
    }));
    try {
      signal.throwIfAborted();
      const chainIds = members.map(({ chain }) => chain.id);
      const pending = ask(backend, { chainIds, signal: until });
      if (pending === undefined) throw unsupported();
      const result = await observed({ ...options, signal: until }, backend, untilAborted(pending, until));
      parts.push({ result, first });
      answered.push(...asked);
      passedOver.push(...members.flatMap(({ failures }) => failures));
    } catch (cause) {
      const error = until.aborted ? timedOut(cause) : asBackendError(cause);
      // One chain's failure must not fail the others that share the back end. An outage affects all of them anyway.
      if (members.length > 1 && error.kind !== 'unavailable') {
        await Promise.all(members.map(member => askTogether([member])));
        return;
      }
      if (error.kind === 'not_found') empty.push(...asked);
      await failedWith(members, error);
    }
  }

  async function failedWith(members: readonly Member[], error: BackendError): Promise<void> {
    const next = members.map(({ chain, position, failures, backend }) => ({
      chain,
      position: position + 1,
      failures: [...failures, { chain, backend, error }],
    }));
    if (endsChain(error) || options.signal.aborted) failed.push(...next);
    else await go(next);
  }
}

/**
 * The chain's first back end that failed only because its early blocks are not indexed. No back end is asked after it.
 */
function partialMember({ chain, failures }: Candidate): Member | undefined {
  const last = failures.at(-1)?.error;
  if (last !== undefined && endsChain(last)) return undefined;
  const backend = failures.find(({ error }) => error.reason === 'not_indexed')?.backend;
  const partial = backend?.partial?.();
  if (backend === undefined || partial === undefined) return undefined;
  const { insights, firstBlock } = partial;
  return { chain, failures, position: chain.backends.length, backend: { ...backend, insights }, firstBlock };
}

/**
 * Settles like `pending`, or rejects as soon as the signal aborts. A back end that ignores the signal must not block a
 * load.
 */
function untilAborted<Value>(pending: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  return promise;
}

/** Failure of a back end that does not serve the operation. */
export function unsupported(): BackendError {
  return new BackendError('unsupported', 'no_such_answer', 'the back end has no such answer');
}

/** Failure of a back end whose deadline has passed. */
function timedOut(cause: unknown): BackendError {
  return new BackendError('unavailable', 'timeout', 'the back end did not answer in time', { cause });
}

/**
 * Counts one call to a back end by its outcome, `ok` or the kind of the failure, and passes the outcome on. Unexpected
 * errors are logged here, because clients hear only that the back end failed. After an abort no client waits for the
 * outcome, and the database may be closed.
 */
async function observed<Result>(
  { metrics, log, signal }: Pick<AskChainsOptions, 'metrics' | 'log' | 'signal'>,
  backend: Backend,
  call: Promise<Result>,
): Promise<Result> {
  const startedAt = performance.now();
  const count = (outcome: string) =>
    metrics.backendCall({
      chain: String(backend.chainId),
      backend: backend.name,
      outcome,
      seconds: (performance.now() - startedAt) / 1000,
    });
  try {
    const answer = await call;
    count('ok');
    return answer;
  } catch (error) {
    count(asBackendError(error).kind);
    if (!(error instanceof BackendError) && !signal.aborted) {
      log.error({ err: error, chainId: backend.chainId, backend: backend.name }, 'a back end failed');
    }
    throw error;
  }
}
