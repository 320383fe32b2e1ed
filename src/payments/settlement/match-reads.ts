import type { Handle } from '../../db/open.ts';
import type { Seals } from '../secrets/sealed.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { transactionStore } from '../store/transaction-store.ts';
import type { MatchReads } from './match.ts';

/**
 * Reads of `match` that are made once in a database transaction, until it records something. The many transfers of one
 * sender would otherwise read all of its sessions and their payments again and again.
 */
export function matchReads(handle: Handle, seals: Seals): MatchReads & { forget(): void } {
  const sessions = sessionStore(handle, seals);
  const transactions = transactionStore(handle);
  const bySigner = remembered(sessions.bySigner);
  const byAmount = remembered(sessions.byAmount);
  const isOpenPrice = remembered(sessions.isOpenPrice);
  const ofSession = remembered(transactions.ofSession);
  const countOf = remembered(transactions.countOf);

  return {
    bySigner: bySigner.read,
    byAmount: byAmount.read,
    isOpenPrice: isOpenPrice.read,
    ofSession: ofSession.read,
    countOf: countOf.read,
    /** Call it after each change. */
    forget() {
      for (const { forget } of [bySigner, byAmount, isOpenPrice, ofSession, countOf]) forget();
    },
  };
}

/** A read whose results are kept by its arguments. */
function remembered<Arguments extends readonly unknown[], Result>(
  read: (...given: Arguments) => Promise<Result>,
) {
  const results = new Map<string, Promise<Result>>();
  return {
    read(...given: Arguments): Promise<Result> {
      const key = JSON.stringify(given, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
      const known = results.get(key) ?? read(...given);
      results.set(key, known);
      return known;
    },
    forget: () => results.clear(),
  };
}
