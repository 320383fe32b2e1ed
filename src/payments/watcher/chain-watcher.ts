import type { Db } from '../../db/open.ts';
import type { Clock } from '../../lib/clock.ts';
import { boundedLines, type Logger, logAndGoOn } from '../../lib/logger.ts';
import type { Worker } from '../../lib/worker.ts';
import type { ChainClient } from '../../node/client.ts';
import type { PaymentChain } from '../model/payment-chain.ts';
import type { Seals } from '../secrets/sealed.ts';
import { cursorStore, type LookProgress } from '../store/cursor-store.ts';
import { type LookRecords, lookRecords } from '../store/look-records.ts';
import { advance } from './advance.ts';
import type { ChainShare } from './chain-share.ts';
import { lanes } from './look/lanes.ts';
import { recordJudge } from './look/record-judge.ts';
import { effects, type Failpoint, LeadershipLost, type Round, vouchedBy } from './look/round.ts';
import { NodeLost, nodePool, RoundSpent } from './node/node-pool.ts';
import { type Header, nodeView } from './node/node-view.ts';
import { blockRhythm, type LookedAt, type RoundHead, roundHeads } from './node/seen-heads.ts';
import type { Places } from './node/token-transfers.ts';
import { sameChain } from './starting-point.ts';
import { watchLease } from './watch-lease.ts';
import { watchedPlaces } from './watched-places.ts';

export interface ChainWatcherOptions {
  readonly chain: PaymentChain;
  readonly client: ChainClient;
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly log: Logger;
  /** Longest time without a watcher after this process was killed, in milliseconds; 20 s when absent. */
  readonly leaseMs?: number;
  readonly fault?: Failpoint;
  /** The chains that this process may lead; absent when no other process watches. */
  readonly share?: ChainShare | undefined;
  /** Called when this watcher becomes the leader of its chain. */
  readonly onElected?: (() => void) | undefined;
}

/** Progress of a watcher that leads. All undefined while it does not lead. */
export interface WatcherStatus {
  /** Host name of the node that answered last; undefined until one did. */
  readonly node: string | undefined;
  /**
   * Head of the latest look. On an idle chain it may be the newest block of the look before, because fewer blocks are
   * read there (Decision 141).
   */
  readonly head: number | undefined;
  /** True when the nodes of a chain that makes blocks regularly show no new ones. */
  readonly standsStill: boolean;
  /** Start of the latest round that this process finished as the leader, in UTC milliseconds. */
  readonly scannedAt: number | undefined;
}

/** State from the database at the beginning of a look. */
interface Known extends Omit<LookRecords, 'unread'> {
  readonly places: Places;
}

/** Finds payments on one chain and settles them. Only one watcher of a chain works at a time. */
export interface ChainWatcher extends Worker {
  status(): WatcherStatus;
  /**
   * Pause after a round without news: the chain's block time, at least 2 s. Longer while nothing is open and a new
   * session would wake the watcher.
   */
  pauseMs(): number;
  /** Ends the idle state, because a session may have been opened. */
  wake(): void;
  /**
   * Extends the lease of a watcher that leads: after a third of it during a look, and otherwise after two thirds, when
   * the next look is late. Returns the milliseconds until the next call. The running round ends when the lease is lost
   * or cannot be extended, and when it does not move.
   */
  renew(): Promise<number>;
  /** Lets another watcher of the chain lead immediately. */
  resign(): Promise<void>;
}

const LEASE_MS = 20_000;
/** Pause while nothing is open and a new session wakes the watcher, or while another watcher leads. */
const IDLE_PAUSE_MS = 10_000;
const NOTHING_SEEN: Omit<WatcherStatus, 'node' | 'standsStill'> = { head: undefined, scannedAt: undefined };
/** An unchanged chain is read again after this time: nodes lag, and one address may balance among several machines. */
const LOOK_AGAIN_MS = 60_000;

