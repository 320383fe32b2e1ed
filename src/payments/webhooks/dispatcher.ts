import type { Db } from '../../db/open.ts';
import { lookPauseMs, startWokenWorker } from '../../db/woken-worker.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Logger, logAndGoOn } from '../../lib/logger.ts';
import type { RunningWorker } from '../../lib/worker.ts';
import type { ClaimedDelivery, Receiver } from '../model/webhook.ts';
import type { Seals } from '../secrets/sealed.ts';
import { makeAttempt } from './attempt.ts';
import { deliveryQueue } from './delivery-queue.ts';
import { results } from './results.ts';
import type { WebhookSender } from './sender.ts';
import { fairShares, inFlight } from './slots.ts';

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
  const queue = deliveryQueue({ db, seals, clock, log });
  const sending = inFlight();
  let cutOffAt = Number.NEGATIVE_INFINITY;
  let isStopping = false;
  let isAbandoned = false;
  const outcomes = results({
    clock,
    log,
    async settleAll(batch) {
      await fault('before result');
      await queue.settleAll(batch);
      for (const { isSuccess } of batch) options.onAttempt?.(isSuccess ? 'success' : 'failure');
      await fault('after result');
    },
  });
  const running = startWokenWorker(
    { name: 'dispatcher', runOnce },
    { db, topic: 'deliveries', pauseMs, longestPauseMs: LONGEST_PAUSE_MS, clock, log },
  );

  return {
    nudge: running.nudge,
    async stop() {
      isStopping = true;
      await running.stop();
      const waiting = new AbortController();
      const patience = clock.sleep(stopWithinMs, waiting.signal).catch(() => {});
      await Promise.race([sending.allEnded(), patience]);
      waiting.abort();
      // What is not over now is cut off: it has no result, and is sent again when its lease ends.
      isAbandoned = true;
      outcomes.abandon();
    },
  };

  async function runOnce(): Promise<number> {
    await endCutOff();
    // Taken now, a delivery whose result waits to be written could be sent a second time.
    if (outcomes.isStuck()) return 0;
    const free = Math.min(LARGEST_CLAIM, MOST_IN_FLIGHT - sending.size());
    if (free <= 0) return 0;
    const shares = fairShares(await queue.webhooksWithDue(), {
      perWebhook: concurrencyPerEndpoint,
      free,
      ...sending.counts(),
    });
    if (shares.length === 0) return 0;
    await fault('before claim');
    // A slot that became free while this round read would begin another attempt.
    if (isStopping) return 0;
    const claims = await queue.takeDue(shares);
    await fault('after claim');
    const owners = new Map(shares.map(({ webhookId, organizationId }) => [webhookId, organizationId]));
    for (const { receiver, deliveries } of claims) {
      const organizationId = owners.get(receiver.webhookId) ?? '';
      for (const delivery of deliveries) {
        const ended = deliver(delivery, receiver).catch(logAndGoOn(log, 'delivering, which begins again'));
        sending.add(receiver.webhookId, organizationId, ended);
      }
    }
    return claims.reduce((sum, { deliveries }) => sum + deliveries.length, 0);
  }

  async function deliver(delivery: ClaimedDelivery, receiver: Receiver): Promise<void> {
    await fault('before send');
    const result = await makeAttempt(delivery, receiver, options);
    await fault('after send');
    if (!isAbandoned) await outcomes.write(result);
    // Its slot is free.
    setImmediate(running.nudge);
  }

  async function endCutOff(): Promise<void> {
    // Also when the clock was set back.
    if (Math.abs(clock.now() - cutOffAt) < CUT_OFF_EVERY_MS) return;
    cutOffAt = clock.now();
    await queue.endCutOff(CUT_OFF_AT_ONCE);
  }
}
