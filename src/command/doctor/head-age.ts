import type { Clock } from '#lib/clock.ts';

/** Age of a chain's newest block in words, with advice when it is too high for a running chain. */
export interface HeadAge {
  readonly detail: string;
  readonly advice: string | undefined;
}

/** A head older than this belongs to a chain that stands still, or to a node that lags behind. */
const STALE_MS = 10 * 60_000;

/** Age of a block from `time`, in UTC milliseconds. */
export function headAge(time: number, clock: Clock): HeadAge {
  const ageMs = Math.max(0, clock.now() - time);
  return {
    detail: `head ${inWords(ageMs)} old`,
    advice: ageMs > STALE_MS ? 'Its head is old: wait until it has synced, or take another one.' : undefined,
  };
}

function inWords(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
