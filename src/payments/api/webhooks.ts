import { isIP } from 'node:net';
import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import { InvalidBody } from '../../contract/contracts/violations.ts';
import { allowedAddressTest } from '../../http/fetch/address-filter.ts';
import { timestamp } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { NEW_ACTIVITY, newWebhookSecret, type Subscription, type Webhook } from '../model/webhook.ts';
import type { AttemptDeps } from '../webhooks/attempt.ts';
import type { ReceiverRules } from '../webhooks/sender.ts';
import { type WebhookChanges, webhookStore } from '../webhooks/store/webhook-store.ts';
import { deliveryHandlers, webhookTestHandlers } from './deliveries.ts';
import type { ApiHandlers, PaymentsContext } from './gate/api-context.ts';
import { replayHandlers } from './replays.ts';
import { nullableTimestamp, resourceNotFound, success, successPage } from './responses/answers.ts';
import { checkUnchanged } from './responses/precondition.ts';

/** Maximum number of webhooks per organization and mode (Decision 120). */
const MAX_WEBHOOKS = 20;

/** Rules for receivers, and the sender of tests and manual retries. */
interface WebhookHandlersOptions extends ReceiverRules, Pick<AttemptDeps, 'sender' | 'log'> {}

/** Operations on webhooks and their deliveries, answered in the envelope with `success` (Decisions 119 to 125). */
export function webhookHandlers(context: PaymentsContext, options: WebhookHandlersOptions) {
  const { db, seals, clock } = context;
  const judge = receiverJudge(options);
  return {
    ...webhookTestHandlers(context, options),
    ...deliveryHandlers(context, options),
    ...replayHandlers(context),

    async listWebhooks({ query: { page, limit } }, caller) {
      const webhooks = await webhookStore(db, seals).list(caller, { page, limit });
      const now = clock.now();
      return { status: 200, body: successPage(webhooks, one => webhookBody(one, now)) };
    },

    async createWebhook({ body }, caller) {
      const { url, events, description = null, store_responses: storeResponses = false } = body;
      judge(url);
      const subscribed = subscriptions(events);
      return caller.commit(async handle => {
        const store = webhookStore(handle, seals);
        if ((await store.count(caller)) >= MAX_WEBHOOKS) throw tooManyWebhooks();
        const now = clock.now();
        const { organizationId, mode } = caller;
        const webhook: Webhook = {
          ...NEW_ACTIVITY,
          id: newId('wh'),
          organizationId,
          mode,
          url,
          events: subscribed,
          description,
          storeResponses,
          previousSecretUntil: null,
          lastTriggeredAt: null,
          createdAt: now,
          updatedAt: now,
        };
        const secret = newWebhookSecret();
        await store.insert(webhook, secret);
        return { status: 201, body: success(webhookWithSecret(webhook, secret, now)) };
      });
    },

    async getWebhook({ path: { webhook_id: id } }, caller) {
      const webhook = await webhookStore(db, seals).find(caller, id);
      if (webhook === undefined) throw resourceNotFound('webhook', id);
      return { status: 200, body: success(webhookBody(webhook, clock.now())) };
    },

    async updateWebhook({ path: { webhook_id: id }, body }, caller) {
      if (body.url !== undefined) judge(body.url);
      const changes = changesIn(body);
      return caller.commit(async handle => {
        const now = clock.now();
        const store = webhookStore(handle, seals);
        const before = await store.find(caller, id);
        if (before === undefined) throw resourceNotFound('webhook', id);
        checkUnchanged(caller, () => success(webhookBody(before, now)));
        const webhook = await store.change(caller, id, changes, now);
        if (webhook === undefined) throw resourceNotFound('webhook', id);
        return { status: 200, body: success(webhookBody(webhook, now)) };
      });
    },

    deleteWebhook: ({ path: { webhook_id: id } }, caller) =>
      caller.commit(async handle => {
        if (!(await webhookStore(handle, seals).markDeleted(caller, id, clock.now())))
          throw resourceNotFound('webhook', id);
        return { status: 200, body: success({ object: 'webhook', id, deleted: true } as const) };
      }),

    rotateWebhookSecret: ({ path: { webhook_id: id }, body: { grace_period_seconds: grace } }, caller) =>
      caller.commit(async handle => {
        const now = clock.now();
        const store = webhookStore(handle, seals);
        const before = await store.find(caller, id);
        if (before !== undefined && grace > 0 && (before.previousSecretUntil ?? 0) > now)
          throw previousSecretStillActive();
        const secret = newWebhookSecret();
        const previousUntil = grace === 0 ? null : now + grace * 1000;
        const webhook = await store.rotate(caller, id, { secret, previousUntil }, now);
        if (webhook === undefined) throw resourceNotFound('webhook', id);
        return { status: 200, body: success(webhookWithSecret(webhook, secret, now)) };
      }),
  } satisfies ApiHandlers;
}

