import { expect } from 'vitest';
import { uintColumn } from '#db/columns.ts';
import { execute } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import type { Owner } from '#payments/model/owner.ts';
import { seals as sealsOf } from '#payments/secrets/sealed.ts';
import type { SessionDraft } from '#payments/sessions/opening.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { likelySessions } from '#payments/sessions/suggested-session.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { RECORD_TIME } from '../../lab/payments-records.ts';
import { aSession } from '../../lab/payments-sessions.ts';
import { eachPaymentsDatabase } from '../../support/each-payments-database.ts';

const seals = sealsOf(['a secret that only this test knows, and long']);
/** One unit of the token, which has six decimals. The largest tail is 0.05 units, or 1 % from five units on. */
const UNIT = 1_000_000n;
const SENDER = `0x${'5e'.repeat(20)}`;

/** A session with its price and amount due. */
interface Asking extends Partial<SessionDraft> {
  readonly price: bigint;
  readonly due: bigint;
  readonly isExpired?: boolean;
}

eachPaymentsDatabase('the suggested session of a transfer', ownedTest => {
  const test = ownedTest.extend('suggested', ({ db, owner }) => {
    let recipients = 0;
    /** Opens sessions at an address of their own, and returns the index of the suggested one; null for none. */
    return async (asking: readonly Asking[], amount: bigint, by: Owner = owner): Promise<number | null> => {
      const recipientAddress = `0x${String(++recipients).padStart(40, '0')}`;
      const ids: string[] = [];
      for (const { price, due, isExpired = false, ...changes } of asking) {
        const draft = aSession(owner, { subtotal: price, amount: price, recipientAddress, ...changes });
        const { id } = await transaction(db, handle => sessionStore(handle, seals).open(draft));
        await execute(db, 'update checkout_sessions set amount_due = ? where id = ?', [uintColumn(due), id]);
        if (isExpired)
          await transaction(db, handle => settlement({ handle, seals, now: RECORD_TIME }).expire(id));
        ids.push(id);
      }
      const { chainId, tokenAddress } = aSession(owner);
      const times = {
        blockTime: RECORD_TIME,
        openedBy: RECORD_TIME + 2_000,
        endedAfter: RECORD_TIME - 1_000,
      };
      const place = { chainId, tokenAddress, recipientAddress };
      const payment = { ...place, amount, sender: SENDER, tokenDecimals: 6, ...times };
      const { suggestedSessionId: id } = await likelySessions(db, by, payment);
      return id === null ? null : ids.indexOf(id);
    };
  });

  test('is the one whose price was sent, then the one whose amount due was sent, then the nearest', async ({
    suggested,
  }) => {
    const asksPrice = { price: UNIT, due: UNIT + 7_003n };
    const asksDue = { price: UNIT - 9_000n, due: UNIT };
    const isAbove = { price: UNIT + 1n, due: UNIT + 11n };
    const isBelow = { price: UNIT - 8_000n, due: UNIT - 3n };
    const isBetween = { price: UNIT - 2_000n, due: UNIT + 5_001n };
    const ordered = [asksPrice, asksDue, isAbove, isBelow, isBetween];

    for (let first = 0; first < ordered.length; first++) {
      expect(await suggested(ordered.slice(first), UNIT)).toBe(0);
      const reversed = ordered.slice(first).reverse();
      expect(await suggested(reversed, UNIT)).toBe(reversed.length - 1);
    }
  });

  test('is the one opened last among equal ones', async ({ suggested }) => {
    const openedAt = (createdAt: number, due: bigint) => ({ price: UNIT, due, createdAt });
    const earlier = openedAt(RECORD_TIME - 1, UNIT + 21n);
    const later = openedAt(RECORD_TIME, UNIT + 42n);

    expect(await suggested([earlier, later], UNIT)).toBe(1);
    expect(await suggested([later, earlier], UNIT)).toBe(0);
  });

  test('asks for an amount at most the largest tail away, 0.05 units or 1 % of its price', async ({
    suggested,
  }) => {
    const cheap = [{ price: UNIT, due: UNIT + 1n }];
    const dear = [{ price: 100n * UNIT, due: 100n * UNIT + 1n }];

    expect(await suggested(cheap, UNIT + 1n + 50_000n)).toBe(0);
    expect(await suggested(cheap, UNIT + 1n + 50_001n)).toBeNull();
    expect(await suggested(cheap, UNIT + 1n - 50_000n)).toBe(0);
    expect(await suggested(cheap, UNIT + 1n - 50_001n)).toBeNull();
    expect(await suggested(dear, 101n * UNIT + 1n)).toBe(0);
    expect(await suggested(dear, 101n * UNIT + 2n)).toBeNull();
    expect(await suggested(dear, 99n * UNIT + 1n)).toBe(0);
    expect(await suggested(dear, 99n * UNIT)).toBeNull();
  });

  test('may be paid within its tolerance, which comes before every other near amount', async ({
    suggested,
  }) => {
    const tolerant = { price: 100n * UNIT, due: 100n * UNIT + 1n, toleranceBps: 1_000 };
    const strict = { ...tolerant, due: 100n * UNIT + 2n, toleranceBps: 0 };
    const farther = { ...tolerant, price: 101n * UNIT, due: 101n * UNIT + 1n };
    const nearer = { price: 99n * UNIT - 1n, due: 99n * UNIT + 2n };

    expect(await suggested([tolerant], 90n * UNIT)).toBe(0);
    expect(await suggested([tolerant], 90n * UNIT - 1n)).toBeNull();
    expect(await suggested([strict], 90n * UNIT)).toBeNull();
    expect(await suggested([strict, nearer, tolerant], 99n * UNIT)).toBe(2);
    expect(await suggested([farther, nearer, tolerant], 99n * UNIT)).toBe(2);
    expect(await suggested([tolerant, nearer], nearer.price)).toBe(1);
    expect(await suggested([tolerant, nearer], nearer.due)).toBe(1);
    expect(await suggested([{ ...tolerant, isExpired: true }], 90n * UNIT)).toBe(0);
    expect(await suggested([{ price: 2n ** 256n - 1n, due: 2n ** 256n - 1n }], 2n ** 256n - 2n)).toBe(0);
  });

  test('may be cheaper than the largest tail, and may have expired', async ({ suggested }) => {
    expect(await suggested([{ price: 20n, due: 21n }], 7n)).toBe(0);
    expect(await suggested([{ price: UNIT, due: UNIT + 3n, isExpired: true }], UNIT)).toBe(0);
  });

  test('was opened in time, had not ended too early, and is of the same owner', async ({
    suggested,
    stranger,
  }) => {
    const asking = { price: UNIT, due: UNIT + 3n };

    expect(await suggested([{ ...asking, createdAt: RECORD_TIME + 2_000 }], UNIT)).toBe(0);
    expect(await suggested([{ ...asking, createdAt: RECORD_TIME + 2_001 }], UNIT)).toBeNull();
    expect(await suggested([asking], UNIT, stranger)).toBeNull();
  });

  test('was opened before the transfer rather than after it, and of those last', async ({ suggested }) => {
    const asking = { price: UNIT, due: UNIT + 3n };
    const at = (createdAt: number, due: bigint) => ({ ...asking, due, createdAt });

    expect(
      await suggested(
        [at(RECORD_TIME - 20, UNIT + 3n), at(RECORD_TIME - 10, UNIT + 7n), at(RECORD_TIME + 10, UNIT + 9n)],
        UNIT,
      ),
    ).toBe(1);
    const ended = { ...at(RECORD_TIME - 10, UNIT + 3n), isExpired: true };
    expect(await suggested([ended, at(RECORD_TIME + 1_000, UNIT + 7n)], UNIT)).toBe(0);
  });

  test('is the open one rather than an ended one, although it was opened in the second of the block', async ({
    suggested,
  }) => {
    const ended = { price: UNIT, due: UNIT + 3n, createdAt: RECORD_TIME - 10, isExpired: true };
    const open = { price: UNIT, due: UNIT + 7n, createdAt: RECORD_TIME + 999 };

    expect(await suggested([ended, open], UNIT)).toBe(1);
  });
});
