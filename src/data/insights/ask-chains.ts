import type { Metrics } from '../../http/metrics.ts';
import type { Logger } from '../../lib/logger.ts';
import type { WaitingClients } from '../../lib/request-counters.ts';
import type { Backend, Validity } from '../backends/port/backend.ts';
import { asBackendError, type BackendError } from '../backends/port/backend-error.ts';
import type { InsightsAsk } from '../backends/port/insights-backend.ts';
import { observed, timedOut, unsupported, untilAborted } from '../fallback/ask-chain.ts';
import type { Chain, Failure } from '../fallback/chain.ts';
import { isLastWord } from '../fallback/failure-table.ts';

/** Answer of one back end about some of the chains. */
export interface Part<Result> {
  readonly result: Result;
}

/** A chain with the back end that answered for it. */
export interface AnsweringChain {
  readonly chain: Chain;
  readonly backend: Backend;
  /** Read before the back end was asked. */
  readonly validity: Validity | undefined;
  /** First block of the answer. Present only when earlier blocks of the chain are missing from it. */
  readonly firstBlock?: number;
}

/** Outcome of asking several chains. */
export interface ChainsAnswer<Result> {
  /** All chains asked, in the order of the request. `parts`, `answered` and `failed` keep that order. */
  readonly chains: readonly Chain[];
  readonly parts: readonly Part<Result>[];
  readonly answered: readonly AnsweringChain[];
  /** Chains without such a record at present. A later block may add one. */
  readonly empty: readonly AnsweringChain[];
  /** Chains without an answer, with the failures of each. */
  readonly failed: readonly { readonly chain: Chain; readonly failures: readonly Failure[] }[];
  /** Failures that preceded an answer. */
  readonly passedOver: readonly Failure[];
}

/** Asks a back end about chains. Returns undefined when it does not serve this operation. */
export type AskBackend<Result> = (backend: Backend, ask: InsightsAsk) => Promise<Result> | undefined;

export interface AskChainsOptions {
  readonly signal: AbortSignal;
  readonly clients: WaitingClients;
  /** Time limit of one back end, in milliseconds. */
  readonly timeoutMs: number;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** A chain, the position of its next back end, and the failures so far. */
interface Candidate {
  readonly chain: Chain;
  readonly position: number;
  readonly failures: readonly Failure[];
}

/** A candidate in a group that is asked about in one call. */
interface Member extends Candidate {
  readonly backend: Backend;
  /** As in `AnsweringChain`. */
  readonly firstBlock?: number;
}

/**
 * Asks all chains concurrently. For each chain, back ends are tried in order, by the rules of the failure table. Chains
 * whose next back end is shared are asked about in one call.
 */
export async function askChains<Result>(
  chains: readonly Chain[],
  ask: AskBackend<Result>,
  options: AskChainsOptions,
): Promise<ChainsAnswer<Result>> {
  const order = new Map(chains.map((chain, index) => [chain.id, index]));
  const parts: (Part<Result> & { readonly first: Chain })[] = [];
  const answered: AnsweringChain[] = [];
  const empty: AnsweringChain[] = [];
  let failed: Candidate[] = [];
  const passedOver: Failure[] = [];
  await go(chains.map(chain => ({ chain, position: 0, failures: [] })));
  await goOnWithPartial();
  parts.sort((a, b) => placeOf(a.first) - placeOf(b.first));
  answered.sort((a, b) => placeOf(a.chain) - placeOf(b.chain));
  failed.sort((a, b) => placeOf(a.chain) - placeOf(b.chain));
  return { chains, parts, answered, empty, failed, passedOver };

  function placeOf(chain: Chain): number {
    return order.get(chain.id) ?? 0;
  }

  /** For chains without an answer, asks back ends that lack only early blocks: a partial answer is better than none. */
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
    const { signal, clients, timeoutMs } = options;
    const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const asked = members.map(({ chain, backend: own }) => ({
      chain,
      backend: own,
      validity: own.validity?.(),
      ...(firstBlock === undefined ? {} : { firstBlock }),
    }));
    try {
      signal.throwIfAborted();
      const chainIds = members.map(({ chain }) => chain.id);
      const pending = ask(backend, { chainIds, signal: until, clients });
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
    if (isLastWord(error) || options.signal.aborted) failed.push(...next);
    else await go(next);
  }
}

/**
 * The chain's first back end that failed only because its early blocks are not indexed. No back end is asked after it.
 */
function partialMember({ chain, failures }: Candidate): Member | undefined {
  const last = failures.at(-1)?.error;
  if (last !== undefined && isLastWord(last)) return undefined;
  const backend = failures.find(({ error }) => error.reason === 'not_indexed')?.backend;
  const partial = backend?.partial?.();
  if (backend === undefined || partial === undefined) return undefined;
  const { insights, firstBlock } = partial;
  return { chain, failures, position: chain.backends.length, backend: { ...backend, insights }, firstBlock };
}
