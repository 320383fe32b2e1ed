import { explorerContract } from '../../contract/contracts/explorer.ts';
import type { Caller } from '../../contract/contracts/operations.ts';
import { HttpError } from '../../http/errors.ts';
import type { Answer, BodyOf, OperationId, RequestOf } from '../backends/port/backend.ts';
import { BackendError, isOfKind } from '../backends/port/backend-error.ts';
import { cacheKey } from '../cache/entry.ts';
import {
  type AnsweringChain,
  type AskBackend,
  type AskChainsOptions,
  askChains,
  unsupported,
} from '../fallback/ask-chains.ts';
import { type Chain, type ChainAnswer, type Failure, NothingFound } from '../fallback/chain.ts';
import { leavesOpen, replyTo } from '../fallback/failure-table.ts';
import { firstFound } from '../fallback/first-found.ts';
import { hashSearch } from '../fallback/hash-locations.ts';
import type { CachedAnswers, FamilyOptions, HandlerResponse } from '../serve/cached-answers.ts';
import { type AnswerStability, lifetimeOf } from '../serve/lifetime.ts';
import type { FreshAnswer } from '../serve/shared-load.ts';
import {
  type ChainSelection,
  type PositionSets,
  type SelectionQuery,
  selectChain,
  withWayOn,
} from './selection.ts';

interface ExplorerHandlersOptions extends FamilyOptions {
  readonly answers: Pick<CachedAnswers, 'answer'>;
  /** Head start of a chain before the next one is asked too, in milliseconds. */
  readonly staggerMs: number;
}

/** Handler of one data operation. */
type DataHandler<Id extends OperationId> = (
  request: RequestOf<Id> & { path: object; query: SelectionQuery },
  caller: Caller,
) => Promise<HandlerResponse<BodyOf<Id>>>;

/** Makes the handler of one operation from its policy. */
export type Serve = <Id extends OperationId>(id: Id, row: OperationPolicy) => DataHandler<Id>;

/** Makes the handlers of document 1. Each answer comes from one chain, chosen by the operation's strategy. */
export function explorerHandlers(options: ExplorerHandlersOptions): Serve {
  const { chains, answers, lifetimes, staggerMs, clock, log } = options;
  const searchHash = hashSearch(clock);
  const plans = new WeakMap<object, Plan>();

  return (id, row) => async (request, caller) => {
    const { selection, key } = planOf(id, row, request);
    return answers.answer(caller, {
      operation: id,
      key,
      dataVersion: revisionOf(selection),
      make: signal => make(id, row, { request, selection, signal }),
    });
  };

  /** Equal request targets share one request object, so the selection is computed once per target. */
  function planOf(id: string, row: OperationPolicy, request: { path: object; query: SelectionQuery }): Plan {
    const before = plans.get(request);
    if (before !== undefined) return before;
    const selection = selectChain(chains, request.query, row.portablePositions);
    const chainKeys = selection.chains.map(chain => chain.key);
    const plan = { selection, key: cacheKey(id, chainKeys, request) };
    plans.set(request, plan);
    return plan;
  }

  async function make<Id extends OperationId>(
    id: Id,
    row: OperationPolicy,
    search: Search<Id>,
  ): Promise<FreshAnswer> {
    try {
      const found = await find(id, row, search);
      return {
        body: found.answer.body,
        chainIds: [found.chain.id],
        backends: [found.backend.name],
        lifetime: lifetimeOf(
          { operationId: id, row, isLaterPage: search.selection.walk !== undefined },
          found,
          { lifetimes, now: clock.now() },
        ),
      };
    } catch (error) {
      if (!(error instanceof NothingFound)) throw error;
      const failure = withWayOn(errorReply(error.failures, error), search.selection, {
        sets: row.portablePositions,
        backends: chains
          .flatMap(({ backends }) => backends)
          .filter(({ answers }) => answers[id] !== undefined),
      });
      if (failure.status === 501 && !error.failures.some(leavesOpen))
        log.warn({ operation: id }, 'no configured back end answers this operation');
      throw failure;
    }
  }

  function find<Id extends OperationId>(
    id: Id,
    row: OperationPolicy,
    { request, selection, signal }: Search<Id>,
  ): Promise<ChainAnswer<BodyOf<Id>>> {
    const { walk } = selection;
    const find = (inOrder: readonly Chain[]) =>
      firstFound<BodyOf<Id>>({
        chains: inOrder,
        staggerMs,
        clock,
        signal,
        isNothing: body => walk === undefined && row.isNothing?.(body) === true,
        askChain: (chain, until) => askOne(chain, ask, { ...options, signal: until }),
      });
    const ask: AskBackend<Answer<BodyOf<Id>>> = (backend, { signal: until }) => {
      // Only the writer knows its position. Other back ends continue from the documented keys.
      const position = walk?.writer === backend.name ? walk.position : undefined;
      const pending = backend.answers[id]?.(request, { signal: until, position });
      return hasNotFound(id) ? pending : pending?.catch(withoutNotFound);
    };
    const chains = row.isOfFirstChain?.(request.path) ? selection.chains.slice(0, 1) : selection.chains;
    const hash = row.hashOf?.(request.path);
    return hash === undefined ? find(chains) : searchHash(hash, chains, find);
  }
}

