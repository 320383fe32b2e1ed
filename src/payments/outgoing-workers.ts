import type { Db } from '../db/open.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { startWorker } from '../lib/worker.ts';
import { relay } from './events/relay.ts';
import type { PaymentsCounters } from './metrics.ts';
import type { PaymentChains } from './model/payment-chain.ts';
import { startMessenger } from './notifications/chat/start-messenger.ts';
import { notifiers } from './notifications/notifier.ts';
import type { OutgoingChannels } from './outgoing.ts';
import type { Seals } from './secrets/sealed.ts';
import { startDispatcher } from './webhooks/dispatcher.ts';

export interface TellersDeps {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly log: Logger;
  readonly chains: PaymentChains;
  readonly outgoing: OutgoingChannels;
  readonly counters?: PaymentsCounters | undefined;
}

const RELAY_PAUSE_MS = 200;
const NOTIFIER_PAUSE_MS = 1_000;

/** Starts what tells merchants of events: the relay, the dispatcher of webhooks, the notifiers, and the bot's ear. */
export function startOutgoingWorkers(deps: TellersDeps): readonly { stop(): Promise<void> }[] {
  const { clock, log, outgoing, counters } = deps;
  const { sender, mailer, messenger } = outgoing;
  const { concurrencyPerEndpoint } = outgoing.webhooks;
  const dispatcher = startDispatcher({
    ...deps,
    sender,
    concurrencyPerEndpoint,
    onAttempt: counters?.deliveryAttempt,
  });
  const relaying = relay({ ...deps, onRelayed: counters?.event });
  const nudging = async (signal: AbortSignal) => {
    const done = await relaying.runOnce(signal);
    if (done > 0) dispatcher.nudge();
    return done;
  };
  return [
    startWorker({ ...relaying, runOnce: nudging }, { pauseMs: RELAY_PAUSE_MS, clock, log }),
    dispatcher,
    ...notifiers({ ...deps, mailer, messenger, onOutcome: counters?.notification }).map(notifier =>
      startWorker(notifier, { pauseMs: NOTIFIER_PAUSE_MS, clock, log }),
    ),
    ...(messenger === undefined ? [] : [startMessenger({ ...deps, messenger })]),
  ];
}
