import { BaseError, HttpRequestError } from 'viem';
import { inTime, Late } from '#lib/in-time.ts';
import { plainLine } from '#lib/single-line.ts';
import { CannotStart, reasonOf } from '#lib/startup-error.ts';

/** Outcome of a check: `ok`, `warning` for what works with less than it could, `fault` for what does not work. */
export interface Finding {
  readonly state: 'ok' | 'warning' | 'fault';
  /** What was found, as the rest of a sentence. */
  readonly detail: string;
  /** What to change; absent where nothing has to. */
  readonly advice?: string;
}

/** One thing that a configuration names, and how to try it. Nothing that it does stays behind. */
export interface Check {
  /** Path of the setting, such as `chains[0].rpc[1]`. */
  readonly setting: string;
  /** What is tried, such as `node rpc.example.com`. */
  readonly subject: string;
  /** What to change when `run` fails with anything but a Fault. */
  readonly advice: string;
  /** @throws anything that shows that it does not work */
  readonly run: (signal: AbortSignal) => Promise<Finding>;
}

/** A fault that was recognized. */
export class Fault extends Error {
  readonly advice: string;
  constructor(detail: string, advice: string, options?: ErrorOptions) {
    super(detail, options);
    this.advice = advice;
  }
}

const LONGEST_DETAIL = 300;

/** Runs a check within its time. Never rejects. */
export async function runCheck(check: Check, timeoutMs: number): Promise<Finding> {
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

/** The innermost reason, in one line: outer errors repeat the request, with whatever is secret in it. */
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
