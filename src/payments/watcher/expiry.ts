import type { Db } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Worker } from '../../lib/worker.ts';
import type { PaymentChains } from '../model/payment-chain.ts';
import type { Seals } from '../secrets/sealed.ts';
import { dueChains } from '../sessions/chain-sessions.ts';
import { settlement } from '../settlement/settlement.ts';
import { cursorStore } from '../store/cursor-store.ts';
import type { Failpoint } from './look/round.ts';

/** Most sessions that one transaction ends. */
const SESSIONS_PER_EFFECT = 200;

/**
 * Ends sessions past their deadline, once their chain has been scanned beyond it: a payment made in time may be in a
 * block that was not scanned yet. A chain without scans, because its node is down or it is no longer configured, delays
 * them for ten minutes. A payment in confirmation keeps its session open; on a chain that is no longer configured, for
 * a day. Several workers may run; each session ends once.
 */
export function expiryWorker({
  db,
  seals,
  clock,
  chains,
  fault = () => {},
}: {
  db: Db;
  seals: Seals;
  clock: Clock;
  /** Configured chains. */
  chains: PaymentChains;
  fault?: Failpoint;
}): Worker {
  async function expireOn(chainId: number): Promise<number> {
    await fault('before expiry');
    const expired = await transaction(db, async handle => {
      const cursor = await cursorStore(handle).find(chainId);
      const due = { chainId, scannedAt: cursor?.scannedAt ?? 0, limit: SESSIONS_PER_EFFECT };
      const settle = settlement({ handle, seals, now: clock.now() });
      const unpaid = await settle.expireDue(due);
      const isWatched = chains.all.some(({ id }) => id === chainId);
      const count = unpaid + (isWatched ? 0 : await settle.expireUnwatched(due));
      await fault('inside expiry');
      return count;
    });
    await fault('after expiry');
    return expired;
  }

  return {
    name: 'expiry of checkout sessions',
    async runOnce(signal) {
      let expired = 0;
      for (const chainId of await dueChains(db, clock.now())) {
        if (signal.aborted) break;
        expired += await expireOn(chainId);
      }
      return expired;
    },
  };
}