/** Asks the back ends of one chain. @throws NothingFound with the failures of every back end that was asked */
async function askOne<Body>(
  chain: Chain,
  ask: AskBackend<Answer<Body>>,
  options: AskChainsOptions,
): Promise<ChainAnswer<Body>> {
  const { parts, answered, failed, passedOver } = await askChains([chain], ask, options);
  const [part] = parts;
  const [source] = answered;
  if (part === undefined || source === undefined) {
    const failures = failed.flatMap(one => one.failures);
    const none = { chain, backend: undefined, error: unsupported() };
    throw new NothingFound(failures.length === 0 ? [none] : failures);
  }
  return { ...source, answer: unlessMoved(part.result, source), passedOver };
}

/**
 * Removes the finality of an answer when the back end's state changed during the request: the answer may mix both
 * states.
 */
function unlessMoved<Body>(answer: Answer<Body>, { backend, validity }: AnsweringChain): Answer<Body> {
  if (validity === undefined || backend.validity?.().revision === validity.revision) return answer;
  return answer.unsettled === true ? answer : { body: answer.body };
}

function hasNotFound(id: OperationId): boolean {
  return explorerContract.table[id].statuses.includes(404);
}

/**
 * Turns `not_found` into an outage for an operation whose contract has no 404. A feed always exists, so a back end that
 * denies it cannot answer, and the next one is asked.
 */
function withoutNotFound(error: unknown): never {
  if (!isOfKind(error, 'not_found')) throw error;
  throw new BackendError('unavailable', 'failed', 'it has no such list', { cause: error });
}

interface Plan {
  readonly selection: ChainSelection;
  readonly key: string;
}

interface Search<Id extends OperationId> {
  readonly request: RequestOf<Id> & { path: object };
  readonly selection: ChainSelection;
  readonly signal: AbortSignal;
}

function revisionOf({ chains }: ChainSelection): string {
  return chains
    .flatMap(({ backends }) => backends.map(backend => backend.validity?.().revision ?? ''))
    .join();
}

/** Error reply when no chain had an answer. "Not found" becomes a 501 when a chain that failed may have the record. */
export function errorReply(failures: readonly Failure[], cause: unknown): HttpError {
  const { status, message, headers } = replyTo(failures, leavesOpen);
  return new HttpError(status, message, { cause, headers });
}

/** Policy of one operation: the chains that are asked, and the caching of its answers. */
export interface OperationPolicy {
  /** True when only the first chain is asked. */
  isOfFirstChain?(path: object): boolean;
  /** Hash of the transaction or block in the path, in lower case. The chain that has it is remembered. */
  hashOf?(path: object): string | undefined;
  readonly lifetime: AnswerStability;
  /** True for an answer that has nothing, after which the next chain is asked. Ignored for later pages of a list. */
  isNothing?(body: unknown): boolean;
  /**
   * Keys of `next_page_params` that mean the same position at every back end (Decision 172); absent if there are none.
   */
  readonly portablePositions?: PositionSets;
}
