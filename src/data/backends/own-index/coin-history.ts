import type { Address } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { lowerCase } from '#evm/address.ts';
import type { CoinMove } from '#indexer/read/coin-moves.ts';
import { DAY_MS } from '#lib/clock.ts';
import type { Answers, Ask } from '../port/backend.ts';
import { type BalanceAt, type CoinChange, coinChanges } from './parts/coin-changes.ts';
import { dateText, dayOf, microsecondTimestamp } from './parts/format.ts';
import { nodeCannot } from './source/find-transaction.ts';
import { blockBefore } from './source/position.ts';
import { assertWhole, cursorFields, type IndexSource, notReadYet, PAGE_SIZE } from './source/source.ts';

/** Maximum number of balances requested from the node for one page, which may then be short (Decision 206). */
const MAX_ASKED = 400;
const DAYS = 10;

/** Coin balance history of an address, from balances that the node reports at the ends of blocks. */
export function coinHistoryAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async listAddressCoinBalances({ path, query }, { position, signal }) {
      assertWhole(source);
      const before = blockBefore(position, query);
      const head = await reader.head();
      if (head === null) throw notReadYet(source);
      const address = lowerCase(path.address_hash);
      const from = Math.min(head.number, before === undefined ? head.number : before.number - 1);
      const { changes, transactions, rest } = await changesOf(source, { address, from, signal });
      const next = { block_number: rest + 1 };
      return {
        body: {
          items: await itemsOf(source, changes, transactions),
          next_page_params:
            rest < 0 ? null : { ...next, items_count: changes.length, ...cursorFields(source, next) },
        },
      };
    },

    async getAddressCoinBalancesByDay({ path }, { signal }) {
      assertWhole(source);
      const head = await reader.head();
      if (head === null) throw notReadYet(source);
      const address = lowerCase(path.address_hash);
      const { balanceAt } = balances(source, address, signal);
      const last = dayOf(head.timestamp);
      const days = Array.from({ length: DAYS }, (_, index) => last - DAYS + 1 + index);
      const found = await Promise.all(days.map(day => balanceOfDay(source, day, balanceAt)));
      const items = found.filter(item => item !== null);
      const isUnused = items.every(({ value }) => value === '0') && !(await reader.isOnChain(address));
      return { body: { days: DAYS, items: isUnused ? [] : items } };
    },
  } satisfies Answers;
}

/** Requests each balance from the node once. */
function balances({ reader }: IndexSource, address: Address, signal: Ask['signal']) {
  const known = new Map<number, Promise<bigint | null>>();
  const balanceAt: BalanceAt = blockNumber => {
    const before = known.get(blockNumber);
    if (before !== undefined) return before;
    const asked = reader.node.coinBalance({ address, blockNumber }, signal);
    known.set(blockNumber, asked);
    return asked;
  };
  return { balanceAt, mayAsk: () => known.size < MAX_ASKED };
}

interface Stretch {
  readonly address: Address;
  /** The highest block. */
  readonly from: number;
  readonly signal: Ask['signal'];
}

/** A page of changes, the indexed transactions in their blocks, and the highest block that remains. */
async function changesOf(source: IndexSource, { address, from, signal }: Stretch) {
  const { balanceAt, mayAsk } = balances(source, address, signal);
  const changes: CoinChange[] = [];
  const transactions = new Map<number, number>();
  let rest = from;
  while (rest >= 0 && changes.length < PAGE_SIZE && mayAsk()) {
    const { moves, horizon } = await source.reader.coinMoves({ address, below: rest + 1, limit: PAGE_SIZE });
    rememberTransactions(transactions, moves);
    const hints = moves.map(({ blockNumber }) => blockNumber);
    await Promise.all(
      hints
        .flatMap(hint => [hint, hint - 1])
        .filter(isBlock)
        .map(balanceAt),
    );
    const to = horizon ?? 0;
    const most = PAGE_SIZE - changes.length;
    const found = await coinChanges({ balanceAt, mayAsk, from: rest, to, hints, most });
    changes.push(...found.changes);
    rest = found.rest;
    if (found.isStateGone && changes.length === 0) throw nodeCannot('return balances of that time');
    if (found.isStateGone) break;
  }
  return { changes, transactions, rest };
}

function isBlock(blockNumber: number): boolean {
  return blockNumber >= 0;
}

function rememberTransactions(into: Map<number, number>, moves: readonly CoinMove[]): void {
  for (const { blockNumber, transactionId } of moves)
    if (transactionId !== null) into.set(blockNumber, transactionId);
}

async function itemsOf(
  source: IndexSource,
  changes: readonly CoinChange[],
  transactions: ReadonlyMap<number, number>,
): Promise<ExplorerSchemas['CoinBalance'][]> {
  const { reader } = source;
  const ids = changes.flatMap(({ blockNumber }) => transactions.get(blockNumber) ?? []);
  const [times, hashes] = await Promise.all([
    reader.blockTimes(changes.map(({ blockNumber }) => blockNumber)),
    reader.transactionHashes(ids),
  ]);
  return changes.map(({ blockNumber, value, delta }) => {
    const time = times.get(blockNumber);
    // A reorg has removed the block during the look-up.
    if (time === undefined) throw notReadYet(source);
    return {
      transaction_hash: hashes.get(transactions.get(blockNumber) ?? -1) ?? null,
      block_number: blockNumber,
      block_timestamp: microsecondTimestamp(time),
      delta: delta.toString(),
      value: value.toString(),
    };
  });
}

/** Balance at the end of a day. Null before the chain's first block. */
async function balanceOfDay(
  source: IndexSource,
  day: number,
  balanceAt: BalanceAt,
): Promise<ExplorerSchemas['CoinBalanceOfDay'] | null> {
  const last = await source.reader.markets.momentOf((day + 1) * DAY_MS - 1);
  if (last === null) return null;
  const balance = await balanceAt(last.blockNumber);
  if (balance === null) throw nodeCannot('return balances of that time');
  return { date: dateText(day), value: balance.toString() };
}
