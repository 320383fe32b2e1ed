import type { Caller } from '../../contract/contracts/operations.ts';
import { HttpError } from '../../http/errors.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { Clock } from '../../lib/clock.ts';
import { canonicalJson } from '../../lib/json.ts';
import type { Logger } from '../../lib/logger.ts';
import type { InsightsOperationId } from '../backends/port/insights-backend.ts';
import type { Chain } from '../fallback/chain.ts';
import { isPassing, isRefusal, replyTo } from '../fallback/failure-table.ts';
import type { CachedAnswers, HandlerResponse } from '../serve/cached-answers.ts';
import { joined, type Lifetimes, lifetime } from '../serve/lifetime.ts';
import type { FreshAnswer } from '../serve/shared-load.ts';
import { type AskBackend, askChains, type ChainsAnswer } from './ask-chains.ts';
import type { ConfiguredChains, UnknownChain } from './select-chains.ts';

export interface InsightsOptions extends ConfiguredChains {
  readonly answering: CachedAnswers;
  readonly lifetimes: Lifetimes;
  /** How long one back end may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** One answer: from which chains, under which identity, by which question, and how its parts become a body. */
interface ServedQuery<Result, Body> {
  readonly operation: InsightsOperationId;
  readonly chains: readonly Chain[];
  /** Whatever of the request the body depends on, beside the chains. */
  readonly identity: object;
  readonly ask: AskBackend<Result>;
  /** Longer than the usual, in milliseconds. */
  readonly timeoutMs?: number;
  /** How a name or a chain that nobody knows is said. */
  readonly unknown?: UnknownChain;
  /** Asks the chains one after another, until one has something; otherwise all at once. */
  readonly untilSome?: (result: Result) => boolean;
  /** True of a body whose `meta` names the chains that failed. Without it a refusal of one chain is that of the request. */
  readonly namesFailed?: boolean;
  bodyOf(asked: ChainsAnswer<Result>): Body;
  /** JSON text of a body that a back end has written already, so that it need not be made of values. */
  writtenBody?(asked: ChainsAnswer<Result>): Buffer | undefined;
  /** Whether the body soon will be another although no block comes; false when absent. */
  isUnsettled?(body: Body): boolean;
}

/** Serves one operation of document 2 through the cache. */
export type ServeInsights = <Result, Body>(
  serving: ServedQuery<Result, Body>,
  caller: Caller,
) => Promise<HandlerResponse<Body>>;

/** The way of every request of document 2. Where the explorer says 501, 502 or 504 this family says 500. Decision 71. */
export function insightsServer(options: InsightsOptions): ServeInsights {
  const { answering, lifetimes, clock } = options;

  return async <Result, Body>(serving: ServedQuery<Result, Body>, caller: Caller) => {
    const { operation, chains, identity } = serving;
    try {
      return await answering.answer<Body>(
        {
          operation,
          key: `${operation} ${chains.map(chain => chain.key).join()} ${canonicalJson(identity)}`,
          moment: chains.map(revisionOf).join(';'),
          make: signal => make(serving, signal),
        },
        caller,
      );
    } catch (error) {
      throw insightsFailure(error);
    }
  };

  async function make<Result, Body>(
    serving: ServedQuery<Result, Body>,
    signal: AbortSignal,
  ): Promise<FreshAnswer> {
    const { operation, unknown = 'invalid', bodyOf } = serving;
    const asked = await askAsServed(serving, signal);
    if (asked.parts.length === 0 || isUntoldRefusal(serving, asked)) throw nothingAnswered(asked, unknown);
    const failures = [...asked.passedOver, ...asked.failed.flatMap(({ failures: own }) => own)];
    const written = serving.writtenBody?.(asked);
    const body = written === undefined ? bodyOf(asked) : undefined;
    const watched = [...asked.answered, ...asked.empty];
    const validity = joined(watched.map(one => one.validity));
    const facts = {
      final: false,
      isSettled: body === undefined || serving.isUnsettled?.(body) !== true,
      isStandIn: failures.some(isPassing),
      isMetered: asked.answered.some(({ backend }) => backend.isMetered === true),
      isLaterPage: false,
      isWatched: validity !== undefined,
      // Who does not see every block does not notice when its part is out of date.
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
    signal: AbortSignal,
  ): Promise<ChainsAnswer<Result>> {
    const asking = { ...options, signal, timeoutMs };
    if (untilSome === undefined) return askChains(chains, ask, asking);
    let first: ChainsAnswer<Result> | undefined;
    const before: ChainsAnswer<Result>[] = [];
    for (const chain of chains) {
      const asked = await askChains([chain], ask, asking);
      const [part] = asked.parts;
      if (part !== undefined && untilSome(part.result)) return past(asked, before);
      if (part !== undefined) first ??= asked;
      before.push(asked);
    }
    return past(first, before);
  }
}

/** An answer with what became of all others that were asked as well; without one, that alone. */
function past<Result>(
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

/** True when a chain refused and the answer could not say so. Asking on until one has something leaves such chains out. */
function isUntoldRefusal(
  { namesFailed = false, untilSome }: Pick<ServedQuery<never, unknown>, 'namesFailed' | 'untilSome'>,
  { failed }: ChainsAnswer<unknown>,
): boolean {
  return !namesFailed && untilSome === undefined && failed.some(({ failures }) => failures.some(isRefusal));
}

function revisionOf({ backends }: Chain): string {
  return backends.map(backend => backend.validity?.().revision ?? '').join();
}

/**
 * What a client hears when no chain answered: the failure table, except that a name that is not known may be bad input
 * and that too many queries have a status of their own. The statuses above 500 decide whether a held answer stands in.
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

/** A failure in this family's statuses: above 500 it has only 503. Decision 71. */
function insightsFailure(error: unknown): unknown {
  if (!(error instanceof HttpError) || error.status <= 500 || error.status === 503) return error;
  return new HttpError(500, error.message, { cause: error, headers: error.headers });
}
