import type { Entry } from './cache/entry.ts';
import { type Found, isPassing } from './chains/outcome.ts';
import type { Validity } from './port/backend.ts';
import type { Row } from './row.ts';

/** How long answers are kept, in milliseconds. */
export interface Lifetimes {
  readonly finalMs: number;
  readonly movingMs: number;
  readonly unsettledMs: number;
  /** By operationId; stands in for the final and the moving lifetime. */
  readonly overrides: Readonly<Record<string, number>>;
}

/** Longest life of an answer that stands in for one we could not get. */
const FALLBACK_MS = 30_000;
/** How long an answer past its life is held for the day nobody can give a new one. */
const RETENTION_MS = 7 * 24 * 3_600_000;

export type Lifetime = Pick<Entry, 'storedAt' | 'freshUntil' | 'keepUntil' | 'final' | 'revision' | 'epoch'>;

/** Until when an answer of one chain is kept, by its operation's row and by how settled it is on its chain. */
export function lifetimeOf<Body>(
  operationId: string,
  row: Row,
  found: Found<Body>,
  lifetimes: Lifetimes,
  now: number,
): Lifetime {
  const { answer, chain, validity, passedOver } = found;
  const final = row.lifetime === 'record' && (answer.confirmations ?? -1) >= chain.confirmations;
  const isSettled = final || (row.lifetime === 'moving' && answer.unsettled !== true);
  const isStandIn = passedOver.some(isPassing);
  return lifetime(operationId, { final, isSettled, isStandIn, validity }, lifetimes, now);
}

/** What decides how long an answer is kept. */
export interface Settledness {
  /** It cannot change any more, short of a deep reorg. */
  readonly final: boolean;
  /** It changes with blocks at most, and not with what waits outside of them. */
  readonly isSettled: boolean;
  /** Something of it, or something better, could not be had this time. */
  readonly isStandIn: boolean;
  readonly validity: Validity | undefined;
}

/** Until when an answer is kept. */
export function lifetime(
  operationId: string,
  { final, isSettled, isStandIn, validity }: Settledness,
  lifetimes: Lifetimes,
  now: number,
): Lifetime {
  const moving = validity === undefined ? lifetimes.movingMs : lifetimes.finalMs;
  const settledMs = lifetimes.overrides[operationId] ?? (final ? lifetimes.finalMs : moving);
  const ownMs = isSettled ? settledMs : lifetimes.unsettledMs;
  const ttlMs = isStandIn ? Math.min(ownMs, FALLBACK_MS) : ownMs;
  return {
    storedAt: now,
    freshUntil: now + ttlMs,
    keepUntil: now + ttlMs + RETENTION_MS,
    final,
    ...(validity === undefined ? {} : { epoch: validity.epoch }),
    ...(validity === undefined || final ? {} : { revision: validity.revision }),
  };
}
