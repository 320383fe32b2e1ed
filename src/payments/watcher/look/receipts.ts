import { setImmediate } from 'node:timers/promises';
import { BaseError } from 'viem';
import type { Clock } from '#lib/clock.ts';
import { nodeAnswered } from '#node/client.ts';
import { AnswerTooLarge } from '#node/transport/errors.ts';
import type { SetAsideReason, UnreadReceipt } from '../../model/set-aside.ts';
import { setAsideStore } from '../../store/set-aside-store.ts';
import { LookSpent } from '../node/node-pool.ts';
import type { RpcTransactionReceipt } from '../node/node-view.ts';
import { type ReceiptTransfers, receiptTransfers } from '../node/receipt-transfers.ts';
import type { EffectName, Look } from './look.ts';

/** Receipts by the lower-case hash of their transaction. */
export type ShownTransfers = ReadonlyMap<string, ReceiptTransfers>;

/** Records whose receipts are read, and the name of the changes that follow. */
interface ReceiptsRequest {
  readonly name: EffectName;
  readonly rows: readonly SeenIn[];
}

/** A transaction, and the block that it was seen in. */
interface SeenIn {
  readonly txHash: string | null;
  readonly blockHash: string | null;
}

/** Reads receipts, each alone. */
export interface ReceiptReader {
  /** Begins a look: receipts that were read a while ago are asked for again. */
  begin(): void;
  /**
   * Hands out the receipts as they arrive, those of one answer together. A transaction whose receipt cannot be read is
   * set aside, and asked for again after a pause that grows. Ends when one takes long: what arrives later is handed out
   * by a later call.
   * @throws the error of the node when it does not answer anything else either
   */
  read(look: Look, request: ReceiptsRequest, use: (shown: ShownTransfers) => Promise<void>): Promise<void>;
  forget(): void;
}

/** Most transactions set aside before that one look asks for again. Each may be as large as an answer can be. */
const RETRIED_PER_LOOK = 5;
/** Time for which the others wait for a receipt. A receipt of 60 MiB takes seconds. */
const WAIT_MS = 500;
/** Time after which a receipt is asked for again. */
const REMEMBERED_MS = 30_000;
/** Most transfers of receipts that are remembered; of a single transaction there may be more. */
const REMEMBERED_TRANSFERS = 50_000;
/** Time without a receipt for a block that the node shows, after which the transaction is set aside. */
const MISSING_MS = 60_000;

type ReceiptAnswer =
  | { readonly kind: 'read'; readonly shown: ReceiptTransfers }
  /** The node has no receipt yet, or the look has used up its bytes. The next look asks again. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'unread'; readonly reason: SetAsideReason };

/** A receipt that was asked for. */
interface RequestedReceipt {
  /** Of the transaction and its block: after a reorganisation the receipt is another one. */
  readonly key: string;
  readonly txHash: string;
  readonly since: number;
  readonly arrival: Promise<Arrival>;
  isAnswered: boolean;
  /** Number of its transfers; 0 until it arrived. */
  transfers: number;
}

interface Arrival {
  readonly asked: RequestedReceipt;
  readonly answer: ReceiptAnswer;
}

/** Shared by all work on a chain, so that a receipt is asked for once, however many payments its transaction makes. */
export function receiptReader({ clock }: { clock: Clock }): ReceiptReader {
  const asked = new Map<string, RequestedReceipt>();
  const missingSince = new Map<string, number>();

  function ask(look: Look, { txHash, blockHash }: SeenIn): RequestedReceipt[] {
    if (txHash === null) return [];
    const key = `${txHash} ${blockHash}`;
    const known = asked.get(key);
    if (known !== undefined) return [known];
    const { promise: arrival, resolve } = Promise.withResolvers<Arrival>();
    const added: RequestedReceipt = {
      key,
      txHash,
      since: clock.now(),
      arrival,
      isAnswered: false,
      transfers: 0,
    };
    asked.set(key, added);
    void receiptOf(look, txHash).then(answer => {
      added.isAnswered = true;
      if (answer.kind === 'read') added.transfers = answer.shown.transfers.size;
      resolve({ asked: added, answer });
    });
    return [added];
  }

  /** Ends when all have arrived that were asked for recently, or when they take long. */
  function arrivalsOf(asked: readonly RequestedReceipt[]): AsyncGenerator<readonly Arrival[]> {
    const fresh = asked.filter(({ since }) => clock.now() - since < WAIT_MS);
    const waiting = new AbortController();
    const all = Promise.all(fresh.map(({ arrival }) => arrival)).finally(() => waiting.abort());
    const patience = clock.sleep(WAIT_MS, waiting.signal).catch(() => {});
    const arrivals = asked.map(({ arrival }) => arrival);
    return inArrivalOrder(arrivals, Promise.race([all, patience]));
  }

  /** Receipts that arrived, and the transactions whose receipts cannot be read. */
  function sorted(arrivals: readonly Arrival[]) {
    const shown = new Map<string, ReceiptTransfers>();
    const unread: UnreadReceipt[] = [];
    for (const { asked: one, answer } of arrivals) {
      const { key, txHash } = one;
      if (answer.kind === 'read') {
        shown.set(txHash, answer.shown);
        missingSince.delete(txHash);
        if (key === `${txHash} ${answer.shown.blockHash}`) continue;
      }
      // The node may have another answer for the next look.
      asked.delete(key);
      if (answer.kind === 'unread') unread.push({ txHash, reason: answer.reason });
      if (answer.kind === 'missing' && isStillMissing(txHash)) unread.push({ txHash, reason: 'missing' });
    }
    return { shown, unread };
  }

  function isStillMissing(txHash: string): boolean {
    const since = missingSince.get(txHash) ?? clock.now();
    missingSince.set(txHash, since);
    return clock.now() - since >= MISSING_MS;
  }

  return {
    begin() {
      const now = clock.now();
      let remembered = 0;
      for (const { key, isAnswered, since, transfers } of [...asked.values()].reverse()) {
        const isTooMuch = remembered > 0 && remembered + transfers > REMEMBERED_TRANSFERS;
        if (isAnswered && (isTooMuch || now - since >= REMEMBERED_MS)) asked.delete(key);
        else remembered += transfers;
      }
      for (const [hash, since] of missingSince) {
        if (now - since >= 2 * MISSING_MS) missingSince.delete(hash);
      }
    },

    async read(look, { name, rows }, use) {
      const { chain, view, db, effect } = look;
      const nextAttempts = await setAsideStore(db).nextAttempts(chain.id);
      const unread: UnreadReceipt[] = [];
      const due = dueFirst(rows, nextAttempts, clock.now());
      const awaited = new Set(due.flatMap(row => ask(look, row)));
      for await (const arrivals of arrivalsOf([...awaited])) {
        const arrived = sorted(arrivals);
        unread.push(...arrived.unread);
        if (arrived.shown.size > 0) await use(arrived.shown);
        const returned = [...arrived.shown.keys()].filter(hash => nextAttempts.has(hash));
        if (returned.length === 0) continue;
        await effect(name, ({ handle, now }) => setAsideStore(handle).remove(chain.id, returned, now));
      }
      if (unread.length === 0) return;
      // A node that answers nothing at all has failed, and nothing is wrong with the transactions.
      await view.head();
      await setAside(look, name, unread);
    },

    forget() {
      asked.clear();
      missingSince.clear();
    },
  };
}

