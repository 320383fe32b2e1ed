import type { Validity } from '../backends/port/backend.ts';
import type { Entry } from '../cache/entry.ts';
import type { Chain, ChainAnswer } from '../fallback/chain.ts';
import { isPassing } from '../fallback/failure-table.ts';

/**
 * Stability of an operation's answers. `record`: about one thing that settles with its block. `moving`: a feed,
 * a statistic, a list that grows.
 */
export type AnswerStability = 'record' | 'moving';

/** How long answers are kept, in milliseconds. */
export interface Lifetimes {
  readonly finalMs: number;
  /** Freshness of the first page of a feed, and of a statistic, from a back end that does not see every block. */
  readonly movingMs: number;
  /** The same from a back end whose requests are charged to a key; `movingMs` when absent. */
  readonly meteredMs?: number;
  readonly unsettledMs: number;
  /** By operationId; stands in for the final and the moving lifetime. */
  readonly overrides: Readonly<Record<string, number>>;
}

/** Longest life of an answer that stands in for one we could not get. */
const FALLBACK_MS = 30_000;
/** Time past its freshness during which a moving answer goes out at once and is made again behind it. Decision 37. */
export const REVALIDATION_MS = 60_000;
/** Least freshness of a page behind a cursor: blocks that come later do not move it. */
const LATER_PAGE_MS = 3_600_000;
/** How long an answer past its life is held for the day nobody can give a new one. */
const RETENTION_MS = 7 * 24 * 3_600_000;

export type Lifetime = Omit<Entry, 'representation' | 'chainIds' | 'backends' | 'watched'>;

/** Lifetime of an answer of one chain, by its operation's row and by how settled it is on its chain. */
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
    isStandIn: passedOver.some(isPassing),
    isMetered: backend.isMetered === true,
    isLaterPage,
    isWatched: validity !== undefined,
    validity,
  };
  return lifetime(operationId, settledness, { lifetimes, now });
}

/** What decides how long an answer is kept. */
export interface Settledness {
  /** It cannot change any more, short of a deep reorg. */
  readonly final: boolean;
  /** It changes with blocks at most, and not with what waits outside of them. */
  readonly isSettled: boolean;
  /** Something of it, or something better, could not be had this time. */
  readonly isStandIn: boolean;
  /** A back end charges for its requests. */
  readonly isMetered: boolean;
  /** It is a page behind a cursor. */
  readonly isLaterPage: boolean;
  /** Some back end says itself when its part has changed. */
  readonly isWatched: boolean;
  /** Undefined unless every back end does. */
  readonly validity: Validity | undefined;
}

/** Lifetime of an answer by how settled it is. */
export function lifetime(
  operationId: string,
  settledness: Settledness,
  { lifetimes, now }: { lifetimes: Lifetimes; now: number },
): Lifetime {
  const { final, isSettled, isStandIn, isWatched, validity } = settledness;
  const settledMs =
    lifetimes.overrides[operationId] ?? (final ? lifetimes.finalMs : movingMs(settledness, lifetimes));
  const ownMs = isSettled ? settledMs : lifetimes.unsettledMs;
  const freshUntil = now + (isStandIn ? Math.min(ownMs, FALLBACK_MS) : ownMs);
  const isRevalidated = isSettled && !final && !isStandIn && !isWatched;
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
  // Such a back end says itself when the answer has changed.
  if (validity !== undefined) return lifetimes.finalMs;
  const firstPageMs = isMetered ? (lifetimes.meteredMs ?? lifetimes.movingMs) : lifetimes.movingMs;
  return isLaterPage ? Math.max(firstPageMs, LATER_PAGE_MS) : firstPageMs;
}

/** Until when answers hold that several back ends gave together. */
export interface BackendValidities {
  /** Undefined when none of them sees every block. */
  of(backends: readonly string[]): Validity | undefined;
}

export function backendValidities(chains: readonly Chain[]): BackendValidities {
  const byName = new Map(chains.flatMap(chain => chain.backends.map(backend => [backend.name, backend])));
  return {
    of: names => joined(names.map(name => byName.get(name)?.validity?.())),
  };
}

/** The validities of the parts of one answer as that of the whole. */
export function joined(parts: readonly (Validity | undefined)[]): Validity | undefined {
  const [only] = parts;
  if (parts.length < 2) return only;
  if (parts.every(part => part === undefined)) return undefined;
  return {
    revision: parts.map(part => part?.revision ?? '').join(),
    epoch: parts.map(part => part?.epoch ?? '').join(),
  };
}
