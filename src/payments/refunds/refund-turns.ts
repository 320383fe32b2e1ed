import type { Binding } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { BOUND } from '../../db/query.ts';
import type { Refund } from '../model/refund.ts';
import { select } from '../tables/select.ts';
import { IS_FOLLOWED, refundForm } from './refund-store.ts';

/** Refunds of a chain that a watcher asks the node about. Organizations take turns. */
export function refundTurns(handle: Handle) {
  /** Refunds by their turns, which a statement with these bindings computes, up to the limit, which is the last one. */
  const inTurns = async (turns: string, bindings: readonly Binding[]): Promise<Refund[]> => {
    const rows = await select({ from: 'refunds', columns: ['refunds.*'] }).rows(
      handle,
      `join (${turns}) turns on turns.id = refunds.id order by turn, refunds.id limit ${BOUND}`,
      bindings,
    );
    return rows.map(refundForm.recordOf);
  };

  return {
    /**
     * Refunds of a chain whose transaction is looked for or confirmed: the first of each organization, then the second of
     * each, and so on. Those in a block come first, and those whose transaction was not found last. With each step others
     * of the same kind come first.
     */
    followed: (chainId: number, step: number, limit: number): Promise<Refund[]> =>
      inTurns(
        `select id, row_number() over (partition by organization_id, mode order by kind, (rank + ?) % size) as turn
         from (
           select id, organization_id, mode, kind,
             row_number() over (partition by organization_id, mode, kind order by updated_at, id) as rank,
             count(*) over (partition by organization_id, mode, kind) as size
           from (
             select id, organization_id, mode, updated_at,
               case when block_hash is not null then 0 when status = 'pending' then 1 else 2 end as kind
             from refunds where chain_id = ? and ${IS_FOLLOWED}
           ) followed
         ) ranked`,
        [step, chainId, limit],
      ),

    /** Refunds of a chain that require action: the oldest of each organization, then the second oldest of each, and so on. */
    awaiting: (chainId: number, limit: number): Promise<Refund[]> =>
      inTurns(
        `select id, row_number() over (partition by organization_id, mode order by created_at, id) as turn
         from refunds where chain_id = ? and status = 'requires_action'`,
        [chainId, limit],
      ),
  };
}
