import { expect } from 'vitest';
import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { type DatabaseOptions, type Db, openDatabase } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import type { Clock } from '#lib/clock.ts';
import { newId } from '#lib/ids.ts';
import { createLogger } from '#lib/logger.ts';
import { eventStore } from '#payments/events/event-store.ts';
import { relay } from '#payments/events/relay.ts';
import type { PaymentEvent } from '#payments/model/event.ts';
import type { Owner } from '#payments/model/owner.ts';
import type { Delivery, Webhook } from '#payments/model/webhook.ts';
import { seals as sealsOf } from '#payments/secrets/sealed.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { beginManual } from '#payments/webhooks/attempt-lifecycle.ts';
import { type DispatcherOptions, startDispatcher } from '#payments/webhooks/dispatcher.ts';
import { deliveryStore } from '#payments/webhooks/store/delivery-store.ts';
import { type WebhookChanges, webhookStore } from '#payments/webhooks/store/webhook-store.ts';
import { anOrganization } from '../../lab/payments-records.ts';
import { until } from '../../lab/until.ts';
import { loopbackSender } from '../../support/loopback-sender.ts';
import { aDelivery, anEvent, aSecret, aWebhook } from '../../support/webhook-records.ts';

/** A secret for tests only. */
export const SECRET = 'a secret of tests only';
export const seals = sealsOf([SECRET]);
export const log = createLogger({ level: 'silent' });

type EventSession = PaymentsSchemas['EventSession'];

/** A webhook with its secret. */
export interface Registered extends Webhook {
  readonly secret: string;
}

/** A database with webhooks, events for them and running dispatchers. */
export interface Setting extends AsyncDisposable {
  readonly options: DatabaseOptions;
  readonly db: Db;
  /** A webhook for all events, of a new organization by default. */
  webhook(url: string, owner?: Owner): Promise<Registered>;
  /** Records events and relays them to the webhooks. */
  happen(owner: Owner, count?: number, session?: Partial<EventSession>): Promise<PaymentEvent[]>;
  /** Begins the attempt of a test of a webhook, as a process that then crashes. */
  manualAttempt(webhook: Webhook): Promise<Delivery>;
  /** Starts a dispatcher, which ends with the setting. With a `pauseMs` the setting does not nudge it. */
  dispatch(options?: Partial<DispatcherOptions>): ReturnType<typeof startDispatcher>;
  /**
   * Resolves when every running dispatcher has, since the call, found no further due deliveries and ended its attempts.
   */
  idle(): Promise<void>;
  /** All deliveries of a webhook, oldest first. */
  deliveries(webhook: Webhook): Promise<Delivery[]>;
  /** The deliveries once `isRight` holds, or their state after half a minute. */
  deliveriesOnce(webhook: Webhook, isRight: (all: readonly Delivery[]) => boolean): Promise<Delivery[]>;
  current(webhook: Webhook): Promise<Webhook>;
  change(webhook: Webhook, changes: WebhookChanges): Promise<void>;
}

