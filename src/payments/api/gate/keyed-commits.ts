import type { Db, Transaction } from '#db/open.ts';
import { lockedTransaction, transaction, tryLock } from '#db/transaction.ts';
import { toJson } from '#lib/json.ts';
import { type ClockAndLog, logAndGoOn } from '#lib/logger.ts';
import type { Seals } from '../../secrets/sealed.ts';
import type { ApiCaller, CommittedResponse, TwoPhaseAction } from './api-context.ts';
import { idempotencyStore, isHeld } from './idempotency-store.ts';

export interface IdempotencyOptions extends ClockAndLog {
  readonly db: Db;
  readonly seals: Seals;
}

/** Thrown to roll back a transaction, because another request holds the key or has stored its answer. */
export class AnotherRequestWon extends Error {
  /** True when the answer of the other request can be read now. */
  readonly isStored: boolean;

  constructor(isStored: boolean) {
    super('another request with the same idempotency key was faster');
    this.isStored = isStored;
  }
}

/** The idempotency key of a request. */
export interface RequestKey {
  /** Owner and key as one text. */
  readonly name: string;
  readonly key: string;
  /** Tells the request from others with the same key. */
  readonly fingerprint: Buffer;
}

/**
 * Both commits of a caller whose request has an idempotency key. They store the answer under the key in the transaction
 * of its effect (Decision 106).
 * @throws AnotherRequestWon
 */
export function keyedCommits(
  { db, seals, clock, log }: IdempotencyOptions,
  caller: ApiCaller,
  { name, key, fingerprint }: RequestKey,
): Pick<ApiCaller, 'commit' | 'commitAround'> {
  return {
    commit: work => transaction(db, handle => commitWithAnswer(handle, work)),
    commitAround: effect => commitAround(db, effect, keyedWrites()),
  };

  async function commitWithAnswer<Status extends number, Body>(
    handle: Transaction,
    work: (handle: Transaction) => Promise<CommittedResponse<Status, Body>>,
  ): Promise<CommittedResponse<Status, Body>> {
    const store = idempotencyStore(handle, seals);
    if (!(await tryLock(handle, name))) throw new AnotherRequestWon(false);
    const before = await store.find(caller, key);
    if (before !== undefined && isHeld(before, clock.now())) throw new AnotherRequestWon(true);
    const answer = await work(handle);
    const row = { fingerprint, status: answer.status, body: toJson(answer.body) };
    if (!(await store.insert(caller, key, row, clock.now()))) throw new AnotherRequestWon(true);
    return answer;
  }

  /** Takes the key before an effect outside the database, and stores the answer in the transaction after it. */
  function keyedWrites(): KeyedWrites {
    const startedAt = clock.now();
    return {
      async begin(handle) {
        if (!(await tryLock(handle, name))) throw new AnotherRequestWon(false);
        const store = idempotencyStore(handle, seals);
        if (!(await store.start(caller, key, fingerprint, startedAt))) throw new AnotherRequestWon(true);
      },
      cancel: () =>
        transaction(db, handle => idempotencyStore(handle, seals).cancel(caller, key, startedAt)).catch(
          logAndGoOn(log, 'releasing an idempotency key'),
        ),
      end: (handle, { status, body }) =>
        idempotencyStore(handle, seals).finish(caller, key, { status, body: toJson(body) }, startedAt),
    };
  }
}

/** Writes of an idempotency key. `begin` and `end` run in the transactions of the effect, `cancel` in its own. */
interface KeyedWrites {
  /** Takes the key. @throws AnotherRequestWon */
  begin(handle: Transaction): Promise<void>;
  /**
   * Releases the key, because there was no effect. A failure is only logged: the caller already has an error to report.
   */
  cancel(): Promise<void>;
  /** Stores the answer under the key. */
  end(handle: Transaction, answer: CommittedResponse<number, unknown>): Promise<void>;
}

/** Runs an effect between two transactions. They are short even when the effect takes long. */
export async function commitAround<Begun, Result, Status extends number, Body>(
  db: Db,
  effect: TwoPhaseAction<Begun, Result, Status, Body>,
  keyed?: KeyedWrites,
): Promise<CommittedResponse<Status, Body>> {
  const begun = await transaction(db, async handle => {
    await keyed?.begin(handle);
    return effect.begin(handle);
  });
  const sent = await effect.send(begun).catch(async (error: unknown) => {
    await keyed?.cancel();
    throw error;
  });
  // Not serializable: a conflict with other writers must not lose the record of an effect that has happened.
  return lockedTransaction(db, async handle => {
    const answer = await effect.end(handle, begun, sent);
    await keyed?.end(handle, answer);
    return answer;
  });
}
