import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '#db/migrate.ts';
import { type Db, openDatabase } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { systemClock } from '#lib/clock.ts';
import { newId } from '#lib/ids.ts';
import { createLogger } from '#lib/logger.ts';
import { startWorker } from '#lib/worker.ts';
import { eventStore } from '#payments/events/event-store.ts';
import { relay } from '#payments/events/relay.ts';
import { testEventData } from '#payments/events/test-event.ts';
import type { PaymentEvent } from '#payments/model/event.ts';
import type { Owner } from '#payments/model/owner.ts';
import { NEW_ACTIVITY, newWebhookSecret, type Webhook } from '#payments/model/webhook.ts';
import { seals as sealsOf } from '#payments/secrets/sealed.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { startDispatcher } from '#payments/webhooks/dispatcher.ts';
import { webhookSender } from '#payments/webhooks/sender.ts';
import { webhookStore } from '#payments/webhooks/store/webhook-store.ts';

export const seals = sealsOf(['a secret of measurements only']);
export const log = createLogger({ level: 'error' });

/** Delivery part of the payments platform on its own SQLite database, with the default durability. */
export interface BenchPlatform extends AsyncDisposable {
  readonly db: Db;
  /** Creates a webhook for all events, in a new organization. */
  webhook(url: string): Promise<Webhook>;
  /** Records `count` events of an organization in one transaction. `committedAt` is in UTC milliseconds. */
  happen(owner: Owner, count: number): Promise<{ ids: string[]; committedAt: number }>;
  /** Starts the relay and the dispatcher, which run until the platform is disposed. */
  start(concurrencyPerEndpoint: number): void;
}

export async function startPlatform(): Promise<BenchPlatform> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const db = openDatabase({ file: join(folder, 'payments.db') });
  opened.defer(() => db.destroy());
  await migrate(db, PAYMENTS_MIGRATIONS);
  const sender = webhookSender({ allowedNetworks: ['127.0.0.0/8'], allowHttp: true, log });
  opened.defer(() => sender.close());
  const resources = opened.move();
  const clock = systemClock;
  let place = 0;

  return {
    db,
    async webhook(url) {
      const organizationId = newId('org');
      const now = clock.now();
      const defaults = { chainId: null, tokenAddress: null, recipientAddress: null };
      await organizationStore(db).insert({
        id: organizationId,
        name: organizationId,
        tier: 'standard',
        defaults,
        createdAt: now,
      });
      const webhook: Webhook = {
        ...NEW_ACTIVITY,
        id: newId('wh'),
        organizationId,
        mode: 'live',
        url,
        events: ['*'],
        description: null,
        storeResponses: false,
        previousSecretUntil: null,
        lastTriggeredAt: null,
        createdAt: now,
        updatedAt: now,
      };
      await transaction(db, handle => webhookStore(handle, seals).insert(webhook, newWebhookSecret()));
      return webhook;
    },
    async happen(owner, count) {
      const events = Array.from({ length: count }, () => anEvent(owner, clock.now()));
      const recorded = events.map(event => ({ event, fact: event.id, order: ++place }));
      await transaction(db, handle => eventStore(handle, seals).insert(recorded));
      return { ids: events.map(({ id }) => id), committedAt: clock.now() };
    },
    start(concurrencyPerEndpoint) {
      const dispatcher = startDispatcher({
        db,
        seals,
        clock,
        log,
        sender,
        concurrencyPerEndpoint,
        stopWithinMs: 0,
      });
      resources.defer(() => dispatcher.stop());
      const relaying = relay({ db, seals, clock, log });
      const runOnce = async (signal: AbortSignal) => {
        const done = await relaying.runOnce(signal);
        if (done > 0) dispatcher.nudge();
        return done;
      };
      const relayed = startWorker({ ...relaying, runOnce }, { pauseMs: 200, clock, log });
      resources.defer(() => relayed.stop());
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function anEvent({ organizationId, mode }: Owner, now: number): PaymentEvent {
  const type = 'payment.completed';
  const data = testEventData(type, now);
  if (!('checkoutSession' in data)) throw new Error(`${type} has no session`);
  return { id: newId('evt'), organizationId, mode, type, createdAt: now, data };
}
