import { setImmediate } from 'node:timers/promises';
import type { Db } from '../../db/open.ts';
import { FAILURE_PAUSE_MS, lookPauseMs, startWokenWorker } from '../../db/woken-worker.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Logger, logAndGoOn } from '../../lib/logger.ts';
import { type RunningWorker, startWorker } from '../../lib/worker.ts';
import type { AttemptResult, ClaimedDelivery, Receiver } from '../model/webhook.ts';
import type { Seals } from '../secrets/sealed.ts';
import { makeAttempt } from './attempt.ts';
import { deliveryQueue, type LeasedDelivery } from './delivery-queue.ts';
import { results } from './results.ts';
import type { WebhookSender } from './sender.ts';
import { fairShares, inFlight, type Share } from './slots.ts';
import type { WebhookWithDue } from './store/due-deliveries.ts';

/** Where a fault can be made to happen: around each of the three things that are done to a delivery. */
export type DispatcherStep =
  | 'before claim'
  | 'after claim'
  | 'before send'
  | 'after send'
  | 'before result'
  | 'after result';

export interface DispatcherOptions {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sender: WebhookSender;
  /** How many attempts one webhook gets at a time from this process. */
  readonly concurrencyPerEndpoint: number;
  /** Called with what came of an attempt, once it is written. */
  readonly onAttempt?: ((result: 'success' | 'failure') => void) | undefined;
  /** Attempts under way at a time in this process; 2,000 when absent. */
  readonly mostInFlight?: number;
  /** Rest after nothing was due, in milliseconds; that of `lookPauseMs` when absent. */
  readonly pauseMs?: number;
  /** How long `stop` waits for what is being sent, in milliseconds; 10 s when absent. */
  readonly stopWithinMs?: number;
  /** 0 to 1: how much of the jitter a retry gets. Random when absent. */
  readonly chance?: () => number;
  /** Called at each step; what it throws is thrown there. */
  readonly fault?: (step: DispatcherStep) => void | Promise<void>;
}

const PAUSE_MS = 200;
const STOP_WITHIN_MS = 10_000;
/** What one transaction takes: others write between two of them. */
const LARGEST_CLAIM = 200;
/** Attempts under way in this process: each holds a socket and a body. */
const MOST_IN_FLIGHT = 2_000;
const CUT_OFF_EVERY_MS = 10_000;
const CUT_OFF_AT_ONCE = 100;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Sends what is due until it is stopped; any number of processes may. Sends go on beside each other and nobody waits for
 * one: a receiver that hangs keeps its own slots busy. `nudge` says that something was recorded.
 */
