import type { Transaction } from '#db/open.ts';
import { execute, rowLock } from '#db/query.ts';
import { newId } from '#lib/ids.ts';
import type { PaymentEvent } from '../../model/event.ts';
import { attentionChannels, type Channel, type NotificationSettings } from '../../model/notification.ts';
import type { Owner } from '../../model/owner.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { select } from '../../tables/select.ts';
import { noticeOf, noticeStore, sealedPayload } from './notice-store.ts';

/** Shortest time between two notices about money that needs a decision, per owner and channel, in milliseconds. */
export const ATTENTION_INTERVAL_MS = 10 * 60_000;
/** Most events that one notice shows. The others are counted. */
const SHOWN_EVENTS = 20;

/** The relay's database transaction, and its time in UTC milliseconds. */
interface RelayScope {
  readonly handle: Transaction;
  readonly seals: Seals;
  readonly now: number;
}

/**
 * Adds events about money that needs a decision to the notices of their owners (Decision 357). Call it in the transaction
 * that marks the events as relayed, so that each is in exactly one notice per channel.
 */
export async function collectAttention(
  scope: RelayScope,
  events: readonly PaymentEvent[],
  settings: readonly NotificationSettings[],
): Promise<void> {
  for (const one of settings) {
    const { organizationId, mode } = one;
    const own = events.filter(
      event =>
        event.organizationId === organizationId &&
        event.mode === mode &&
        attentionChannels(one, event).length > 0,
    );
    const [first] = own;
    if (first === undefined) continue;
    // Relays of several processes take turns, so that each sees the notices of the others.
    await select({ from: 'notification_settings', columns: ['mode'] }).rows(
      scope.handle,
      `where organization_id = ? and mode = ?${rowLock(scope.handle, 'for update')}`,
      [organizationId, mode],
    );
    for (const channel of attentionChannels(one, first)) await collect(scope, own, { channel, owner: one });
  }
}

async function collect(
  { handle, seals, now }: RelayScope,
  events: readonly PaymentEvent[],
  { channel, owner: { organizationId, mode } }: { readonly channel: Channel; readonly owner: Owner },
): Promise<void> {
  // Locked, because an erasing may write it too, and what it removed must not come back.
  const [row] = await select({ from: 'notices', columns: ['*'] }).rows(
    handle,
    `where organization_id = ? and mode = ? and channel = ? and is_digest
     order by created_at desc limit 1${rowLock(handle, 'for update')}`,
    [organizationId, mode, channel],
  );
  if (row !== undefined && row.attempts === 0 && row.status === 'pending') {
    const { id, payload } = noticeOf(row, seals);
    if (payload.kind !== 'attention') throw new Error(`The notice ${id} collects no events.`);
    const all = [...payload.events, ...events];
    const more = payload.more + Math.max(0, all.length - SHOWN_EVENTS);
    const grown = { ...payload, events: all.slice(0, SHOWN_EVENTS), more };
    // A notice that a notifier has taken meanwhile stays as it is.
    const set = 'update notices set sealed_payload = ? where id = ? and attempts = 0';
    if ((await execute(handle, set, [sealedPayload(id, grown, seals), id])) === 1) return;
  }
  const dueAt = row === undefined ? now : Math.max(now, row.created_at + ATTENTION_INTERVAL_MS);
  const payload = {
    kind: 'attention',
    events: events.slice(0, SHOWN_EVENTS),
    more: Math.max(0, events.length - SHOWN_EVENTS),
  } as const;
  await noticeStore(handle, seals).insert([
    { id: newId('ntc'), organizationId, mode, channel, payload, attempts: 0, createdAt: dueAt },
  ]);
}
