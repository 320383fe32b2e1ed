import { type Address, BaseError, type Hash, numberToHex, type RpcLog } from 'viem';
import { TRANSFER } from '#evm/coin-logs.ts';
import { isTooLarge, isTooMuch } from '#node/client.ts';
import { WrongChain } from '#node/transport/errors.ts';
import type { SetAsideReason } from '../../model/set-aside.ts';
import type { NodeRequest } from './node-pool.ts';

/** A range of block numbers, inclusive at both ends. */
export interface BlockRange {
  readonly from: number;
  readonly to: number;
}

/** Tokens, recipients and senders whose transfers are looked for. */
export interface TransferFilter {
  readonly tokens: readonly string[];
  readonly recipients: readonly string[];
  /** Any sender when absent. */
  readonly senders?: readonly string[];
}

/** Filters of a search for logs, and the blocks that it passes over. */
export interface LogsWanted {
  readonly filters: readonly TransferFilter[];
  readonly skipped: ReadonlySet<number>;
}

/** Logs in a range, and reasons why those of some of its blocks could not be read, by block number. */
export interface FoundLogs {
  readonly logs: readonly RpcLog[];
  readonly unread: ReadonlyMap<number, SetAsideReason>;
}

/** Failed requests after which a block is not divided any further. */
const FAILURES_PER_BLOCK = 24;
/** Failed requests after which a node that has answered none is not asked on. */
const FAILURES_WITHOUT_ANSWER = 60;

/**
 * Reads the transfers in a range. A part that is too large for one answer, or that the node refuses, is halved: by
 * blocks, then by tokens, then by recipients. Each half is a request of its own. A block whose logs cannot be divided
 * any further is listed as unread.
 * @throws the node's error when it refuses every part
 */
export async function transferLogs(
  request: NodeRequest,
  whole: BlockRange,
  { filters, skipped }: LogsWanted,
): Promise<FoundLogs> {
  const logs: RpcLog[] = [];
  const unread = new Map<number, SetAsideReason>();
  const failures = new Map<number, number>();
  let failed = 0;
  let hasAnswer = false;
  let refusal: { readonly error: unknown } | undefined;

  async function read(range: BlockRange, filter: TransferFilter): Promise<void> {
    try {
      for (const log of await request({ method: 'eth_getLogs', params: [question(range, filter)] }))
        logs.push(log);
      hasAnswer = true;
      return;
    } catch (error) {
      if (!isTooMuch(error)) throw error;
      if (isTooLarge(error)) hasAnswer = true;
      else refusal ??= { error };
      failed += 1;
      if (!hasAnswer && failed >= FAILURES_WITHOUT_ANSWER) throw error;
      const parts = range.from < range.to ? halvesOf(range) : [];
      // One after the other. In one batch, both would be as large as the whole.
      for (const half of parts) await read(half, filter);
      if (parts.length === 0) await divide(range, filter, error);
    }
  }

  /** Reads the parts of one block. */
  async function divide(
    range: BlockRange,
    { tokens, recipients, ...others }: TransferFilter,
    error: unknown,
  ): Promise<void> {
    const failuresOfBlock = (failures.get(range.from) ?? 0) + 1;
    failures.set(range.from, failuresOfBlock);
    const [ofTokens, ofRecipients] = [inHalves(tokens), inHalves(recipients)];
    const parts =
      ofTokens.length > 1
        ? ofTokens.map(some => ({ ...others, tokens: some, recipients }))
        : ofRecipients.map(some => ({ ...others, tokens, recipients: some }));
    if (parts.length < 2 || failuresOfBlock > FAILURES_PER_BLOCK) {
      unread.set(range.from, setAsideReasonOf(error));
    } else {
      for (const part of parts) await read(range, part);
    }
  }

  const ranges = rangesWithout(whole, skipped);
  await Promise.all(filters.flatMap(filter => ranges.map(range => read(range, filter))));
  // A node that refuses everything has failed, and nothing is wrong with the blocks.
  if (!hasAnswer && refusal !== undefined) throw refusal.error;
  return { logs, unread };
}

/** Parts of a range between the blocks that are passed over. */
function rangesWithout({ from, to }: BlockRange, skipped: ReadonlySet<number>): BlockRange[] {
  const ranges: BlockRange[] = [];
  let first = from;
  for (const number of [...skipped].sort((a, b) => a - b)) {
    if (number < first || number > to) continue;
    if (number > first) ranges.push({ from: first, to: number - 1 });
    first = number + 1;
  }
  return first > to ? ranges : [...ranges, { from: first, to }];
}

/**
 * Reason why something could not be read; `unanswered` when the node did not answer at all.
 * @throws the error when it is not one of a node, or of a node of another chain
 */
export function setAsideReasonOf(error: unknown): SetAsideReason {
  if (!(error instanceof BaseError) || error instanceof WrongChain) throw error;
  if (isTooLarge(error)) return 'too_large';
  return isTooMuch(error) ? 'refused' : 'unanswered';
}

function halvesOf({ from, to }: BlockRange): BlockRange[] {
  const middle = Math.floor((from + to) / 2);
  return [
    { from, to: middle },
    { from: middle + 1, to },
  ];
}

/** Two parts, or one when there is a single item. */
function inHalves<T>(items: readonly T[]): (readonly T[])[] {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)].filter(({ length }) => length > 0);
}

function question({ from, to }: BlockRange, { tokens, recipients, senders }: TransferFilter) {
  return {
    fromBlock: numberToHex(from),
    toBlock: numberToHex(to),
    address: tokens.map(asAddress),
    topics: [TRANSFER, senders?.map(wordOf) ?? null, recipients.map(wordOf)],
  };
}

/** An address as a topic: padded to 32 bytes. */
function wordOf(address: string): Hash {
  return `0x${address.slice(2).padStart(64, '0')}`;
}

export function asAddress(text: string): Address {
  return `0x${text.slice(2)}`;
}
