import type { Db } from '../db/open.ts';
import { lookPauseMs, startWokenWorker } from '../db/woken-worker.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { startWorker } from '../lib/worker.ts';
import type { ChainClient } from '../node/client.ts';
import { type ChainStatuses, chainStatuses } from './chain-status.ts';
import { dueWorkWorker } from './due-work.ts';
import { relay } from './events/relay.ts';
import { replayer } from './events/replayer.ts';
import type { PaymentsCounters } from './metrics.ts';
import { type PaymentChain, type PaymentChains, paymentChains } from './model/payment-chain.ts';
import { notifiers } from './notifications/notifier.ts';
import { startMessenger } from './notifications/start-messenger.ts';
import type { OutgoingChannels } from './outgoing.ts';
import { retentionWorker } from './retention.ts';
import { currentKeyWorker } from './secrets/key-rotation.ts';
import type { Seals } from './secrets/sealed.ts';
import { expiryWorker } from './watcher/expiry.ts';
import { startChainWatcher } from './watcher/running-watcher.ts';
import { startDispatcher } from './webhooks/dispatcher.ts';

/** A chain to be watched, through its nodes. */
export interface WatchedThrough {
  readonly chain: PaymentChain;
  readonly client: ChainClient;
}

export interface WorkersDeps {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly log: Logger;
  /** How merchants are told what happened. */
  readonly outgoing: OutgoingChannels;
  readonly counters?: PaymentsCounters | undefined;
  /** As in `RetentionOptions`. */
  readonly unpaidSessionsMs?: number | undefined;
}

/** What goes on without being asked for. */
export interface Workers {
  readonly statuses: ChainStatuses;
  /** Resolves when everything that was begun has ended. */
  stop(): Promise<void>;
}

const EXPIRY_PAUSE_MS = 1_000;
const RETENTION_PAUSE_MS = 10 * 60_000;
const KEY_PAUSE_MS = 60_000;
const DUE_WORK_PAUSE_MS = 5_000;
const RELAY_PAUSE_MS = 200;
const REPLAYER_PAUSE_MS = 1_000;
const NOTIFIER_PAUSE_MS = 1_000;

/** Starts a watcher for every chain, the expiry of sessions, what tells merchants, and the removal of what is too old. */
export function startWorkers(watched: readonly WatchedThrough[], deps: WorkersDeps): Workers {
  const { db, clock, log } = deps;
  const chains = paymentChains(watched.map(({ chain }) => chain));
  const watchers = watched.map(({ chain, client }) => ({
    chain,
    ...startChainWatcher({
      chain,
      client,
      ...deps,
      onElected: () => deps.counters?.leaderChange(`watcher:${chain.id}`),
    }),
  }));
  const running = [
    ...watchers,
    startWokenWorker(expiryWorker({ ...deps, chains }), {
      db,
      topic: 'sessions',
      pauseMs: () => lookPauseMs(db, EXPIRY_PAUSE_MS),
      clock,
      log,
    }),
    startWorker(retentionWorker(deps), { pauseMs: RETENTION_PAUSE_MS, clock, log }),
    startWorker(currentKeyWorker(deps), { pauseMs: KEY_PAUSE_MS, clock, log }),
    ...startOutgoingWorkers({ ...deps, chains }),
  ];
  return {
    statuses: chainStatuses({ db, clock, watched: watchers }),
    stop: async () => void (await Promise.all(running.map(worker => worker.stop()))),
  };
}

/** Starts what tells merchants of events: the relay, the dispatcher of webhooks, the notifiers, and the bot's ear. */
export function startOutgoingWorkers(
  deps: WorkersDeps & { readonly chains: PaymentChains },
): readonly { stop(): Promise<void> }[] {
  const { db, clock, log, outgoing, counters } = deps;
  const { sender, mailer, messenger } = outgoing;
  const { concurrencyPerEndpoint } = outgoing.webhooks;
  const dispatcher = startDispatcher({
    ...deps,
    sender,
    concurrencyPerEndpoint,
    onAttempt: counters?.deliveryAttempt,
  });
  const wakes = { db, clock, log };
  return [
    startWorker(dueWorkWorker(deps), { pauseMs: DUE_WORK_PAUSE_MS, clock, log }),
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
    dispatcher,
    ...notifiers({ ...deps, mailer, messenger, onOutcome: counters?.notification }).map(notifier =>
      startWokenWorker(notifier, {
        ...wakes,
        topic: 'notices',
        pauseMs: () => lookPauseMs(db, NOTIFIER_PAUSE_MS),
      }),
    ),
    ...(messenger === undefined ? [] : [startMessenger({ ...deps, messenger })]),
  ];
}
