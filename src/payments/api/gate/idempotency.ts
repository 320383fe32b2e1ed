import { createHash } from 'node:crypto';
import { paymentsError } from '#contract/contracts/payments-errors.ts';
import type { GateResponse, KeyedRequest } from '#contract/mount/request-gate.ts';
import type { ApiCaller } from './api-context.ts';
import { idempotencyStore, isHeld, type KeyedAnswer, type KeyRecord } from './idempotency-store.ts';
import {
  AnotherRequestWon,
  type IdempotencyOptions,
  keyedCommits,
  type RequestKey,
} from './keyed-commits.ts';
import { recorded } from './recorded-commits.ts';

/** Longest wait of a request for an earlier equal one (Decision 106). */
const WAIT_MS = 10_000;
/** Interval of the checks for the end of a request in another process. */
const LOOK_AGAIN_MS = 50;

/**
 * Runs requests with an idempotency key. The answer is stored in the transaction of its effect, so neither exists
 * without the other. One of several concurrent requests has the effect; the others wait for it (Decision 106).
 */
export function idempotency(options: IdempotencyOptions) {
  const { db, seals, clock } = options;
  /** Unfinished requests of this process, by owner and key. */
  const inFlight = new Map<string, Promise<unknown>>();

  return async (caller: ApiCaller, attempt: KeyedRequest, proceed: Proceed): Promise<GateResponse> => {
    const { organizationId, mode } = caller;
    const name = JSON.stringify([organizationId, mode, attempt.key]);
    const fingerprint = fingerprintOf(attempt);
    const until = clock.now() + WAIT_MS;

    for (;;) {
      const kept = fresh(await idempotencyStore(db, seals).find(caller, attempt.key));
      if (kept !== undefined && !kept.fingerprint.equals(fingerprint)) throw otherRequest();
      if (kept?.isStarted === false) return repeated(kept);
      const twin = inFlight.get(name);
      if (twin === undefined && kept === undefined) {
        const answer = await alone(name, () =>
          answered(caller, { name, key: attempt.key, fingerprint }, proceed),
        );
        if (!(answer instanceof AnotherRequestWon)) return answer;
        if (answer.isStored) continue;
      }
      if (clock.now() >= until) throw inProgress();
      await (twin === undefined ? clock.sleep(LOOK_AGAIN_MS) : ended(twin, until - clock.now()));
    }
  };

  /**
   * Runs a request whose key no other request of this process holds. Returns AnotherRequestWon when another process was faster.
   */
  async function alone(
    name: string,
    run: () => Promise<GateResponse>,
  ): Promise<GateResponse | AnotherRequestWon> {
    const running = run();
    inFlight.set(name, running);
    try {
      return await running;
    } catch (error) {
      if (error instanceof AnotherRequestWon) return error;
      throw error;
    } finally {
      inFlight.delete(name);
    }
  }

  /**
   * Runs the operation.
   * @throws Error when the answer was not stored: a repetition of the request would have its effect twice.
   */
  async function answered(caller: ApiCaller, own: RequestKey, proceed: Proceed): Promise<GateResponse> {
    let isStored = false;
    const { commit, commitAround } = recorded(keyedCommits(options, caller, own), caller.recordChange);
    const answer = await proceed({
      ...caller,
      async commit(work) {
        const committed = await commit(work);
        isStored = true;
        return committed;
      },
      async commitAround(effect) {
        const committed = await commitAround(effect);
        isStored = true;
        return committed;
      },
    });
    if (!isStored) throw new Error('an operation with an idempotency key answered without a commit');
    return answer;
  }

  function fresh(row: KeyRecord | undefined): KeyRecord | undefined {
    return row !== undefined && isHeld(row, clock.now()) ? row : undefined;
  }

  /** Resolves when a request has ended, successfully or not, or after `ms`. */
  async function ended(twin: Promise<unknown>, ms: number): Promise<void> {
    const done = new AbortController();
    const over = clock.sleep(ms, done.signal).catch(() => {});
    await Promise.race([twin.catch(() => {}), over]);
    done.abort();
  }
}

type Proceed = (caller: ApiCaller) => Promise<GateResponse>;

/** SHA-256 of method, target and body. JSON marks the end of the first two. */
function fingerprintOf({ method, target, body }: KeyedRequest): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([method, target]))
    .update(body)
    .digest();
}

function repeated({ status, body }: KeyedAnswer): GateResponse {
  const headers = { 'Idempotent-Replayed': 'true' };
  return { status, headers, isReplayed: true, body: JSON.parse(body) };
}

function otherRequest() {
  return paymentsError('idempotency_conflict', 'This Idempotency-Key was used with another request.', {
    param: 'Idempotency-Key',
  });
}

function inProgress() {
  return paymentsError('idempotency_conflict', 'A request with this Idempotency-Key is still in progress.', {
    param: 'Idempotency-Key',
  });
}
