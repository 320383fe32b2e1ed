import { createHash } from 'node:crypto';
import { paymentsError } from '#contract/contracts/payments-errors.ts';
import type { Attempt, GateResponse } from '#contract/mount/request-gate.ts';
import type { Db, Transaction } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import type { Clock } from '#lib/clock.ts';
import { toJson } from '#lib/json.ts';
import type { Seals } from '../../secrets/sealed.ts';
import type { ApiCaller, CommittedResponse } from './api-context.ts';
import { commitAround, type KeptBeside } from './commit-around.ts';
import { idempotencyStore, isHeld, type KeptAnswer, type KeptRow } from './idempotency-store.ts';

/** How long a request waits for an equal one that came before it. Decision 106. */
const PATIENCE_MS = 10_000;
/** How often it looks whether one in another process has finished. */
const LOOK_AGAIN_MS = 50;

export interface IdempotencyOptions {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
}

/** Thrown out of a transaction, which leaves nothing behind: another request with the key is, or was, faster. */
class Overtaken extends Error {
  /** Whether what the other one kept can be read by now. */
  readonly isKept: boolean;

  constructor(isKept: boolean) {
    super('another request with the same idempotency key was faster');
    this.isKept = isKept;
  }
}

/**
 * Stands around requests with an idempotency key (Decision 106). The answer is written in the transaction of its effect,
 * so neither is ever there without the other; of requests at the same time one has the effect and the others wait for it.
 */
export function idempotency({ db, seals, clock }: IdempotencyOptions) {
  /** The requests of this process that have not finished, by owner and key. */
  const inFlight = new Map<string, Promise<unknown>>();

  return async (caller: ApiCaller, attempt: Attempt, proceed: Proceed): Promise<GateResponse> => {
    const { organizationId, mode } = caller;
    const name = JSON.stringify([organizationId, mode, attempt.key]);
    const fingerprint = fingerprintOf(attempt);
    const until = clock.now() + PATIENCE_MS;

    for (;;) {
      const kept = fresh(await idempotencyStore(db, seals).find(caller, attempt.key));
      if (kept !== undefined && !kept.fingerprint.equals(fingerprint)) throw otherRequest();
      if (kept?.isStarted === false) return repeated(kept);
      const twin = inFlight.get(name);
      if (twin === undefined && kept === undefined) {
        const answer = await alone(name, () =>
          answered(caller, { name, key: attempt.key, fingerprint }, proceed),
        );
        if (!(answer instanceof Overtaken)) return answer;
        if (answer.isKept) continue;
      }
      if (clock.now() >= until) throw inProgress();
      await (twin === undefined ? clock.sleep(LOOK_AGAIN_MS) : ended(twin, until - clock.now()));
    }
  };

  /** Runs a request that no other of this process has the key of; how it was overtaken when one elsewhere was faster. */
  async function alone(name: string, run: () => Promise<GateResponse>): Promise<GateResponse | Overtaken> {
    const running = run();
    inFlight.set(name, running);
    try {
      return await running;
    } catch (error) {
      if (error instanceof Overtaken) return error;
      throw error;
    } finally {
      inFlight.delete(name);
    }
  }

  /** @throws Error when the answer was not kept: whoever sends the request again would have its effect twice. */
  async function answered(caller: ApiCaller, own: KeyLock, proceed: Proceed): Promise<GateResponse> {
    let isKept = false;
    const commit = keeping(caller, own);
    const answer = await proceed({
      ...caller,
      async commit(work) {
        const committed = await commit(work);
        isKept = true;
        return committed;
      },
      async commitAround(effect) {
        const committed = await commitAround(db, effect, keptBeside(caller, own));
        isKept = true;
        return committed;
      },
    });
    if (!isKept) throw new Error('an operation with an idempotency key answered without a commit');
    return answer;
  }

  /** A `commit` that keeps the answer together with the effect. */
  function keeping(caller: ApiCaller, { name, key, fingerprint }: KeyLock): ApiCaller['commit'] {
    return <Status extends number, Body>(work: Work<Status, Body>) =>
      transaction(db, async handle => {
        const kept = idempotencyStore(handle, seals);
        if (!(await lockKey(handle, name))) throw new Overtaken(false);
        if (fresh(await kept.find(caller, key)) !== undefined) throw new Overtaken(true);
        const answer = await work(handle);
        const row = { fingerprint, status: answer.status, body: toJson(answer.body) };
        if (!(await kept.insert(caller, key, row, clock.now()))) throw new Overtaken(true);
        return answer;
      });
  }

  /** Takes the key before an effect outside of the database, and keeps the answer with what is written after it. */
  function keptBeside(caller: ApiCaller, { name, key, fingerprint }: KeyLock): KeptBeside {
    let startedAt = 0;
    return {
      async begin(handle) {
        startedAt = clock.now();
        if (!(await lockKey(handle, name))) throw new Overtaken(false);
        const kept = idempotencyStore(handle, seals);
        if (!(await kept.start(caller, key, fingerprint, startedAt))) throw new Overtaken(true);
      },
      cancel: handle => idempotencyStore(handle, seals).cancel(caller, key, startedAt),
      end: (handle, { status, body }) =>
        idempotencyStore(handle, seals).finish(caller, key, { status, body: toJson(body) }, startedAt),
    };
  }

  function fresh(row: KeptRow | undefined): KeptRow | undefined {
    return row !== undefined && isHeld(row, clock.now()) ? row : undefined;
  }

  /** Resolves when a request has ended in whatever way, or after `ms`. */
  async function ended(twin: Promise<unknown>, ms: number): Promise<void> {
    const done = new AbortController();
    const over = clock.sleep(ms, done.signal).catch(() => {});
    await Promise.race([twin.catch(() => {}), over]);
    done.abort();
  }
}

type Work<Status extends number, Body> = (handle: Transaction) => Promise<CommittedResponse<Status, Body>>;

type Proceed = (caller: ApiCaller) => Promise<GateResponse>;

interface KeyLock {
  readonly name: string;
  readonly key: string;
  readonly fingerprint: Buffer;
}

/** SHA-256 of method, target and body, told apart by their lengths. */
function fingerprintOf({ method, target, body }: Attempt): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([method, target]))
    .update(body)
    .digest();
}

/**
 * Lets no other process on the same database work on a key before the transaction ends; false when one does. SQLite's
 * transactions come one after the other anyway.
 */
async function lockKey(handle: Transaction, name: string): Promise<boolean> {
  if (handle.dialect.name === 'sqlite') return true;
  const lock = createHash('sha256').update(name).digest().readBigInt64BE();
  const [row] = await rowsOf<{ claimed: boolean }>(
    handle,
    'select pg_try_advisory_xact_lock(?::bigint) as claimed',
    [lock.toString()],
  );
  return row?.claimed === true;
}

function repeated({ status, body }: KeptAnswer): GateResponse {
  return { status, headers: { 'Idempotent-Replayed': 'true' }, body: JSON.parse(body) };
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
