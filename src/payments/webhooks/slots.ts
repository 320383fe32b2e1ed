/** Attempts in flight, counted by webhook and by organization. */
export interface InFlight {
  /** Counts an attempt until its answer arrives or it ends otherwise. */
  add(owner: { webhookId: string; organizationId: string }, attempt: InFlightAttempt): void;
  size(): number;
  counts(): { byWebhook: ReadonlyMap<string, number>; byOrganization: ReadonlyMap<string, number> };
  /** Resolves when all current attempts have ended and their results are written. */
  allEnded(): Promise<void>;
}

/** Makes an attempt and resolves when its result is written. Calls `leaveSlot` as soon as the answer arrives. */
type InFlightAttempt = (leaveSlot: () => void) => Promise<unknown>;

export function inFlight(): InFlight {
  const attempts = new Set<Promise<unknown>>();
  const byWebhook = new Map<string, number>();
  const byOrganization = new Map<string, number>();
  let size = 0;

  const takeSlot = (webhookId: string, organizationId: string) => {
    const change = (by: 1 | -1) => {
      size += by;
      count(byWebhook, webhookId, by);
      count(byOrganization, organizationId, by);
    };
    let isTaken = true;
    change(1);
    return () => {
      if (isTaken) change(-1);
      isTaken = false;
    };
  };

  return {
    add({ webhookId, organizationId }, attempt) {
      const leaveSlot = takeSlot(webhookId, organizationId);
      const counted = attempt(leaveSlot).finally(() => {
        attempts.delete(counted);
        leaveSlot();
      });
      attempts.add(counted);
    },
    size: () => size,
    counts: () => ({ byWebhook, byOrganization }),
    allEnded: async () => void (await Promise.allSettled(attempts)),
  };
}

/** Adds to a counter. Zeros are removed, so that the map does not grow with every webhook. */
function count(counts: Map<string, number>, key: string, change: number): void {
  const after = (counts.get(key) ?? 0) + change;
  if (after === 0) counts.delete(key);
  else counts.set(key, after);
}

/** A webhook with due deliveries. */
export interface WaitingWork {
  readonly webhookId: string;
  readonly organizationId: string;
  /** UTC milliseconds. */
  readonly dueSince: number;
}

/** Free slots, and attempts in flight by webhook and by organization. */
export interface Slots {
  readonly perWebhook: number;
  /** Total number of attempts that may begin now. */
  readonly free: number;
  /** Slots without an attempt. `free` may be less. */
  readonly idle: number;
  readonly byWebhook: ReadonlyMap<string, number>;
  readonly byOrganization: ReadonlyMap<string, number>;
}

export interface Share {
  readonly webhookId: string;
  readonly organizationId: string;
  /** At least 1. */
  readonly limit: number;
}

/**
 * Distributes the free slots one by one: each to the organization with the fewest attempts in flight, and there to the
 * webhook with the fewest, then the one that waits longest. A backlog of one of them never delays the others. An
 * organization gets no slot while it has as many attempts as slots are idle, so organizations whose receivers hang
 * always leave slots to the others.
 */
export function fairShares(waiting: readonly WaitingWork[], slots: Slots): Share[] {
  const queues = new Map<
    string,
    { used: number; webhooks: (WaitingWork & { used: number; limit: number })[] }
  >();
  for (const one of waiting) {
    const used = slots.byWebhook.get(one.webhookId) ?? 0;
    if (used >= slots.perWebhook) continue;
    const queue = queues.get(one.organizationId) ?? {
      used: slots.byOrganization.get(one.organizationId) ?? 0,
      webhooks: [],
    };
    queue.webhooks.push({ ...one, used, limit: 0 });
    queues.set(one.organizationId, queue);
  }
  for (const { webhooks } of queues.values()) {
    webhooks.sort((a, b) => a.used - b.used || a.dueSince - b.dueSince);
  }
  const shares: Share[] = [];
  const organizations = [...queues.values()].sort((a, b) => a.used - b.used);
  let { free, idle } = slots;
  for (
    let level = organizations[0]?.used ?? 0, left = organizations;
    free > 0 && left.length > 0;
    level += 1
  ) {
    left = left.filter(queue => {
      if (queue.used > level || free === 0) return true;
      if (queue.used >= idle) return false;
      const next = queue.webhooks.shift();
      if (next === undefined) return false;
      queue.used += 1;
      free -= 1;
      idle -= 1;
      const dealt = { ...next, used: next.used + 1, limit: next.limit + 1 };
      if (dealt.used < slots.perWebhook) requeue(queue.webhooks, dealt);
      else shares.push(dealt);
      return queue.webhooks.length > 0;
    });
  }
  const begun = organizations.flatMap(({ webhooks }) => webhooks).filter(({ limit }) => limit > 0);
  return [...shares, ...begun].map(({ webhookId, organizationId, limit }) => ({
    webhookId,
    organizationId,
    limit,
  }));
}

/** Puts a webhook back into a queue: after those with as many attempts, before those with more. */
function requeue<T extends { readonly used: number }>(queue: T[], webhook: T): void {
  const index = queue.findIndex(({ used }) => used > webhook.used);
  queue.splice(index === -1 ? queue.length : index, 0, webhook);
}