/** Rows without those that wait for a later attempt, and with few that were set aside before. */
function dueFirst(
  rows: readonly SeenIn[],
  nextAttempts: ReadonlyMap<string, number>,
  now: number,
): readonly SeenIn[] {
  const hashes = new Set(rows.map(({ txHash }) => txHash));
  const retried = [...nextAttempts]
    .filter(([hash, time]) => time <= now && hashes.has(hash))
    .sort(([, a], [, b]) => a - b)
    .slice(0, RETRIED_PER_LOOK);
  const again = new Set(retried.map(([hash]) => hash));
  return rows.filter(({ txHash }) => txHash !== null && (!nextAttempts.has(txHash) || again.has(txHash)));
}

async function receiptOf({ view, chain }: Look, txHash: string): Promise<ReceiptAnswer> {
  try {
    const receipt = (await view.receipts([txHash])).get(txHash) ?? (await receiptElsewhere(view, txHash));
    if (receipt === undefined) return { kind: 'missing' };
    return { kind: 'read', shown: await receiptTransfers(receipt, chain.id) };
  } catch (error) {
    if (error instanceof LookSpent) return { kind: 'missing' };
    return { kind: 'unread', reason: reasonOf(error) };
  }
}

/** The receipt from another node: nodes that prune or lag lack some. A failure of these nodes says nothing about it. */
async function receiptElsewhere(
  view: Look['view'],
  txHash: string,
): Promise<RpcTransactionReceipt | undefined> {
  const [, ...others] = view.eachNode();
  const answers = await Promise.allSettled(others.map(node => node.receipts([txHash])));
  for (const answer of answers) {
    const receipt = answer.status === 'fulfilled' ? answer.value.get(txHash) : undefined;
    if (receipt !== undefined) return receipt;
  }
  return undefined;
}

function reasonOf(error: unknown): SetAsideReason {
  const isTooLarge = (cause: unknown) => cause instanceof AnswerTooLarge;
  if (error instanceof BaseError && error.walk(isTooLarge) !== null) return 'too_large';
  return nodeAnswered(error) ? 'refused' : 'unanswered';
}

async function setAside(look: Look, name: EffectName, unread: readonly UnreadReceipt[]): Promise<void> {
  const { chain, effect, log } = look;
  const added = await effect(name, async ({ handle, now }) => {
    const store = setAsideStore(handle);
    const times: number[] = [];
    for (const one of unread) times.push(await store.add(chain.id, one, now));
    return times;
  });
  for (const [index, { txHash, reason }] of unread.entries()) {
    const nextAttemptAt = new Date(added[index] ?? 0).toISOString();
    log.warn(
      { chainId: chain.id, txHash, reason, nextAttemptAt },
      'a transaction is set aside, because its receipt cannot be read',
    );
  }
}

/**
 * Yields results as they arrive, those of one turn of the event loop together. Ends when all have arrived, or when
 * `until` resolves. The promises never reject.
 */
async function* inArrivalOrder<T>(
  promises: readonly Promise<T>[],
  until: Promise<unknown>,
): AsyncGenerator<readonly T[]> {
  let arrived: T[] = [];
  let open = promises.length;
  let isOver = false;
  let next = Promise.withResolvers<void>();
  for (const promise of promises) {
    void promise.then(result => {
      arrived.push(result);
      open -= 1;
      next.resolve();
    });
  }
  void until.then(() => {
    isOver = true;
    next.resolve();
  });
  while (arrived.length > 0 || (open > 0 && !isOver)) {
    if (arrived.length === 0) await next.promise;
    // The results of one answer are there after one turn.
    await setImmediate();
    const ready = arrived;
    arrived = [];
    next = Promise.withResolvers();
    if (ready.length > 0) yield ready;
  }
}