export function startDispatcher(options: DispatcherOptions): RunningWorker {
  const { db, seals, clock, log, concurrencyPerEndpoint, fault = () => {} } = options;
  const { pauseMs = () => lookPauseMs(db, PAUSE_MS), stopWithinMs = STOP_WITHIN_MS } = options;
  const { mostInFlight = MOST_IN_FLIGHT } = options;
  const queue = deliveryQueue({ db, seals, clock, log });
  const sending = inFlight();
  let cutOffAt = Number.NEGATIVE_INFINITY;
  let isStopping = false;
  let isAbandoned = false;
  const outcomes = results({ isOfRows: db.dialect.isOfRows, log });
  const worker = { name: 'dispatcher', runOnce };
  const rests = { pauseMs, failurePauseMs: FAILURE_PAUSE_MS, longestPauseMs: LONGEST_PAUSE_MS, clock, log };
  let running = startWokenWorker(worker, { db, topic: 'deliveries', ...rests });
  let isNudging = false;

  return {
    nudge: () => running.nudge(),
    async stop() {
      isStopping = true;
      await running.stop();
      // For the results of what is under way.
      running = startWorker(worker, rests);
      const waiting = new AbortController();
      const patience = clock.sleep(stopWithinMs, waiting.signal).catch(() => {});
      await Promise.race([sending.allEnded().then(() => running.stop()), patience]);
      waiting.abort();
      // What is not over now is cut off: it has no result, and is sent again when its lease ends.
      isAbandoned = true;
      outcomes.abandon();
      void running.stop();
    },
  };

  async function runOnce(): Promise<number> {
    // Answers that come while others are read are written with them: the more together, the fewer commits.
    await setImmediate();
    const due = await lookForDue().catch(async error => {
      // Kept any longer, results would outlive their leases, and the deliveries be sent again.
      await outcomes.writeTogether(batch => exchange(batch, []));
      throw error;
    });
    let isAllWritten = true;
    const begun = await outcomes.writeTogether((batch, isAll) => {
      isAllWritten = isAll;
      return exchange(batch, isAll ? shares(due) : []);
    });
    const owners = new Map(due.map(({ webhookId, organizationId }) => [webhookId, organizationId]));
    for (const { receiver, deliveries } of begun) {
      const { webhookId } = receiver;
      const owner = { webhookId, organizationId: owners.get(webhookId) ?? '' };
      for (const delivery of deliveries) {
        sending.add(owner, leaveSlot =>
          deliver(delivery, receiver, leaveSlot).catch(logAndGoOn(log, 'delivering, which begins again')),
        );
      }
    }
    // Results that are left, and the attempts that waited for them, must not wait for a nudge.
    return begun.reduce((sum, { deliveries }) => sum + deliveries.length, isAllWritten ? 0 : 1);
  }

  async function lookForDue(): Promise<WebhookWithDue[]> {
    await endCutOff();
    return queue.webhooksWithDue();
  }

  function shares(due: readonly WebhookWithDue[]): Share[] {
    const idle = mostInFlight - sending.size();
    if (isStopping || idle <= 0) return [];
    const free = Math.min(LARGEST_CLAIM, idle);
    return fairShares(due, { perWebhook: concurrencyPerEndpoint, free, idle, ...sending.counts() });
  }

  /**
   * Writes results and starts attempts in the freed slots, in one transaction (Decision 258). Each commit waits for the
   * disk, so a shared one halves their number, and a crash cannot separate the two. An attempt is recorded before its
   * request leaves, and ended before another one takes its slot. After a failure no attempt starts until all results are
   * written. A webhook that these results disable starts nothing.
   */
  async function exchange(
    batch: readonly AttemptResult[],
    dealt: readonly Share[],
  ): Promise<LeasedDelivery[]> {
    if (batch.length > 0) await fault('before result');
    if (dealt.length > 0) await fault('before claim');
    const wanted = isStopping ? [] : dealt;
    if (batch.length === 0 && wanted.length === 0) return [];
    const { begun } = await queue.exchange({ results: batch, wanted });
    for (const { isSuccess } of batch) options.onAttempt?.(isSuccess ? 'success' : 'failure');
    if (batch.length > 0) await fault('after result');
    if (wanted.length > 0) await fault('after claim');
    return begun;
  }

  async function deliver(
    delivery: ClaimedDelivery,
    receiver: Receiver,
    leaveSlot: () => void,
  ): Promise<void> {
    await fault('before send');
    const result = await makeAttempt(delivery, receiver, options);
    await fault('after send');
    if (isAbandoned) return;
    const written = outcomes.keep(result);
    // For the transaction that writes the result.
    leaveSlot();
    nudgeSoon();
    await written;
  }

  /** Nudges once for all results that come in the same turn of the event loop. */
  function nudgeSoon(): void {
    if (isNudging) return;
    isNudging = true;
    void setImmediate().then(() => {
      isNudging = false;
      running.nudge();
    });
  }

  async function endCutOff(): Promise<void> {
    // Also when the clock was set back.
    if (Math.abs(clock.now() - cutOffAt) < CUT_OFF_EVERY_MS) return;
    cutOffAt = clock.now();
    await queue.endCutOff(CUT_OFF_AT_ONCE);
  }
}