/** Starts the setting in a database of payments. `await using` ends it. */
export async function startSetting(options: DatabaseOptions, clock: Clock): Promise<Setting> {
  const db = openDatabase(options);
  await using opened = new AsyncDisposableStack();
  opened.defer(() => db.destroy());
  const sender = loopbackSender();
  opened.defer(() => sender.close());
  const resources = opened.move();
  const running = new Set<Activity>();
  let place = 0;

  const deliveries = async (webhook: Webhook) => {
    const { data } = await deliveryStore(db, seals).list(webhook, webhook.id, {}, { page: 1, limit: 10_000 });
    return data.reverse();
  };
  return {
    options,
    db,
    async webhook(url, owner) {
      const organization = anOrganization();
      if (owner === undefined) await organizationStore(db).insert(organization);
      const made = aWebhook(owner ?? { organizationId: organization.id, mode: 'live' }, {
        url,
        createdAt: clock.now(),
        updatedAt: clock.now(),
      });
      const secret = aSecret();
      await transaction(db, handle => webhookStore(handle, seals).insert(made, secret));
      return { ...made, secret };
    },
    async happen(owner, count = 1, session = {}) {
      const events = Array.from({ length: count }, (): PaymentEvent => {
        const event = anEvent(owner, { createdAt: clock.now() });
        const { checkoutSession: ofEvent } = event.data;
        if (ofEvent === null) throw new Error('an event without a session');
        return { ...event, data: { ...event.data, checkoutSession: { ...ofEvent, ...session } } };
      });
      const recorded = events.map(event => ({ event, fact: newId('fact'), order: ++place }));
      await transaction(db, handle => eventStore(handle, seals).insert(recorded));
      const relaying = relay({ db, seals, clock, log });
      while ((await relaying.runOnce(new AbortController().signal)) > 0) {}
      return events;
    },
    async manualAttempt(webhook) {
      const delivery = aDelivery(webhook, { isTest: true, createdAt: clock.now(), nextAttemptAt: null });
      await deliveryStore(db, seals).insert([{ delivery, body: '{}' }]);
      const of = { webhookId: webhook.id, id: delivery.id };
      await transaction(db, handle => beginManual(handle, { seals, now: clock.now() }, webhook, of));
      return delivery;
    },
    dispatch(more = {}) {
      const defaults = {
        db,
        seals,
        clock,
        log,
        sender,
        concurrencyPerEndpoint: 5,
        pauseMs: 20,
        stopWithinMs: 50,
      };
      const options = { ...defaults, ...more };
      const activity = { rests: 0, begun: 0, ended: 0 };
      const dispatcher = startDispatcher(observed(options, activity));
      running.add(activity);
      // Keeps dispatchers going under a clock that stands still.
      const nudging = more.pauseMs === undefined ? setInterval(dispatcher.nudge, 20) : undefined;
      resources.defer(() => clearInterval(nudging));
      const stop = () => {
        running.delete(activity);
        return dispatcher.stop();
      };
      resources.defer(stop);
      return { ...dispatcher, stop };
    },
    async idle() {
      await Promise.all(
        [...running].map(async activity => {
          const { rests, begun, ended } = activity;
          // The first pause may follow a look that began before the call.
          const hasLooked = () =>
            activity.rests >= rests + 2 && activity.ended - ended >= activity.begun - begun;
          expect(
            await until(
              async () => hasLooked(),
              isTrue => isTrue,
            ),
          ).toBe(true);
        }),
      );
    },
    deliveries,
    deliveriesOnce: (webhook, isRight) => until(() => deliveries(webhook), isRight),
    async current(webhook) {
      const found = await webhookStore(db, seals).find(webhook, webhook.id);
      if (found === undefined) throw new Error(`there is no ${webhook.id}`);
      return found;
    },
    change: async (webhook, changes) =>
      void (await transaction(db, handle =>
        webhookStore(handle, seals).change(webhook, webhook.id, changes, clock.now()),
      )),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Counts of a dispatcher: pauses after it found nothing due, attempts begun, attempts ended. */
interface Activity {
  rests: number;
  begun: number;
  ended: number;
}

/** The same options, which also count the dispatcher's activity. */
function observed(options: DispatcherOptions & { pauseMs: number }, activity: Activity): DispatcherOptions {
  const { clock, fault, pauseMs } = options;
  return {
    ...options,
    clock: {
      now: clock.now,
      sleep(ms, signal) {
        if (ms === pauseMs) activity.rests += 1;
        return clock.sleep(ms, signal);
      },
    },
    async fault(step) {
      if (step === 'before send') activity.begun += 1;
      if (step === 'after send') activity.ended += 1;
      await fault?.(step);
    },
  };
}

/** True when there are deliveries and every one has succeeded. */
export function allArrived(all: readonly Delivery[]): boolean {
  return all.length > 0 && all.every(({ status }) => status === 'success');
}
