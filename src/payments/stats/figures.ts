import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { DAY_MS, timestamp } from '../../lib/clock.ts';
import { type PaymentChains, tokenOf } from '../model/payment-chain.ts';
import { dayNumber, daysBetween, firstDayOf, type StatsPeriod } from './periods.ts';
import type { SessionTally, TransactionTally } from './tallies.ts';

/** Tallies that figures are computed from. */
export interface Tallies {
  readonly sessions: readonly SessionTally[];
  readonly transactions: readonly TransactionTally[];
}

type Figures = Pick<PaymentsSchemas['DayFigures'], 'sessions' | 'transactions' | 'volume'>;

/** Total sessions, transactions and volume of the tallies. */
function figuresOf({ sessions, transactions }: Tallies, chains: PaymentChains): Figures {
  return {
    sessions: sessionCounts(sessions),
    transactions: transactionCounts(transactions),
    volume: volumes(transactions, chains),
  };
}

/** A period with its figures, in total and per day. `now` in UTC milliseconds. */
export function periodFigures(
  tallies: Tallies,
  { period, now, chains }: { period: StatsPeriod; now: number; chains: PaymentChains },
) {
  const days = [...tallies.sessions, ...tallies.transactions].map(({ day }) => day);
  const earliest = days.reduce<number | null>(
    (least, day) => (least === null || day < least ? day : least),
    null,
  );
  const first = period === 'all' ? earliest : firstDayOf(period, now);
  const sessions = Map.groupBy(tallies.sessions, ({ day }) => day);
  const transactions = Map.groupBy(tallies.transactions, ({ day }) => day);
  const listed = first === null ? [] : daysBetween(first, dayNumber(now));
  return {
    period,
    from: first === null ? null : timestamp(first * DAY_MS),
    to: timestamp((dayNumber(now) + 1) * DAY_MS),
    ...figuresOf(tallies, chains),
    by_day: listed.map(day => ({
      date: timestamp(day * DAY_MS).slice(0, 10),
      ...figuresOf({ sessions: sessions.get(day) ?? [], transactions: transactions.get(day) ?? [] }, chains),
    })),
  };
}

/** Figures per chain, ordered by chain id. */
export function chainFigures(tallies: Tallies, chains: PaymentChains): PaymentsSchemas['ChainFigures'][] {
  return groups(tallies, ({ chainId }) => String(chainId)).map(([{ chainId }, group]) => ({
    chain_id: chainId,
    ...figuresOf(group, chains),
  }));
}

/** Figures per token, ordered by chain id and token address. */
export function tokenFigures(tallies: Tallies, chains: PaymentChains): PaymentsSchemas['TokenFigures'][] {
  return groups(tallies, tokenKey).map(([token, { sessions, transactions }]) => ({
    chain_id: token.chainId,
    token_address: token.tokenAddress,
    sessions: sessionCounts(sessions),
    transactions: transactionCounts(transactions),
    volume: volumeOf(token, transactions, chains),
  }));
}

type Token = Pick<SessionTally, 'chainId' | 'tokenAddress'>;

/** Tallies grouped by a key, each group with the chain and token of one of its tallies. Ordered by chain and token. */
function groups(
  { sessions, transactions }: Tallies,
  keyOf: (token: Token) => string,
): (readonly [Token, Tallies])[] {
  const tokens = new Map([...sessions, ...transactions].map(tally => [keyOf(tally), tally]));
  const ofSessions = Map.groupBy(sessions, keyOf);
  const ofTransactions = Map.groupBy(transactions, keyOf);
  return [...tokens]
    .map(([key, token]) => {
      const group = { sessions: ofSessions.get(key) ?? [], transactions: ofTransactions.get(key) ?? [] };
      return [token, group] as const;
    })
    .sort(
      ([left], [right]) => left.chainId - right.chainId || (left.tokenAddress < right.tokenAddress ? -1 : 1),
    );
}

function tokenKey({ chainId, tokenAddress }: Token): string {
  return `${chainId} ${tokenAddress}`;
}

function sessionCounts(tallies: readonly SessionTally[]): PaymentsSchemas['SessionCounts'] {
  const counts = { active: 0, completed: 0, expired: 0 };
  for (const { status, count } of tallies) counts[status] += count;
  const { active, completed, expired } = counts;
  const ended = completed + expired;
  return {
    total: active + ended,
    ...counts,
    conversion_rate: ended === 0 ? null : Math.round((completed / ended) * 10_000) / 10_000,
  };
}

/** Number of transactions by status. */
export function transactionCounts(
  tallies: readonly TransactionTally[],
): PaymentsSchemas['TransactionCounts'] {
  const counts = { pending: 0, confirming: 0, completed: 0, failed: 0 };
  for (const { status, count } of tallies) counts[status] += count;
  return { total: Object.values(counts).reduce((sum, count) => sum + count, 0), ...counts };
}

/** Sum of the completed transactions of each token. Tokens without one are absent. */
export function volumes(
  tallies: readonly TransactionTally[],
  chains: PaymentChains,
): PaymentsSchemas['TokenVolume'][] {
  const completed = tallies.filter(({ status }) => status === 'completed');
  return groups({ sessions: [], transactions: completed }, tokenKey).map(([token, { transactions }]) =>
    volumeOf(token, transactions, chains),
  );
}

/** A token with its symbol and decimals, which are null when it is no longer configured. */
export function namedToken({ chainId, tokenAddress }: Token, chains: PaymentChains) {
  const chain = chains.all.find(({ id }) => id === chainId);
  const token = chain && tokenOf(chain, tokenAddress);
  return {
    chain_id: chainId,
    token_address: tokenAddress,
    symbol: token?.symbol ?? null,
    decimals: token?.decimals ?? null,
  };
}

function volumeOf(
  { chainId, tokenAddress }: Token,
  tallies: readonly TransactionTally[],
  chains: PaymentChains,
): PaymentsSchemas['TokenVolume'] {
  const completed = tallies.filter(({ status }) => status === 'completed');
  return {
    ...namedToken({ chainId, tokenAddress }, chains),
    amount: completed.reduce((sum, { volume }) => sum + volume, 0n).toString(),
    transactions: completed.reduce((sum, { count }) => sum + count, 0),
  };
}
