import type { Db } from '../../db/open.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger, LogLine } from '../../lib/logger.ts';
import type { ChainClient } from '../../node/client.ts';
import { TRACE_METHODS } from '../../node/trace-methods.ts';
import type { PaymentChain } from '../model/payment-chain.ts';
import type { Seals } from '../secrets/sealed.ts';
import { cursorStore, type LookProgress } from '../store/cursor-store.ts';
import { type LookRecords, lookRecords } from '../store/look-records.ts';
import { advance } from './advance.ts';
import { coinSource } from './coin-source.ts';
import { depositLooks } from './deposits/deposit-looks.ts';
import { type LaneWorks, lanes } from './look/lanes.ts';
import { type Failpoint, type LeaderTransaction, type Look, verifiedBy } from './look/look.ts';
import { recordChecks } from './look/record-checks.ts';
import { askChecked } from './node/checked-blocks.ts';
import type { NodePool } from './node/node-pool.ts';
import { type Header, nodeView } from './node/node-view.ts';
import { blockRhythm, type LookedAt, type LookHead, lookHeads } from './node/seen-heads.ts';
import type { WatchedAddresses } from './node/token-transfers.ts';
import { blockEvidence } from './proofs/block-evidence.ts';
import type { ProvenIndex } from './proofs/indexed-blocks.ts';
import { laterProofs } from './proofs/later-proofs.ts';
import { paymentProofs } from './proofs/payment-proofs.ts';
import { secondNode } from './proofs/second-node.ts';
import { provenBlocks } from './proven-blocks.ts';
import { refundFollower } from './refunds/followed-refunds.ts';
import { reportedHashes } from './reported-hashes.ts';
import { lastBlockBefore, sameChain } from './starting-point.ts';
import { tracedCoins } from './traced-coins.ts';
import { traceReader } from './traces/trace-reader.ts';
import { watchedAddresses } from './watched-addresses.ts';

export interface ChainLooksOptions {
  readonly chain: PaymentChain;
  readonly client: ChainClient;
  /** Index of the same installation; undefined without one. */
  readonly index: ProvenIndex | undefined;
  readonly pool: NodePool;
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly log: Logger;
  readonly line: LogLine;
  readonly effect: LeaderTransaction;
  readonly fault: Failpoint;
}

/** Progress of the looks at a chain. */
export interface LookStatus {
  /**
   * Head of the latest look. On an idle chain it may be the newest block of the look before, because fewer blocks are
   * read there (Decision 141).
   */
  readonly head: number | undefined;
  /** Start of the latest finished look, in UTC milliseconds. */
  readonly scannedAt: number | undefined;
}

/** State from the database at the beginning of a look. */
interface LookStart extends Omit<LookRecords, 'unread'> {
  readonly watched: WatchedAddresses;
}

/** Looks of a leading watcher at its chain. */
export interface ChainLooks {
  /** Looks at the newest block, and once more if it was replaced meanwhile. Resolves with the number of changes. */
  run(signal: AbortSignal): Promise<number>;
  /** Drops all memory of the chain: another leader may have changed the records. */
  forget(): Promise<void>;
  /** Ends the looks of a watcher that does not lead any more, or not yet. */
  pause(): Promise<void>;
  /** Drops the memory of watched addresses. */
  forgetWatched(): void;
  status(): LookStatus;
  /** True while nothing is open, unless a new session has been announced since. */
  isIdle(): boolean;
  /** Ends the idle state, because a session may have been opened. */
  wake(): void;
  /** True when the nodes of a chain that makes blocks regularly show no new ones. */
  standsStill(): boolean;
  /** The chain's block time, at least 2 s. */
  pauseMs(): number;
}

/** An unchanged chain is read again after this time: nodes lag, and one address may balance among several machines. */
const LOOK_AGAIN_MS = 60_000;
const NOTHING_SEEN: LookStatus = { head: undefined, scannedAt: undefined };

