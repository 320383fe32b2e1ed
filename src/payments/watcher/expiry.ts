import type { Db } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import { type Clock, DAY_MS } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Worker } from '../../lib/worker.ts';
import type { PaymentChains } from '../model/payment-chain.ts';
import type { Seals } from '../secrets/sealed.ts';
import { dueChains } from '../sessions/chain-sessions.ts';
import { settlement } from '../settlement/settlement.ts';
import { cursorStore } from '../store/cursor-store.ts';
import type { Failpoint } from './look/round.ts';

/** Most sessions that one transaction ends. */
const SESSIONS_PER_EFFECT = 200;
/** A session ends with the first block this much after its deadline, because logs of earlier blocks may be late. */
const LATE_LOGS_MS = 15_000;
/** Longest time after a deadline without a later block, on a network with real money. */
const SILENCE_MS = DAY_MS;
/** The same on a test network, whose blocks may be mined on demand only, and on a chain that nobody reads any more. */
const SHORT_SILENCE_MS = 600_000;

/**
 * Ends sessions past their deadline, once a block after it was read: a payment made in time may be in a block that was
 * not read yet (Decisions 298 and 299). The clock alone ends them a day later, because a node that stands still looks like a
 * chain without blocks. A payment in confirmation keeps its session open; on a chain that is no longer configured, for
 * a day. Several workers may run; each session ends once.
 */
export function expiryWorker({
  db,
  seals,
  clock,
  log,
  chains,
  fault = () => {},
}: {
  db: Db;
  seals: Seals;
  clock: Clock;
  log: Logger;
  /** Configured chains. */
  chains: PaymentChains;
  fault?: Failpoint;
}): Worker {
  async function expireOn(chainId: number): Promise<number> {
    await fault('before expiry');
    const chain = chains.all.find(({ id }) => id === chainId);
    const silenceMs = chain?.mode === 'live' ? SILENCE_MS : SHORT_SILENCE_MS;
    const expired = await transaction(db, async handle => {
      const { headTime = 0, scannedAt = 0 } = (await cursorStore(handle).find(chainId)) ?? {};
      const now = clock.now();
      const due = { chainId, limit: SESSIONS_PER_EFFECT };
      const settle = settlement({ handle, seals, now });
      const ended = await settle.expireDue({ ...due, until: headTime - LATE_LOGS_MS, sparesUnread: true });
      const unread = await settle.expireDue({ ...due, until: now - silenceMs });
      const unwatched = chain === undefined ? await settle.expireUnwatched({ ...due, scannedAt }) : 0;
      await fault('inside expiry');
      return { unread, count: ended + unread + unwatched };
    });
    await fault('after expiry');
    if (expired.unread > 0) {
      const facts = { chainId, sessions: expired.unread, silenceMs };
      log.warn(facts, 'sessions ended although no block after their end was read');
    }
    return expired.count;
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
