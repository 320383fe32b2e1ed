import type { IncomingRequest } from '#contract/mount/request-gate.ts';
import type { Actor, Owner } from '../../model/owner.ts';
import type { ApiCaller, RecordChange } from './api-context.ts';

/** Makes the function that records what a request of a caller changes. */
export type AuditTrail = (
  caller: Owner & { readonly actor: Actor },
  request: Pick<IncomingRequest, 'operation' | 'method' | 'target' | 'client'>,
) => RecordChange;

/** The same commits, each with a record of the change. */
export function recorded(
  { commit, commitAround }: Pick<ApiCaller, 'commit' | 'commitAround'>,
  recordChange: RecordChange,
): Pick<ApiCaller, 'commit' | 'commitAround'> {
  return {
    commit: work =>
      commit(async handle => {
        const answer = await work(handle);
        await recordChange(handle, answer);
        return answer;
      }),
    commitAround: effect =>
      commitAround({
        ...effect,
        async end(handle, begun, sent) {
          const answer = await effect.end(handle, begun, sent);
          await recordChange(handle, answer);
          return answer;
        },
      }),
  };
}
