/** Attempts under way, counted by webhook and by organization. */
export interface InFlight {
  /** Counts it until it has ended, in whatever way. */
  add(webhookId: string, organizationId: string, attempt: Promise<unknown>): void;
  size(): number;
  counts(): { byWebhook: ReadonlyMap<string, number>; byOrganization: ReadonlyMap<string, number> };
  /** Resolves when those that are under way now have ended. */
  allEnded(): Promise<void>;
}

export function inFlight(): InFlight {
  const attempts = new Set<Promise<unknown>>();
  const byWebhook = new Map<string, number>();
  const byOrganization = new Map<string, number>();

  return {
    add(webhookId, organizationId, attempt) {
      const counted = attempt.finally(() => {
        attempts.delete(counted);
        count(byWebhook, webhookId, -1);
        count(byOrganization, organizationId, -1);
      });
      attempts.add(counted);
      count(byWebhook, webhookId, 1);
      count(byOrganization, organizationId, 1);
    },
    size: () => attempts.size,
    counts: () => ({ byWebhook, byOrganization }),
    allEnded: async () => void (await Promise.allSettled(attempts)),
  };
}

/** Nothing is kept of whoever has none, or the map would grow with every webhook there ever was. */
function count(counts: Map<string, number>, key: string, change: number): void {
  const after = (counts.get(key) ?? 0) + change;
  if (after === 0) counts.delete(key);
  else counts.set(key, after);
}
