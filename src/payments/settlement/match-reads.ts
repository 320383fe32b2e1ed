import type { Handle } from '../../db/open.ts';
import type { PaidAddress } from '../model/payment-chain.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { Transfer } from '../model/transfer.ts';
import type { Seals } from '../secrets/sealed.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { transactionStore } from '../store/transaction-store.ts';
import type { MatchReads } from './match.ts';

/** Results about one wallet, by the other arguments of the read. */
interface WalletReads {
  readonly sessions: Map<string, SignedSessions>;
  readonly paid: Map<string, Map<string, bigint>>;
}

interface SignedSessions {
  all: readonly CheckoutSession[];
  /** Ids of those that were paid since. */
  readonly changed: Set<string>;
}

/**
 * Reads of `match` that are made once in a database transaction. The many transfers of one sender would otherwise read
 * all of its sessions and their payments again and again: a payment changes only its own session.
 */
export function matchReads(handle: Handle, seals: Seals) {
  const sessions = sessionStore(handle, seals);
  const transactions = transactionStore(handle);
  const byAmount = remembered(sessions.byAmount);
  const byDepositAddress = remembered(sessions.byDepositAddress);
  const isOpenPrice = remembered(sessions.isOpenPrice);
  const countOf = remembered(transactions.countOf);
  const wallets = new Map<string, WalletReads>();

  function readsOf(wallet: string): WalletReads {
    const reads = wallets.get(wallet) ?? { sessions: new Map(), paid: new Map() };
    wallets.set(wallet, reads);
    return reads;
  }
  function forgetAmounts(): void {
    for (const { forget } of [byAmount, byDepositAddress, isOpenPrice, countOf]) forget();
  }
  const reads: MatchReads = {
    async bySigner(address: PaidAddress, wallet: string, endedAfter: number) {
      const known = readsOf(wallet).sessions;
      const key = JSON.stringify([address, endedAfter]);
      const signed = known.get(key) ?? {
        all: await sessions.bySigner(address, wallet, endedAfter),
        changed: new Set(),
      };
      known.set(key, signed);
      const changed = await sessions.findMany([...signed.changed]);
      if (changed.size > 0) signed.all = signed.all.map(one => changed.get(one.id) ?? one);
      signed.changed.clear();
      return signed.all;
    },
    async paidBySigner(address: PaidAddress, wallet: string) {
      const known = readsOf(wallet).paid;
      const key = JSON.stringify(address);
      const sums = known.get(key) ?? (await transactions.paidBySigner(address, wallet));
      known.set(key, sums);
      return sums;
    },
    byAmount: byAmount.read,
    byDepositAddress: byDepositAddress.read,
    isOpenPrice: isOpenPrice.read,
    countOf: countOf.read,
  };

  return {
    ...reads,

    /** Call it after a transfer became a new payment of a session. */
    follow({ id, signedAddress }: CheckoutSession, { sender, amount }: Transfer): void {
      forgetAmounts();
      for (const { changed } of wallets.get(signedAddress ?? '')?.sessions.values() ?? []) changed.add(id);
      for (const sums of wallets.get(sender)?.paid.values() ?? [])
        sums.set(id, (sums.get(id) ?? 0n) + amount);
    },

    /** Call it after any other change. */
    forget(): void {
      forgetAmounts();
      wallets.clear();
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
