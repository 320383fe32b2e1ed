import type { Db, Handle } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import { type Clock, DAY_MS } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Worker } from '../../lib/worker.ts';
import type { PaymentChains } from '../model/payment-chain.ts';
import { LIFE_ALLOWANCE } from '../model/session.ts';
import type { Seals } from '../secrets/sealed.ts';
import { dueChains } from '../sessions/chain-sessions.ts';
import { soldOutLinks } from '../settlement/ended-sessions.ts';
import { settlement } from '../settlement/settlement.ts';
import { cursorStore } from '../store/cursor-store.ts';
import type { Failpoint } from './look/look.ts';

/** Most sessions that one transaction ends. */
const SESSIONS_PER_EFFECT = 200;
/** Time after a deadline in which no block came, on a network with real money. */
const SILENCE_MS = DAY_MS;
/** The same on a test network, whose blocks may be mined on demand only, and on a chain that is not read any more. */
const SHORT_SILENCE_MS = 600_000;
/** A chain of which a block was read within this time is being read, and so is one of a process that just started. */
const STILL_MS = 600_000;

/**
 * Ends sessions past their deadline, once all blocks of their life were read: a payment made in time may be in a block
 * that was not read yet (Decisions 298, 299 and 314). The clock alone ends them a day later (Decision 298). A payment in
 * confirmation keeps its session open; on a chain that is no longer configured, for a day. It also ends what a sold-out
 * link had more of than one transaction ends (Decision 355). Several workers may run; each session ends once.
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
  const startedAt = clock.now();

  /**
   * Latest deadline of sessions that the clock ends, in UTC milliseconds. `wholeUntil` is the deadline up to which all
   * blocks were read, and `scannedUntil` the one up to which a node was asked for them.
   */
  async function silentUntil(
    handle: Handle,
    {
      chainId,
      now,
      wholeUntil,
      scannedUntil,
    }: Record<'chainId' | 'now' | 'wholeUntil' | 'scannedUntil', number>,
  ): Promise<number> {
    const chain = chains.all.find(({ id }) => id === chainId);
    if (chain === undefined) return now - SHORT_SILENCE_MS;
    const [newest] = await cursorStore(handle).scannedBlocks(chainId);
    const isStill = now - Math.max(startedAt, newest?.seenAt ?? 0) >= STILL_MS;
    const ofClock = isStill ? now - SILENCE_MS : Math.min(now - SILENCE_MS, wholeUntil);
    return chain.mode === 'live'
      ? ofClock
      : Math.max(ofClock, Math.min(now - SHORT_SILENCE_MS, scannedUntil));
  }

  async function expireOn(chainId: number): Promise<number> {
    await fault('before expiry');
    const chain = chains.all.find(({ id }) => id === chainId);
    const expired = await transaction(db, async handle => {
      const { headTime = 0, scannedAt = 0 } = (await cursorStore(handle).find(chainId)) ?? {};
      const now = clock.now();
      const scannedUntil = scannedAt - LIFE_ALLOWANCE.afterMs;
      // Both times, because our clock may be behind that of the chain.
      const wholeUntil = Math.min(headTime - LIFE_ALLOWANCE.afterMs, scannedUntil);
      const due = { chainId, limit: SESSIONS_PER_EFFECT };
      const settle = settlement({ handle, seals, now });
      const ended = await settle.expireDue({ ...due, until: wholeUntil, sparesUnread: true });
      const until = await silentUntil(handle, { chainId, now, wholeUntil, scannedUntil });
      const unread = await settle.expireDue({ ...due, until });
      const unwatched = chain === undefined ? await settle.expireUnwatched({ ...due, scannedAt }) : 0;
      await fault('inside expiry');
      return { unread, count: ended + unread + unwatched };
    });
    await fault('after expiry');
    if (expired.unread > 0) {
      const facts = { chainId, sessions: expired.unread };
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
      for (const id of await soldOutLinks(db)) {
        if (signal.aborted) break;
        expired += await transaction(db, handle =>
          settlement({ handle, seals, now: clock.now() }).endSoldOut(id),
        );
      }
      return expired;
    },
  };
}
