import { setImmediate } from 'node:timers/promises';
import { BaseError } from 'viem';
import { nodeAnswered } from '#node/client.ts';
import { AnswerTooLarge } from '#node/transport/errors.ts';
import type { SetAsideReason, UnreadReceipt } from '../../model/set-aside.ts';
import { setAsideStore } from '../../store/set-aside-store.ts';
import { RoundSpent } from '../node/node-pool.ts';
import { type ReceiptTransfers, receiptTransfers } from '../node/receipt-transfers.ts';
import type { EffectName, Round } from './round.ts';

/** Most transactions set aside before that one look asks for again. Each may be as large as an answer can be. */
const RETRIED_PER_LOOK = 5;

/**
 * Reads the receipts of transactions, each alone and once. `use` gets them as they arrive, those of one answer together.
 * A transaction whose receipt cannot be read is set aside, and asked for again after a pause that grows.
 * @throws the error of the node when it does not answer anything else either
 */
export async function readReceipts(
  round: Round,
  { name, hashes }: { name: EffectName; hashes: Iterable<string> },
  use: (shown: ReadonlyMap<string, ReceiptTransfers>) => Promise<void>,
): Promise<void> {
  const { chain, view, db, effect, clock } = round;
  const nextAttempts = await setAsideStore(db).nextAttempts(chain.id);
  const unread: UnreadReceipt[] = [];
  const asked = dueFirst(hashes, nextAttempts, clock.now());
  for await (const answers of inArrivalOrder(asked.map(hash => receiptOf(round, hash)))) {
    const shown = new Map<string, ReceiptTransfers>();
    for (const answer of answers) {
      if (answer.kind === 'unread') unread.push(answer);
      if (answer.kind === 'read') shown.set(answer.txHash, answer.shown);
    }
    if (shown.size > 0) await use(shown);
    const returned = [...shown.keys()].filter(hash => nextAttempts.has(hash));
    if (returned.length === 0) continue;
    await effect(name, ({ handle, now }) => setAsideStore(handle).remove(chain.id, returned, now));
  }
  if (unread.length === 0) return;
  // A node that answers nothing at all has failed, and nothing is wrong with the transactions.
  await view.head();
  await setAside(round, name, unread);
}

/** Unique hashes without those that wait for a later attempt. */
function dueFirst(
  hashes: Iterable<string>,
  nextAttempts: ReadonlyMap<string, number>,
  now: number,
): readonly string[] {
  const unique = [...new Set(hashes)];
  const due = unique
    .filter(hash => (nextAttempts.get(hash) ?? Number.POSITIVE_INFINITY) <= now)
    .sort((a, b) => (nextAttempts.get(a) ?? 0) - (nextAttempts.get(b) ?? 0));
  return [...unique.filter(hash => !nextAttempts.has(hash)), ...due.slice(0, RETRIED_PER_LOOK)];
}

type ReceiptAnswer =
  | { readonly kind: 'read'; readonly txHash: string; readonly shown: ReceiptTransfers }
  /** The node has no receipt yet, or the look has used up its bytes. The next look asks again. */
  | { readonly kind: 'missing' }
  | ({ readonly kind: 'unread' } & UnreadReceipt);

async function receiptOf({ view, chain }: Round, txHash: string): Promise<ReceiptAnswer> {
  try {
    const receipt = (await view.receipts([txHash])).get(txHash);
    if (receipt === undefined) return { kind: 'missing' };
    return { kind: 'read', txHash, shown: await receiptTransfers(receipt, chain.id) };
  } catch (error) {
    if (error instanceof RoundSpent) return { kind: 'missing' };
    return { kind: 'unread', txHash, reason: reasonOf(error) };
  }
}

function reasonOf(error: unknown): SetAsideReason {
  const isTooLarge = (cause: unknown) => cause instanceof AnswerTooLarge;
  if (error instanceof BaseError && error.walk(isTooLarge) !== null) return 'too_large';
  return nodeAnswered(error) ? 'refused' : 'unanswered';
}

async function setAside(round: Round, name: EffectName, unread: readonly UnreadReceipt[]): Promise<void> {
  const { chain, effect, log } = round;
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

/** Yields results as they arrive, those of one turn of the event loop together. @throws the first rejection */
async function* inArrivalOrder<T>(promises: readonly Promise<T>[]): AsyncGenerator<readonly T[]> {
  let arrived: T[] = [];
  let open = promises.length;
  let failure: { readonly error: unknown } | undefined;
  let next = Promise.withResolvers<void>();
  for (const promise of promises) {
    promise
      .then(
        result => void arrived.push(result),
        (error: unknown) => {
          failure ??= { error };
        },
      )
      .finally(() => {
        open -= 1;
        next.resolve();
      });
  }
  while (open > 0 || arrived.length > 0) {
    if (arrived.length === 0) await next.promise;
    // The results of one answer are there after one turn.
    await setImmediate();
    if (failure !== undefined) break;
    const ready = arrived;
    arrived = [];
    next = Promise.withResolvers();
    yield ready;
  }
  if (failure !== undefined) throw failure.error;
}
