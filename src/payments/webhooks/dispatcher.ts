import { setImmediate } from 'node:timers/promises';
import type { Db } from '../../db/open.ts';
import { FAILURE_PAUSE_MS, lookPauseMs, startWokenWorker } from '../../db/woken-worker.ts';
import { boundedLines, type ClockAndLog, logAndGoOn } from '../../lib/logger.ts';
import { type RunningWorker, startWorker } from '../../lib/worker.ts';
import type { AttemptResult, ClaimedDelivery, DisableAfterMs, Receiver } from '../model/webhook.ts';
import type { Seals } from '../secrets/sealed.ts';
import { makeAttempt } from './attempt.ts';
import { deliveryQueue, type LeasedDelivery } from './delivery-queue.ts';
import { results } from './results.ts';
import type { WebhookSender } from './sender.ts';
import { fairShares, inFlight, type Share } from './slots.ts';
import type { WebhookWithDue } from './store/due-deliveries.ts';

/** Points at which tests inject a fault: around each of the three steps of a delivery. */
export type DispatcherStep =
  | 'before claim'
  | 'after claim'
  | 'before send'
  | 'after send'
  | 'before result'
  | 'after result';

export interface DispatcherOptions extends ClockAndLog {
  readonly db: Db;
  readonly seals: Seals;
  readonly sender: WebhookSender;
  /** Most attempts in flight per webhook in this process. */
  readonly concurrencyPerEndpoint: number;
  /** `DISABLE_AFTER_MS` when absent. */
  readonly disableAfterMs?: DisableAfterMs | undefined;
  /** Called with the result of an attempt, once it is written. */
  readonly onAttempt?: ((result: 'success' | 'failure') => void) | undefined;
  /** Most attempts in flight in this process; 2,000 when absent. */
  readonly mostInFlight?: number;
  /** Pause after nothing was due, in milliseconds; that of `lookPauseMs` when absent. */
  readonly pauseMs?: number;
  /** Longest time that `stop` waits for attempts in flight, in milliseconds; 10 s when absent. */
  readonly stopWithinMs?: number;
  /** Part of the jitter that a retry gets, 0 to 1. Random when absent. */
  readonly chance?: () => number;
  /** Called at each step. Its error is thrown there. */
  readonly fault?: (step: DispatcherStep) => void | Promise<void>;
}

const PAUSE_MS = 200;
const STOP_WITHIN_MS = 10_000;
/** Most deliveries that one transaction takes, so that other writers do not wait long. */
const LARGEST_CLAIM = 200;
/** Default limit of attempts in flight. Each holds a socket and a body. */
const MAX_IN_FLIGHT = 2_000;
const CUT_OFF_EVERY_MS = 10_000;
const CUT_OFF_AT_ONCE = 100;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Sends due deliveries until it is stopped, in any number of processes. Attempts run concurrently and do not wait for
 * each other: a receiver that hangs occupies only its own slots. `nudge` starts a pass after a delivery was recorded.
 */
export function startDispatcher(options: DispatcherOptions): RunningWorker {
  const { db, clock, log, concurrencyPerEndpoint, fault = () => {} } = options;
  const { pauseMs = () => lookPauseMs(db, PAUSE_MS), stopWithinMs = STOP_WITHIN_MS } = options;
  const { mostInFlight = MAX_IN_FLIGHT } = options;
  const queue = deliveryQueue(options);
  const sending = inFlight();
  const line = boundedLines({ clock, log });
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
      // A worker that writes the results of attempts in flight.
      running = startWorker(worker, rests);
      const waiting = new AbortController();
      const patience = clock.sleep(stopWithinMs, waiting.signal).catch(() => {});
      await Promise.race([sending.allEnded().then(() => running.stop()), patience]);
      waiting.abort();
      // Attempts still in flight are interrupted. They have no result and are sent again when their lease ends.
      isAbandoned = true;
      outcomes.abandon();
      void running.stop();
    },
  };

  async function runOnce(): Promise<number> {
    // Waits for other answers in the same turn of the event loop, because larger batches need fewer commits.
    await setImmediate();
    const due = await lookForDue().catch(async error => {
      // Results are written in spite of the error. Otherwise their leases end and the deliveries are sent again.
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
          deliver(delivery, { ...receiver, ...owner }, leaveSlot).catch(
            logAndGoOn(log, 'delivering, which is repeated'),
          ),
        );
      }
    }
    // A positive number starts the next pass at once, for results that are left and attempts that wait for them.
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
   * Writes results and starts attempts in the freed slots. Both share a commit: commits wait for the
   * disk, so this halves their number, and a crash cannot separate the two. An attempt is recorded before its request
   * is sent, and ended before another one takes its slot. After a failure, no attempt starts until all results are
   * written. A webhook that is disabled by these results starts no attempt.
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
    receiver: Receiver & { readonly organizationId: string },
    leaveSlot: () => void,
  ): Promise<void> {
    await fault('before send');
    const result = await makeAttempt(delivery, receiver, options);
    await fault('after send');
    if (isAbandoned) return;
    const written = outcomes.keep(result);
    // The transaction that writes this result may already use the slot.
    leaveSlot();
    nudgeSoon();
    await written;
    if (!isAbandoned) line(factsOf(delivery, receiver, result), messageOf(result));
  }

  /** Nudges once for all results of the same turn of the event loop. */
  function nudgeSoon(): void {
    if (isNudging) return;
    isNudging = true;
    void setImmediate().then(() => {
      isNudging = false;
      running.nudge();
    });
  }

  async function endCutOff(): Promise<void> {
    // The difference is absolute, because the clock may have been set back.
    if (Math.abs(clock.now() - cutOffAt) < CUT_OFF_EVERY_MS) return;
    cutOffAt = clock.now();
    await queue.endCutOff(CUT_OFF_AT_ONCE);
  }
}

function messageOf({ isSuccess }: AttemptResult): string {
  return isSuccess ? 'delivery succeeded' : 'delivery failed';
}

/** Facts of an attempt for the log, without the receiver's address, which may hold a secret. */
function factsOf(
  { id: deliveryId, eventId, eventType, attempts: attempt }: ClaimedDelivery,
  { webhookId, organizationId }: Pick<Receiver, 'webhookId'> & { readonly organizationId: string },
  { responseCode, responseTimeMs }: AttemptResult,
) {
  return { organizationId, webhookId, deliveryId, eventId, eventType, attempt, responseCode, responseTimeMs };
}
