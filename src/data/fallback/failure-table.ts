import type { BackendError, BackendErrorKind, BackendErrorReason } from '../backends/port/backend-error.ts';
import type { Failure } from './chain.ts';

/** Consequences of one kind of failure. */
interface FailureRow {
  /**
   * Next to be asked. Unless it is `backend`, the failure is final for its chain, and earlier failures there do not
   * matter.
   */
  readonly next: 'backend' | 'chain' | 'nothing';
  /** Status of document 1 when no other failure takes precedence. */
  readonly status: number;
}

/**
 * The failure table in order of precedence: the first kind that occurred decides the reply. So bad input wins over an
 * outage, and an outage over "not found". Outages give a 504 when all of them are timeouts, and a 503 when all of them
 * end soon by themselves.
 */
const FAILURE_TABLE: Readonly<Record<BackendErrorKind, FailureRow>> = {
  rejected: { next: 'nothing', status: 400 },
  unavailable: { next: 'backend', status: 502 },
  not_found: { next: 'chain', status: 404 },
  unsupported: { next: 'backend', status: 501 },
};

/** True when no other back end of the chain is asked after this failure. */
export function endsChain({ kind }: BackendError): boolean {
  return FAILURE_TABLE[kind].next !== 'backend';
}

/** True when no other chain is asked after this failure. */
export function endsRequest({ error: { kind } }: Failure): boolean {
  return FAILURE_TABLE[kind].next === 'nothing';
}

/** Reply to the client when no chain had an answer, with the failures that decided it. */
export interface FailureReply {
  readonly kind: BackendErrorKind;
  readonly status: number;
  readonly message: string;
  readonly headers: Record<string, string>;
  readonly causes: readonly Failure[];
}

/**
 * Applies the failure table to all failures of a request. "Not found" decides only when no failure `leavesOpen` that
 * the record exists.
 */
export function replyTo(
  all: readonly Failure[],
  leavesOpen: (failure: Failure) => boolean = () => false,
): FailureReply {
  const failures = lastWords(all);
  const of = (kind: BackendErrorKind) => failures.filter(({ error }) => error.kind === kind);
  const reply = (kind: BackendErrorKind, causes: readonly Failure[], message: string): FailureReply => ({
    kind,
    causes,
    message,
    status: FAILURE_TABLE[kind].status,
    headers: {},
  });

  const rejected = of('rejected');
  if (rejected[0] !== undefined) return reply('rejected', rejected, rejected[0].error.message);
  const outages = of('unavailable');
  if (outages.length > 0) {
    const outage = reply('unavailable', outages, `No back end could answer: ${sentencesOf(outages)}`);
    return { ...outage, headers: retryAfterOf(outages), status: statusOf(outages) };
  }
  const missing = of('not_found');
  if (missing[0] !== undefined && !failures.some(leavesOpen))
    return reply('not_found', missing, missing[0].error.message);
  const why = failures.length === 0 ? 'no back end is configured' : sentencesOf(failures);
  return reply('unsupported', failures, `No configured back end has this answer: ${why}`);
}

/** Outages of our own indexes that end by themselves (Decisions 12, 164 and 265). */
const OVER_SOON: readonly BackendErrorReason[] = ['away', 'busy', 'not_read_yet'];

function statusOf(outages: readonly Failure[]): number {
  if (outages.every(({ error }) => error.reason === 'timeout')) return 504;
  if (outages.every(({ error }) => OVER_SOON.includes(error.reason))) return 503;
  return FAILURE_TABLE.unavailable.status;
}

/** Failures that count: the final one of a chain, or all failures of a chain without a final one. */
function lastWords(failures: readonly Failure[]): readonly Failure[] {
  const settled = new Set(failures.filter(({ error }) => endsChain(error)).map(({ chain }) => chain.id));
  return failures.filter(({ chain, error }) => endsChain(error) || !settled.has(chain.id));
}

/** Describes the failures for clients. Back ends of the same kind on one chain are distinguished by name. */
function sentencesOf(failures: readonly Failure[]): string {
  return failures
    .map(({ chain, backend, error }) => {
      if (backend === undefined) return `chain ${chain.id}: ${error.message}`;
      const isOnlyOne = chain.backends.filter(({ kind }) => kind === backend.kind).length < 2;
      return `chain ${chain.id} (${isOnlyOne ? backend.kind : backend.name}): ${error.message}`;
    })
    .join('; ');
}

/** `Retry-After` in seconds, the shortest of all waits; empty unless every failure has one. */
function retryAfterOf(failures: readonly Failure[]): Record<string, string> {
  const waits = failures.map(({ error }) => error.retryAfterMs ?? Number.NaN);
  const wait = Math.min(...waits);
  return Number.isFinite(wait) ? { 'Retry-After': String(Math.max(1, Math.ceil(wait / 1000))) } : {};
}

/** True for a failure that may soon be over. An answer obtained in spite of it must not be cached for long. */
export function isTransient({ error }: Failure): boolean {
  return error.kind === 'unavailable' || error.reason === 'incomplete';
}

/**
 * True when the back end may still have the record: it failed temporarily, or its index does not cover the whole chain.
 */
export function leavesOpen(failure: Failure): boolean {
  return isTransient(failure) || failure.error.reason === 'not_indexed';
}
