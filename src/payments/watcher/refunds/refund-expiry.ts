import type { Db } from '../../../db/open.ts';
import { transaction } from '../../../db/transaction.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Worker } from '../../../lib/worker.ts';
import type { PaymentChains } from '../../model/payment-chain.ts';
import { refundMoves } from '../../refunds/refund-moves.ts';
import { refundStore } from '../../refunds/refund-store.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { settlement } from '../../settlement/settlement.ts';

/**
 * Ends refunds past their time whose transfer was not seen, and counts their sessions again. Several workers may run;
 * each refund ends once.
 */
export function refundExpiryWorker({
  db,
  seals,
  clock,
  chains,
}: {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly chains: PaymentChains;
}): Worker {
  const watched = chains.all.map(({ id }) => id);
  return {
    name: 'expiry of refunds',
    async runOnce() {
      if ((await refundStore(db).due(clock.now(), watched, 1)).length === 0) return 0;
      return transaction(db, async handle => {
        const deps = { handle, seals, now: clock.now() };
        const ended = await refundMoves(deps).expireDue(watched);
        const sessionIds = new Set(ended.flatMap(({ sessionId }) => sessionId ?? []));
        for (const id of sessionIds) await settlement(deps).recount(id, chains);
        return ended.length;
      });
    },
  };
}
