import type { Clock } from '#lib/clock.ts';
import { isObject } from '#lib/json.ts';
import type { Answer, Answers, Ask, BodyOf, OperationId, RequestOf } from '../../port/backend.ts';
import { BackendError, isOfKind } from '../../port/backend-error.ts';
import type { IndexingState } from './indexing.ts';
import { withLateExtra } from './side-requests.ts';

type Operation<Id extends OperationId> = (request: RequestOf<Id>, ask: Ask) => Promise<Answer<BodyOf<Id>>>;
interface GuardedSource {
  readonly indexing: IndexingState;
  readonly clock: Clock;
}

/**
 * The same answers, with "not found" and an address's empty list turned into `unsupported` while the instance says that
 * blocks are missing: what it has not read yet it cannot deny, and another back end of the chain may know. Decision 67.
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

  /** It is taken for complete where it does not say otherwise soon. */
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
