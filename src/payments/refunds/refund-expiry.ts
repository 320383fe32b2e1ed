import type { Db } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Worker } from '../../lib/worker.ts';
import type { Seals } from '../secrets/sealed.ts';
import { refundMoves } from './refund-moves.ts';
import { refundStore } from './refund-store.ts';

/** Ends refunds past their time whose transfer was not seen. Several workers may run; each refund ends once. */
export function refundExpiryWorker({ db, seals, clock }: { db: Db; seals: Seals; clock: Clock }): Worker {
  return {
    name: 'expiry of refunds',
    async runOnce() {
      if ((await refundStore(db).due(clock.now(), 1)).length === 0) return 0;
      return transaction(db, handle => refundMoves({ handle, seals, now: clock.now() }).expireDue());
    },
  };
}
