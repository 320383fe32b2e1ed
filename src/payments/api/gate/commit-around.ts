import type { Db, Transaction } from '#db/open.ts';
import { lockedTransaction, transaction } from '#db/transaction.ts';
import type { CommittedResponse, TwoPhaseAction } from './api-context.ts';

/** What an idempotency key has written beside an effect, in the effect's own transactions. */
export interface KeptBeside {
  /** Takes the key, or throws. */
  begin(handle: Transaction): Promise<void>;
  /** Lets go of the key, because there was no effect. */
  cancel(handle: Transaction): Promise<void>;
  /** Keeps the answer under the key. */
  end(handle: Transaction, answer: CommittedResponse<number, unknown>): Promise<void>;
}

/** Runs an effect outside of the database between its two transactions, which are short however long the effect takes. */
export async function commitAround<Begun, Sent, Status extends number, Body>(
  db: Db,
  effect: TwoPhaseAction<Begun, Sent, Status, Body>,
  kept?: KeptBeside,
): Promise<CommittedResponse<Status, Body>> {
  const begun = await transaction(db, async handle => {
    await kept?.begin(handle);
    return effect.begin(handle);
  });
  const sent = await effect.send(begun).catch(async (error: unknown) => {
    if (kept !== undefined) await transaction(db, handle => kept.cancel(handle));
    throw error;
  });
  // What has happened outside must not be lost to a conflict with others that write to the same rows.
  return lockedTransaction(db, async handle => {
    const answer = await effect.end(handle, begun, sent);
    await kept?.end(handle, answer);
    return answer;
  });
}