/** Creates the looks at one chain. */
export function chainLooks(options: ChainLooksOptions): ChainLooks {
  const { chain, client, index, pool, db, seals, clock, log, line, effect, fault } = options;
  const memory = watchedAddresses({ chainId: chain.id, clock });
  const view = nodeView(pool, chain.prove === 'off' ? undefined : askChecked(pool, client));
  const advancing = advance({ chainId: chain.id, view, unverify: pool.unverify, clock, fault });
  const traces = traceReader({ clock, methods: chain.traceCoins === false ? [] : TRACE_METHODS });
  const traced = tracedCoins({ chainId: chain.id, traces, clock });
  const side = lanes({ client, clock, log, effect });
  const evidence = blockEvidence({ client, index, clock });
  const proven = provenBlocks({ chain, evidence, clock });
  const proofs = paymentProofs({ chain, evidence, hasProven: proven.hasProven, clock, log });
  const records = recordChecks({ side, proofs, clock, hasTraced: traced.hasRead });
  const later = laterProofs({ chain, evidence, clock });
  const second = secondNode({ chain, client, clock });
  const refunds = refundFollower({ clock });
  const reports = reportedHashes({ clock, hasTraced: traced.hasRead });
  const same = sameChain({ clock });
  const source = coinSource({ clock });
  const deposits = depositLooks({ chain, clock, lastBlockBefore });
  const rhythm = blockRhythm({ clock });
  const heads = lookHeads(pool.unverify);
  let status = NOTHING_SEEN;
  let isIdle = false;
  let wakes = 0;
  /** Progress without findings that is not stored yet. */
  let noted: LookProgress = {};
  /** The last look, if it found nothing and left nothing open. */
  let looked: { readonly head: Header; readonly watched: WatchedAddresses; readonly at: number } | undefined;

  async function run(signal: AbortSignal): Promise<number> {
    const startedAt = clock.now();
    const newest = await view.head();
    rhythm.see(newest);
    await fault('head');
    const known = await readKnown();
    const ours = { head: newest, seenAt: startedAt };
    const seen = heads.choose(ours, !known.isOpen);
    // A block that was scanned before is not read again, so it does not prove the chain of the node.
    if (seen.head !== newest && looked?.head.hash === seen.head.hash) pool.unverify();
    const changes = await lookAtHead(seen, known, signal);
    if (seen.head === newest || advancing.hasReachedHead()) return changes;
    // The block is no longer on the chain, or another node answered.
    heads.forget();
    const again = heads.choose(ours, false);
    return changes + (await lookAtHead(again, await readKnown(), signal));
  }

  /**
   * Reads the state for a look. It reads after the head, so that it knows the recipients of all payments in blocks up
   * to the head. It checks every time for open sessions: a notification may be lost, or older than this watcher's lead.
   */
  async function readKnown(): Promise<LookStart> {
    const wakesBefore = wakes;
    const { unread, ...known } = await lookRecords(db, chain.id, clock.now());
    const watched = await memory.read(db, unread);
    isIdle = !known.isOpen && wakes === wakesBefore;
    return { ...known, watched };
  }

  async function lookAtHead(
    { head, ...seen }: LookHead,
    known: LookStart,
    signal: AbortSignal,
  ): Promise<number> {
    status = { ...status, head: head.number };
    const look = {
      chain,
      view,
      head,
      watched: known.watched,
      progress: known.progress,
      coinLogsFrom: known.progress?.coinLogsFrom,
      db,
      seals,
      clock,
      log,
      line,
      effect: verifiedBy(pool, effect),
      note(more: LookProgress) {
        noted = { ...noted, ...more };
      },
    };
    const isQuiet =
      looked?.head.hash === head.hash &&
      looked.watched === known.watched &&
      !known.isRetryDue &&
      clock.now() - looked.at < LOOK_AGAIN_MS;
    const changes = isQuiet
      ? await waitOn(look, known, seen.seenAt)
      : await scan(look, { ...seen, ...known }, signal);
    await keep();
    status = { ...status, scannedAt: seen.seenAt };
    return changes;
  }

  /** Scans up to a head, after a new block or with new recipients. */
  async function scan(
    begun: Look,
    { hasRefunds, hasReports, ...seen }: LookedAt & LookStart,
    signal: AbortSignal,
  ): Promise<number> {
    const { head, watched } = begun;
    const isAnother = await same.isAnother(begun, records.isFresh());
    const known = isAnother ? { ...begun, progress: undefined } : begun;
    const { coinLogsFrom, ...start } = await source.start(known);
    const look = { ...known, coinLogsFrom };
    const early = await records.begin(look);
    if (early.isMoved) advancing.forget();
    const recorded = await advancing.run(look, { ...seen, ...start }, signal);
    if (advancing.hasReachedHead()) heads.confirm();
    const checked = await records.check(look, { hasNews: recorded > 0, standing: advancing.standing() });
    const works: LaneWorks = {
      ...(hasRefunds && { refunds: refunds.run, sentRefunds: refunds.search }),
      ...(hasReports && { reports: reports.run }),
      blocks: advancing.readSetAside,
      coins: advancing.readCoinsAhead,
      ...(seen.isOpen && { secondNode: second.run }),
      proofs: proven.run,
      laterProofs: later.run,
      traces: traced.run,
      tracePieces: traced.readSetAside,
      ...(seen.hasDeposits && { deposits: watching => deposits.run(watching, advancing.hasReadAll()) }),
    };
    const lanes = await side.run(look, works);
    if (checked.isMoved || lanes.isMoved) advancing.forget();
    const changes = early.changes + recorded + checked.changes + lanes.changes;
    const isWaiting = [traced, proven, deposits].some(one => one.isWaiting());
    const isOver = lanes.isOver && !isWaiting;
    const isDone = changes === 0 && checked.isCertain && isOver && advancing.isComplete();
    looked = isDone ? { head, watched, at: seen.seenAt } : undefined;
    return changes;
  }

  /** With the same block and the same recipients, only claims, reports and refunds can change. */
  async function waitOn(look: Look, { hasRefunds, hasReports }: LookStart, seenAt: number): Promise<number> {
    advancing.note(look, seenAt);
    const { changes, isMoved } = await records.follow(look, {
      ...(hasRefunds && { refunds: refunds.run, sentRefunds: refunds.search }),
      ...(hasReports && { reports: reports.run }),
    });
    if (isMoved) advancing.forget();
    if (changes > 0) looked = undefined;
    return changes;
  }

  async function keep(): Promise<void> {
    const progress = noted;
    noted = {};
    const hasProgress = Object.values(progress).some(one => one !== undefined);
    if (!hasProgress && !memory.hasUnread()) return;
    // Without `unverify` first: the head that was read proves the chain, so only nodes already in doubt are asked.
    await pool.verify();
    await effect('settled', async ({ handle }) => {
      await cursorStore(handle).keep(chain.id, progress);
      await memory.markRead(handle);
    });
  }

  async function forget(): Promise<void> {
    await records.forget();
    refunds.forget();
    advancing.forget();
    traced.forget();
    proven.forget();
    second.forget();
    deposits.forget();
    heads.forget();
    memory.forget();
    looked = undefined;
    noted = {};
  }

  return {
    run,
    forget,
    async pause() {
      status = NOTHING_SEEN;
      isIdle = false;
      await forget();
    },
    forgetWatched: memory.forget,
    status: () => status,
    isIdle: () => isIdle,
    wake() {
      wakes += 1;
      isIdle = false;
    },
    standsStill: rhythm.standsStill,
    pauseMs: rhythm.pauseMs,
  };
}