/** Creates the watcher of one chain. Rounds requested at the same time run one after another. */
export function chainWatcher(options: ChainWatcherOptions): ChainWatcher {
  const { chain, client, db, seals, clock, log, leaseMs = LEASE_MS, fault = () => {} } = options;
  const lease = watchLease({
    db,
    chainId: chain.id,
    leaseMs,
    clock,
    share: options.share,
    log,
    onElected() {
      watched.forget();
      options.onElected?.();
    },
  });
  const line = boundedLines({ clock, log });
  const watched = watchedPlaces({ chainId: chain.id, clock });
  const effect = effects({ db, seals, clock, line, lease, fault });
  const pool = nodePool(client);
  const view = nodeView(pool);
  const advancing = advance({ chainId: chain.id, view, doubt: pool.doubt, clock, fault });
  const side = lanes({ client, clock, log, effect });
  const records = recordJudge({ side, clock });
  const same = sameChain({ clock });
  const rhythm = blockRhythm({ clock });
  const heads = roundHeads(pool.doubt);
  let status = NOTHING_SEEN;
  let lastRun: Promise<unknown> = Promise.resolve();
  let isLooking = false;
  /** True while nothing is open and a new session wakes the watcher, or while another watcher leads. */
  let isIdle = false;
  let wakes = 0;
  let ending = new AbortController();
  /** Progress without findings that is not stored yet. */
  let noted: LookProgress = {};
  /** The last look, if it found nothing and left nothing open. */
  let looked: { readonly head: Header; readonly places: Places; readonly at: number } | undefined;

  async function keep(): Promise<void> {
    const progress = noted;
    noted = {};
    if ((progress.cursor ?? progress.settledBlock) === undefined && !watched.hasUnread()) return;
    // Without `doubt` first: the head that was read proves the chain, so only nodes already in doubt are asked.
    await pool.vouch();
    await effect('settled', async ({ handle }) => {
      await cursorStore(handle).keep(chain.id, progress);
      await watched.markRead(handle);
    });
  }

  async function lead(signal: AbortSignal): Promise<number> {
    await fault('round');
    if (!(await lease.hold())) {
      status = NOTHING_SEEN;
      isIdle = !lease.isWaiting();
      await forget();
      return 0;
    }
    const startedAt = clock.now();
    const newest = await view.head();
    rhythm.see(newest);
    await fault('head');
    const known = await readKnown();
    const ours = { head: newest, seenAt: startedAt };
    const seen = heads.choose(ours, !known.isOpen);
    // A block that was scanned before is not read again, so it does not prove the chain of the node.
    if (seen.head !== newest && looked?.head.hash === seen.head.hash) pool.doubt();
    const changes = await roundUpTo(seen, known, signal);
    if (seen.head === newest || advancing.hasReachedHead()) return changes;
    // The block is no longer on the chain, or another node answered.
    heads.forget();
    const again = heads.choose(ours, false);
    return changes + (await roundUpTo(again, await readKnown(), signal));
  }

  /**
   * Reads the state for a look. It reads after the head, so that it knows the recipients of all payments in blocks up
   * to the head. It checks every time for open sessions: a notification may be lost, or older than this watcher's lead.
   */
  async function readKnown(): Promise<Known> {
    const wakesBefore = wakes;
    const { unread, ...known } = await lookRecords(db, chain.id, clock.now());
    const places = await watched.read(db, unread);
    isIdle = !known.isOpen && wakes === wakesBefore;
    return { ...known, places };
  }

  async function roundUpTo({ head, ...seen }: RoundHead, known: Known, signal: AbortSignal): Promise<number> {
    status = { ...status, head: head.number };
    const round = {
      chain,
      view,
      head,
      places: known.places,
      progress: known.progress,
      db,
      seals,
      clock,
      log,
      line,
      effect: vouchedBy(pool, effect),
      note(more: LookProgress) {
        noted = { ...noted, ...more };
      },
    };
    const isQuiet =
      looked?.head.hash === head.hash &&
      looked.places === known.places &&
      !known.isRetryDue &&
      clock.now() - looked.at < LOOK_AGAIN_MS;
    const changes = isQuiet ? await waitOn(round, seen.seenAt) : await look(round, seen, signal);
    await keep();
    status = { ...status, scannedAt: seen.seenAt };
    return changes;
  }

  /** Scans up to a head, after a new block or with new recipients. */
  async function look(begun: Round, seen: LookedAt, signal: AbortSignal): Promise<number> {
    const { head, places } = begun;
    const isAnother = await same.isAnother(begun, records.isFresh());
    const round = isAnother ? { ...begun, progress: undefined } : begun;
    const early = await records.begin(round);
    if (early.isMoved) advancing.forget();
    const recorded = await advancing.run(round, seen, signal);
    if (advancing.hasReachedHead()) heads.confirm();
    const judgement = await records.judge(round, { hasNews: recorded > 0, standing: advancing.standing() });
    const pieces = await side.run(round, { blocks: advancing.readSetAside });
    if (judgement.isMoved || pieces.isMoved) advancing.forget();
    const changes = early.changes + recorded + judgement.changes + pieces.changes;
    const isDone = changes === 0 && judgement.isCertain && pieces.isOver && advancing.isComplete();
    looked = isDone ? { head, places, at: seen.seenAt } : undefined;
    return changes;
  }

  /** With the same block and the same recipients, only claims can change. */
  async function waitOn(round: Round, seenAt: number): Promise<number> {
    advancing.note(round, seenAt);
    const { changes, isMoved } = await records.follow(round);
    if (isMoved) advancing.forget();
    if (changes > 0) looked = undefined;
    return changes;
  }

  /** Drops all memory of the chain: another leader may have changed the records. */
  async function forget(): Promise<void> {
    await records.forget();
    advancing.forget();
    heads.forget();
    watched.forget();
    looked = undefined;
    noted = {};
  }

  async function runOnce(signal: AbortSignal): Promise<number> {
    ending = new AbortController();
    const ended = AbortSignal.any([signal, ending.signal]);
    pool.begin(ended);
    isLooking = true;
    try {
      return await lead(ended);
    } catch (error) {
      await forget();
      if (error instanceof LeadershipLost) {
        lease.lose();
        log.info({ chainId: chain.id }, 'another watcher has taken over');
        return 0;
      }
      if (error instanceof NodeLost || error instanceof RoundSpent) {
        log.info({ chainId: chain.id, err: error }, 'a round ended early and starts over');
        return 0;
      }
      // Another process may reach a node of this chain.
      await lease.resign().catch(logAndGoOn(log, 'resigning as a watcher'));
      throw error;
    } finally {
      isLooking = false;
    }
  }

  async function renew(): Promise<number> {
    try {
      return await lease.renew(isLooking ? pool.traffic().calls : undefined);
    } catch (error) {
      ending.abort(error);
      if (!(error instanceof LeadershipLost)) throw error;
      return leaseMs / 3;
    }
  }

  return {
    name: `watcher of chain ${chain.id}`,
    runOnce(signal) {
      const run = lastRun.then(() => runOnce(signal));
      lastRun = run.catch(() => {});
      return run;
    },
    status: () => ({
      ...status,
      node: status.head === undefined ? undefined : pool.host(),
      standsStill: status.head !== undefined && rhythm.standsStill(),
    }),
    pauseMs: () => Math.max(rhythm.pauseMs(), isIdle && db.wakeups.isListening() ? IDLE_PAUSE_MS : 0),
    wake() {
      wakes += 1;
      isIdle = false;
    },
    renew,
    async resign() {
      await forget();
      await lease.resign();
    },
  };
}
