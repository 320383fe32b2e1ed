import type { Caller } from '../../contract/contracts/operations.ts';
import { HttpError } from '../../http/errors.ts';
import { canonicalJson } from '../../lib/json.ts';
import type { WaitingClients } from '../../lib/request-counters.ts';
import type { Backend } from '../backends/port/backend.ts';
import type { InsightsAsk, InsightsOperationId } from '../backends/port/insights-backend.ts';
import { askChains, type ChainsAnswer } from '../fallback/ask-chains.ts';
import type { Chain } from '../fallback/chain.ts';
import { endsRequest, isTransient, replyTo } from '../fallback/failure-table.ts';
import type { CachedAnswers, FamilyOptions, HandlerResponse } from '../serve/cached-answers.ts';
import { combinedValidity, lifetime } from '../serve/lifetime.ts';
import type { FreshAnswer } from '../serve/shared-load.ts';
import type { ConfiguredChains, UnknownChain } from './select-chains.ts';

export interface InsightsOptions extends FamilyOptions, ConfiguredChains {
  readonly answers: CachedAnswers;
}

/** Asks a back end about chains. Returns undefined when it does not serve this operation. */
export type AskInsights<Result> = (backend: Backend, ask: InsightsAsk) => Promise<Result> | undefined;

/**
 * One operation of document 2: its chains, its cache identity, its back-end call, and the function that builds its
 * body.
 */
interface ServedQuery<Result, Body> {
  readonly operation: InsightsOperationId;
  readonly chains: readonly Chain[];
  /** Everything in the request that affects the body, apart from the chains. */
  readonly identity: object;
  readonly ask: AskInsights<Result>;
  /** Overrides the usual time limit, in milliseconds. */
  readonly timeoutMs?: number;
  /** Reply to an unknown name or chain. */
  readonly unknown?: UnknownChain;
  /** Asks the chains one after another until one has a result. Without it, all are asked at once. */
  readonly untilSome?: (result: Result) => boolean;
  /** True when `meta` names the chains that failed. Otherwise the refusal of one chain refuses the request. */
  readonly namesFailed?: boolean;
  bodyOf(asked: ChainsAnswer<Result>): Body;
  /** JSON text of a body already serialized by a back end. */
  writtenBody?(asked: ChainsAnswer<Result>): Buffer | undefined;
  /** True when the body may change soon without a new block; false when absent. */
  isUnsettled?(body: Body): boolean;
}

/** Serves one operation of document 2 through the cache. */
export type ServeInsights = <Result, Body>(
  caller: Caller,
  serving: ServedQuery<Result, Body>,
) => Promise<HandlerResponse<Body>>;

/**
 * Serves every request of document 2 through the cache. Errors that are 501, 502 or 504 in the explorer are a 500 here
 * (Decision 71).
 */
