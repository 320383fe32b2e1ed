import type { Clock } from '#lib/clock.ts';
import { isObject } from '#lib/json.ts';
import type { Answer, Answers, Ask, BodyOf, OperationId, RequestOf } from '../../port/backend.ts';
import { BackendError, isOfKind } from '../../port/backend-error.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { indexingStatus } from '../normalise/statistics.ts';
import { sideRequests, withLateExtra } from './side-requests.ts';

/** Indexing progress as the instance reports it, fetched at most once per minute. */
export interface IndexingState {
  /** False only when the instance reports more than a few missing blocks. */
  hasBlocks(): Promise<boolean>;
  /** True when all transactions are traced; undefined when the instance does not report it. */
  hasTraces(): Promise<boolean | undefined>;
}

const REMEMBERED_MS = 60_000;
/** Ratio of indexed blocks that counts as complete. Many instances never get the last few blocks. */
const COMPLETE = 0.99;

export function indexing({ upstream, clock }: { upstream: Upstream; clock: Clock }): IndexingState {
  const ask = sideRequests(upstream);
  let known: { readonly status: Promise<Status | undefined>; readonly until: number } | undefined;

  return {
    async hasBlocks() {
      const status = await current();
      return status?.finished_indexing_blocks !== false || Number(status.indexed_blocks_ratio) >= COMPLETE;
    },
    async hasTraces() {
      const status = await current();
      if (status === undefined) return undefined;
      return status.finished_indexing && Number(status.indexed_internal_transactions_ratio) >= 1;
    },
  };

  /** Remembers failed look-ups too, because most callers can do without the status. */
  function current(): Promise<Status | undefined> {
    if (known === undefined || clock.now() >= known.until)
      known = {
        status: ask('/main-page/indexing-status').then(statusOrNone),
        until: clock.now() + REMEMBERED_MS,
      };
    return known.status;
  }
}

type Status = ReturnType<typeof indexingStatus>;

function statusOrNone(body: unknown): Status | undefined {
  try {
    return indexingStatus(body);
  } catch {
    return undefined; // a request that failed, or a body that says nothing
  }
}

type Operation<Id extends OperationId> = (request: RequestOf<Id>, ask: Ask) => Promise<Answer<BodyOf<Id>>>;
interface GuardedSource {
  readonly indexing: IndexingState;
  readonly clock: Clock;
}

/**
 * Wraps answers so that "not found" and an address's empty list become `unsupported` while the instance reports missing
 * blocks. Another back end may have the data (Decision 67).
 */
export function unlessIncomplete(answers: Answers, source: GuardedSource): Answers {
  const guarded: Answers = {};
  for (const id of namesOf(answers)) add(id);
  return guarded;

  function add<Id extends OperationId>(id: Id): void {
    const answer = answers[id];
    if (answer === undefined) return;
    const guard: Operation<Id> = (request, ask) => unlessNothing(answer, request, ask);
    Object.assign(guarded, { [id]: guard });
  }

  async function unlessNothing<Id extends OperationId>(
    answer: Operation<Id>,
    request: RequestOf<Id>,
    ask: Ask,
  ): Promise<Answer<BodyOf<Id>>> {
    try {
      const answered = await answer(request, ask);
      if (isListOfAddress(request) && ask.position === undefined && isEmpty(answered.body))
        await mustBeComplete();
      return answered;
    } catch (error) {
      if (isOfKind(error, 'not_found')) await mustBeComplete();
      throw error;
    }
  }

  /** Throws when blocks are missing. An instance that does not report missing blocks in time counts as complete. */
  async function mustBeComplete(): Promise<void> {
    const [, hasBlocks] = await withLateExtra(Promise.resolve(), source.indexing.hasBlocks(), source.clock);
    if (hasBlocks === false)
      throw new BackendError('unsupported', 'incomplete', 'it has not indexed all blocks yet');
  }
}

function namesOf<Known extends object>(known: Known): (keyof Known)[] {
  const names: (keyof Known)[] = [];
  for (const name in known) names.push(name);
  return names;
}

function isListOfAddress({ path }: { path?: unknown }): boolean {
  return isObject(path) && path.address_hash !== undefined;
}

function isEmpty(body: unknown): boolean {
  return isObject(body) && Array.isArray(body.items) && body.items.length === 0;
}
