import type { Db } from '../db/open.ts';
import { lookPauseMs, startWokenWorker } from '../db/woken-worker.ts';
import { type ClockAndLog, logAndGoOn } from '../lib/logger.ts';
import { startWorker } from '../lib/worker.ts';
import { dueWorkWorker } from './due-work.ts';
import { relay } from './events/relay.ts';
import { replayer } from './events/replayer.ts';
import type { PaymentsCounters } from './metrics.ts';
import type { PaymentChains } from './model/payment-chain.ts';
import { notifiers } from './notifications/notifier.ts';
import { startMessenger } from './notifications/start-messenger.ts';
import type { OutgoingChannels } from './outgoing.ts';
import type { Seals } from './secrets/sealed.ts';
import { startDispatcher } from './webhooks/dispatcher.ts';

interface DeliveryDeps extends ClockAndLog {
  readonly db: Db;
  readonly seals: Seals;
  readonly chains: PaymentChains;
  /** Base URL of the dashboard; undefined when none is configured. */
  readonly publicUrl?: string | undefined;
  /** Channels to merchants. */
  readonly outgoing: OutgoingChannels;
  readonly counters?: PaymentsCounters | undefined;
}

const DUE_WORK_PAUSE_MS = 5_000;
const RELAY_PAUSE_MS = 200;
const REPLAYER_PAUSE_MS = 1_000;
const NOTIFIER_PAUSE_MS = 1_000;

/** Starts the workers that send events to merchants: relay, replayer, webhook dispatcher, notifiers and bot. */
export function startDelivery(deps: DeliveryDeps): { stop(): Promise<void> } {
  const { db, clock, log, outgoing, counters } = deps;
  const { sender, mailer, messenger } = outgoing;
  const { concurrencyPerEndpoint, disableAfterMs } = outgoing.webhooks;
  const wakes = { db, clock, log };
  const running = [
    startWorker(dueWorkWorker({ db, clock, topics: ['events', 'deliveries', 'notices', 'replays'] }), {
      pauseMs: DUE_WORK_PAUSE_MS,
      clock,
      log,
    }),
    startWokenWorker(relay({ ...deps, onRelayed: counters?.event }), {
      ...wakes,
      topic: 'events',
      pauseMs: () => lookPauseMs(db, RELAY_PAUSE_MS),
    }),
    startWokenWorker(replayer(deps), {
      ...wakes,
      topic: 'replays',
      pauseMs: () => lookPauseMs(db, REPLAYER_PAUSE_MS),
    }),
    startDispatcher({
      ...deps,
      sender,
      concurrencyPerEndpoint,
      disableAfterMs,
      onAttempt: counters?.deliveryAttempt,
    }),
    ...notifiers({ ...deps, mailer, messenger, onOutcome: counters?.notification }).map(notifier =>
      startWokenWorker(notifier, {
        ...wakes,
        topic: 'notices',
        pauseMs: () => lookPauseMs(db, NOTIFIER_PAUSE_MS),
      }),
    ),
    ...(messenger === undefined ? [] : [startMessenger({ ...deps, messenger })]),
  ];
  return {
    stop: async () =>
      void (await Promise.all(
        running.map(worker => worker.stop().catch(logAndGoOn(log, 'ending a worker'))),
      )),
  };
}
