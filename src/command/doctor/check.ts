import { BaseError, HttpRequestError } from 'viem';
import type { Clock } from '#lib/clock.ts';
import { inTime, Late } from '#lib/in-time.ts';
import { plainLine } from '#lib/single-line.ts';
import { CannotStart, reasonOf } from '#lib/startup-error.ts';

/** Outcome of a check: `ok`, `warning` for what works with restrictions, `fault` for what does not work. */
export interface Finding {
  readonly state: 'ok' | 'warning' | 'fault';
  /** The finding, as the rest of a sentence that begins with the subject. */
  readonly detail: string;
  /** The change to make; absent when none is needed. */
  readonly advice?: string;
}

/** Check of one thing that a configuration names. It leaves no traces. */
export interface ConfigCheck {
  /** Path of the setting, such as `chains[0].rpc[1]`. */
  readonly setting: string;
  /** The thing that is checked, such as `node rpc.example.com`. */
  readonly subject: string;
  /** The change to make when `run` fails with anything but a Fault. */
  readonly advice: string;
  /** @throws Fault, or any other error that shows that it does not work */
  readonly run: (signal: AbortSignal) => Promise<Finding>;
}

/** A recognized fault with its own advice. */
export class Fault extends Error {
  readonly advice: string;
  constructor(detail: string, advice: string, options?: ErrorOptions) {
    super(detail, options);
    this.advice = advice;
  }
}

const LONGEST_DETAIL = 300;

/** Runs a check within a time limit. Never rejects. */
export async function runCheck(check: ConfigCheck, timeoutMs: number): Promise<Finding> {
  const ending = new AbortController();
  try {
    return await inTime(check.run(ending.signal), timeoutMs);
  } catch (error) {
    const detail = error instanceof Late ? `does not answer within ${timeoutMs / 1000} s` : failureOf(error);
    return {
      state: 'fault',
      detail: plainLine(detail, LONGEST_DETAIL),
      advice: error instanceof Fault ? error.advice : check.advice,
    };
  } finally {
    ending.abort();
  }
}

/** The innermost reason, in one line. Outer errors repeat the request, which may contain secrets. */
function failureOf(error: unknown): string {
  let inner = error;
  while (!(inner instanceof Fault) && inner instanceof Error && inner.cause instanceof Error)
    inner = inner.cause;
  if (inner instanceof HttpRequestError && inner.status !== undefined)
    return `answers with status ${inner.status}`;
  if (inner instanceof CannotStart) return reasonOf(inner.cause);
  if (inner instanceof Error && inner.name === 'TimeoutError') return 'does not answer in time';
  if (inner instanceof BaseError) return inner.details || inner.shortMessage;
  return reasonOf(inner);
}

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