/** Changes in a body. A field that the body does not name is absent. */
function changesIn({
  url,
  events,
  is_active: isActive,
  description,
  store_responses: storeResponses,
}: PaymentsSchemas['WebhookChanges']): WebhookChanges {
  return {
    ...(url !== undefined && { url }),
    ...(events !== undefined && { events: subscriptions(events) }),
    ...(isActive !== undefined && { isActive }),
    ...(description !== undefined && { description }),
    ...(storeResponses !== undefined && { storeResponses }),
  };
}

function tooManyWebhooks() {
  return new InvalidBody('', `exceeds the limit of ${MAX_WEBHOOKS} webhooks; delete one first`);
}

function previousSecretStillActive() {
  const message =
    'The previous secret still signs. Wait for the end of its grace period, or set grace_period_seconds to 0.';
  return paymentsError('invalid_status_transition', message);
}

/** A webhook in the contract's form; `now` (UTC ms) decides whether its old secret still signs. */
function webhookBody(webhook: Webhook, now: number): PaymentsSchemas['Webhook'] {
  const until = webhook.previousSecretUntil;
  return {
    object: 'webhook',
    id: webhook.id,
    mode: webhook.mode,
    url: webhook.url,
    events: [...webhook.events],
    description: webhook.description,
    store_responses: webhook.storeResponses,
    is_active: webhook.isActive,
    disabled_reason: webhook.disabledReason,
    disabled_at: nullableTimestamp(webhook.disabledAt),
    success_count: webhook.successCount,
    failure_count: webhook.failureCount,
    last_triggered_at: nullableTimestamp(webhook.lastTriggeredAt),
    previous_secret_expires_at: nullableTimestamp(until !== null && until > now ? until : null),
    created_at: timestamp(webhook.createdAt),
    updated_at: timestamp(webhook.updatedAt),
  };
}

/** The same with its secret, for the answers to creation and rotation only (Decision 121). */
function webhookWithSecret(
  webhook: Webhook,
  secret: string,
  now: number,
): PaymentsSchemas['WebhookWithSecret'] {
  return { ...webhookBody(webhook, now), secret };
}

/**
 * Names that only resolve in a local network. Sources: RFC 6761, RFC 6762, RFC 8375, and ICANN's resolution
 * 2024.07.29.06.
 */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|home\.arpa)$/;

/**
 * Returns a check for the URL of a webhook, which throws InvalidBody. It checks the text only. The address behind a
 * name is checked at every attempt (Decision 120).
 */
function receiverJudge({ allowedNetworks, allowHttp }: ReceiverRules): (text: string) => void {
  const isAllowed = allowedAddressTest(allowedNetworks);
  return text => {
    const url = URL.parse(text);
    if (url === null)
      throw new InvalidBody('url', 'must be an absolute URL such as https://example.com/hooks');
    if (url.protocol !== 'https:' && !allowHttp) throw new InvalidBody('url', 'must be an https:// address');
    if (url.username !== '' || url.password !== '') {
      throw new InvalidBody('url', 'must not contain a user name or a password');
    }
    // Taken from the parsed URL, in which other spellings of the host are normalized.
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
    const isPublic =
      isIP(host) === 0
        ? allowedNetworks.length > 0 || (host.includes('.') && !LOCAL_NAME.test(host))
        : isAllowed(host);
    if (!isPublic) throw new InvalidBody('url', 'must be at a public host');
  };
}

/** Subscriptions without duplicates. @throws InvalidBody for `*` together with others (Decision 120) */
function subscriptions(events: readonly Subscription[]): Subscription[] {
  const all = [...new Set(events)];
  if (all.length > 1 && all.includes('*')) {
    throw new InvalidBody('events', 'must be either * alone or a list of event types, not both');
  }
  return all;
}
