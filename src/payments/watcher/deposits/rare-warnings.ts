import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';

/** Interval of warnings with one key. */
const EVERY_MS = 60 * 60_000;
/** Most keys that are remembered. Strangers can cause warnings. */
const MOST_KEYS = 1_000;

/** Writes a warning at most once per hour and key. */
export function rareWarnings({ clock }: { readonly clock: Clock }) {
  const warnedAt = new Map<string, number>();

  return (log: Logger, key: string, facts: object, text: string): void => {
    const now = clock.now();
    const before = warnedAt.get(key) ?? Number.NEGATIVE_INFINITY;
    if (Math.abs(now - before) < EVERY_MS) return;
    warnedAt.delete(key);
    const [oldest] = warnedAt.keys();
    if (oldest !== undefined && warnedAt.size >= MOST_KEYS) warnedAt.delete(oldest);
    warnedAt.set(key, now);
    log.warn(facts, text);
  };
}