export function insightsServer(options: InsightsOptions): ServeInsights {
  const { answers, lifetimes, clock } = options;

  return async <Result, Body>(caller: Caller, serving: ServedQuery<Result, Body>) => {
    const { operation, chains, identity } = serving;
    try {
      return await answers.answer<Body>(caller, {
        operation,
        key: `${operation} ${chains.map(chain => chain.key).join()} ${canonicalJson(identity)}`,
        dataVersion: chains.map(revisionOf).join(';'),
        make: (signal, clients) => make(serving, { signal, clients }),
      });
    } catch (error) {
      throw insightsFailure(error);
    }
  };

  async function make<Result, Body>(
    serving: ServedQuery<Result, Body>,
    load: { signal: AbortSignal; clients: WaitingClients },
  ): Promise<FreshAnswer> {
    const { operation, unknown = 'invalid', bodyOf } = serving;
    const asked = await askAsServed(serving, load);
    if (asked.parts.length === 0 || isUntoldRefusal(serving, asked)) throw nothingAnswered(asked, unknown);
    const failures = [...asked.passedOver, ...asked.failed.flatMap(({ failures: own }) => own)];
    const written = serving.writtenBody?.(asked);
    const body = written === undefined ? bodyOf(asked) : undefined;
    const watched = [...asked.answered, ...asked.empty];
    const validity = combinedValidity(watched.map(one => one.validity));
    const facts = {
      final: false,
      isSettled: body === undefined || serving.isUnsettled?.(body) !== true,
      isDegraded: failures.some(isTransient),
      isMetered: asked.answered.some(({ backend }) => backend.isMetered === true),
      isLaterPage: false,
      isWatched: validity !== undefined,
      // Used only if every back end has one: a back end without it does not notice when its part is out of date.
      validity: watched.every(one => one.validity !== undefined) ? validity : undefined,
    };
    return {
      body: written ?? body,
      chainIds: asked.answered.map(({ chain }) => chain.id),
      backends: asked.answered.map(({ backend }) => backend.name),
      watched: watched.map(({ backend }) => backend.name),
      lifetime: { ...lifetime(operation, facts, { lifetimes, now: clock.now() }), ...validity },
    };
  }

  async function askAsServed<Result, Body>(
    { chains, ask, untilSome, timeoutMs = options.timeoutMs }: ServedQuery<Result, Body>,
    load: { signal: AbortSignal; clients: WaitingClients },
  ): Promise<ChainsAnswer<Result>> {
    const asking = { ...options, signal: load.signal, timeoutMs, takesPartial: true };
    const askAll = (some: readonly Chain[]) =>
      askChains(some, (backend, about) => ask(backend, { ...about, clients: load.clients }), asking);
    if (untilSome === undefined) return askAll(chains);
    let first: ChainsAnswer<Result> | undefined;
    const before: ChainsAnswer<Result>[] = [];
    for (const chain of chains) {
      const asked = await askAll([chain]);
      const [part] = asked.parts;
      if (part !== undefined && untilSome(part.result)) return withEarlierOutcomes(asked, before);
      if (part !== undefined) first ??= asked;
      before.push(asked);
    }
    return withEarlierOutcomes(first, before);
  }
}

/**
 * Adds to an answer the outcome of the other chains that were asked. Without an answer, returns only those outcomes.
 */
function withEarlierOutcomes<Result>(
  asked: ChainsAnswer<Result> | undefined,
  before: readonly ChainsAnswer<Result>[],
): ChainsAnswer<Result> {
  const others = before.filter(one => one !== asked);
  const chains = [
    ...new Set([...before, ...(asked === undefined ? [] : [asked])].flatMap(one => one.chains)),
  ];
  const failed = others.flatMap(one => one.failed);
  const empty = others.flatMap(one => [...one.answered, ...one.empty]);
  if (asked === undefined) return { chains, parts: [], answered: [], empty, failed, passedOver: [] };
  return { ...asked, chains, empty: [...asked.empty, ...empty], failed: [...asked.failed, ...failed] };
}

/** True when a chain refused and the body cannot say so. Asking chains one after another skips such chains instead. */
function isUntoldRefusal(
  { namesFailed = false, untilSome }: Pick<ServedQuery<never, unknown>, 'namesFailed' | 'untilSome'>,
  { failed }: ChainsAnswer<unknown>,
): boolean {
  return !namesFailed && untilSome === undefined && failed.some(({ failures }) => failures.some(endsRequest));
}

function revisionOf({ backends }: Chain): string {
  return backends.map(backend => backend.validity?.().revision ?? '').join();
}

/**
 * Error reply when no chain answered, by the failure table with two exceptions: an unknown name may be bad input, and
 * too many queries have their own message. Statuses above 500 are kept until `insightsFailure`, because they decide if
 * a cached answer is served instead.
 */
function nothingAnswered({ failed }: ChainsAnswer<unknown>, unknown: UnknownChain): HttpError {
  const failures = failed.flatMap(({ failures: own }) => own);
  const cause = new AggregateError(failures.map(({ error }) => error));
  const { kind, status, message, headers, causes } = replyTo(failures);
  if (kind === 'unavailable' && causes.every(({ error }) => error.reason === 'busy'))
    return new HttpError(status, TOO_MANY_QUERIES, { cause, headers });
  if (kind === 'not_found' && unknown === 'invalid' && causes[0]?.error.reason === 'unknown_name')
    return new HttpError(400, message, { cause });
  return new HttpError(status, message, { cause, headers });
}

const TOO_MANY_QUERIES =
  'Too many long queries run at the moment: retry in a few seconds, or narrow the query';

/** Maps a failure to the statuses of document 2, which above 500 has only 503 (Decision 71). */
function insightsFailure(error: unknown): unknown {
  if (!(error instanceof HttpError) || error.status <= 500 || error.status === 503) return error;
  return new HttpError(500, error.message, { cause: error, headers: error.headers });
}
