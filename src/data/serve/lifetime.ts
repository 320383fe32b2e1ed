import type { Validity } from '../backends/port/backend.ts';
import type { Entry } from '../cache/entry.ts';
import type { Chain, ChainAnswer } from '../fallback/chain.ts';
import { isTransient } from '../fallback/failure-table.ts';

/**
 * Stability of an operation's answers. `record`: about one thing that settles with its block. `moving`: a feed, a
 * statistic or a growing list.
 */
export type AnswerStability = 'record' | 'moving';

/** Lifetimes of answers, in milliseconds. */
export interface Lifetimes {
  readonly finalMs: number;
  /** Freshness of a feed's first page, and of a statistic, from a back end that does not see every block. */
  readonly movingMs: number;
  /** The same for a back end whose requests are charged to a key; `movingMs` when absent. */
  readonly meteredMs?: number;
  readonly unsettledMs: number;
  /** Replaces the final and the moving lifetime, by operationId. */
  readonly overrides: Readonly<Record<string, number>>;
}

/** Longest freshness of an answer that was obtained in spite of failures. */
const FALLBACK_MS = 30_000;
/** Time after its freshness in which a moving answer is sent at once and reloaded in the background (Decision 37). */
export const REVALIDATION_MS = 60_000;
/** Minimum freshness of a page behind a cursor, because later blocks do not move it. */
const LATER_PAGE_MS = 3_600_000;
/** Time that a stale answer is kept for outages. */
const RETENTION_MS = 7 * 24 * 3_600_000;

export type Lifetime = Omit<Entry, 'representation' | 'chainIds' | 'backends' | 'watched'>;

/** Lifetime of one chain's answer, by its operation and its finality on the chain. */
export function lifetimeOf<Body>(
  {
    operationId,
    row,
    isLaterPage,
  }: { operationId: string; row: { readonly lifetime: AnswerStability }; isLaterPage: boolean },
  found: ChainAnswer<Body>,
  { lifetimes, now }: { lifetimes: Lifetimes; now: number },
): Lifetime {
  const { answer, backend, chain, validity, passedOver } = found;
  const final = row.lifetime === 'record' && (answer.confirmations ?? -1) >= chain.confirmations;
  const settledness = {
    final,
    isSettled: final || (row.lifetime === 'moving' && answer.unsettled !== true),
    isDegraded: passedOver.some(isTransient),
    isMetered: backend.isMetered === true,
    isLaterPage,
    isWatched: validity !== undefined,
    validity,
  };
  return lifetime(operationId, settledness, { lifetimes, now });
}

/** Facts that decide the lifetime of an answer. */
export interface Settledness {
  /** The answer can no longer change, except by a deep reorg. */
  readonly final: boolean;
  /** Only blocks can change the answer, not pending data. */
  readonly isSettled: boolean;
  /** Part of the answer, or a better answer, could not be obtained. */
  readonly isDegraded: boolean;
  /** A back end charges for its requests. */
  readonly isMetered: boolean;
  /** The answer is a page behind a cursor. */
  readonly isLaterPage: boolean;
  /** At least one back end reports when its part has changed. */
  readonly isWatched: boolean;
  /** Combined validity; undefined unless every back end reports changes. */
  readonly validity: Validity | undefined;
}

/** Lifetime of an answer by these facts. */
export function lifetime(
  operationId: string,
  settledness: Settledness,
  { lifetimes, now }: { lifetimes: Lifetimes; now: number },
): Lifetime {
  const { final, isSettled, isDegraded, isWatched, validity } = settledness;
  const settledMs =
    lifetimes.overrides[operationId] ?? (final ? lifetimes.finalMs : movingMs(settledness, lifetimes));
  const ownMs = isSettled ? settledMs : lifetimes.unsettledMs;
  const freshUntil = now + (isDegraded ? Math.min(ownMs, FALLBACK_MS) : ownMs);
  const isRevalidated = isSettled && !final && !isDegraded && !isWatched;
  return {
    storedAt: now,
    freshUntil,
    keepUntil: freshUntil + RETENTION_MS,
    final,
    ...(isRevalidated ? { revalidateUntil: freshUntil + REVALIDATION_MS } : {}),
    ...(validity === undefined ? {} : { epoch: validity.epoch }),
    ...(validity === undefined || final ? {} : { revision: validity.revision }),
  };
}

function movingMs({ isMetered, isLaterPage, validity }: Settledness, lifetimes: Lifetimes): number {
  // The back end reports when the answer has changed.
  if (validity !== undefined) return lifetimes.finalMs;
  const firstPageMs = isMetered ? (lifetimes.meteredMs ?? lifetimes.movingMs) : lifetimes.movingMs;
  return isLaterPage ? Math.max(firstPageMs, LATER_PAGE_MS) : firstPageMs;
}

/** Combined cache validity of several back ends. */
export interface BackendValidities {
  /** Undefined when no back end sees every block. */
  of(backends: readonly string[]): Validity | undefined;
}

export function backendValidities(chains: readonly Chain[]): BackendValidities {
  const byName = new Map(chains.flatMap(chain => chain.backends.map(backend => [backend.name, backend])));
  return {
    of: names => combinedValidity(names.map(name => byName.get(name)?.validity?.())),
  };
}

/** Combines the validities of an answer's parts. */
export function combinedValidity(parts: readonly (Validity | undefined)[]): Validity | undefined {
  const [only] = parts;
  if (parts.length < 2) return only;
  if (parts.every(part => part === undefined)) return undefined;
  return {
    revision: parts.map(part => part?.revision ?? '').join(),
    epoch: parts.map(part => part?.epoch ?? '').join(),
  };
}
