import fc from 'fast-check';
import { formatUnits } from 'viem';
import { expect, test } from 'vitest';
import type { Binding } from '#db/columns.ts';
import { execute, rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { newId } from '#lib/ids.ts';
import { largestTail } from '#payments/amounts/token-amount.ts';
import { seals as sealsOf } from '#payments/secrets/sealed.ts';
import { freeAmount } from '#payments/sessions/amounts-due.ts';
import type { SessionDraft } from '#payments/sessions/opening.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { aLink, RECORD_TIME } from '../../lab/payments-records.ts';
import { aSession } from '../../lab/payments-sessions.ts';
import { eachDatabase } from '../../support/databases.ts';
import { givenDatabase } from '../../support/given-database.ts';

const seals = sealsOf(['a secret that only this test knows, and long']);
const LARGEST = 2n ** 256n - 1n;
const HOUR_MS = 3_600_000;

eachDatabase('exact amounts', databases => {
  const given = givenDatabase(databases, { isShared: false });

  const opened = (changes: Partial<SessionDraft> = {}, whose = given.owner) =>
    transaction(given.db, handle =>
      sessionStore(handle, seals).open(
        aSession(whose, { ...changes, subtotal: changes.amount ?? 2_500_000n }),
      ),
    );
  const expired = (id: string, now: number) =>
    transaction(given.db, handle => settlement({ handle, seals, now }).expire(id));
  const tail = ({ amount, amountDue }: { amount: bigint; amountDue: bigint }) => amountDue - amount;
  /** Opens sessions until one is payable by wallet only. */
  async function exhausted(changes: Partial<SessionDraft>) {
    const asked = [];
    for (;;) {
      const session = await opened(changes);
      if (session.isWalletOnly) return { asked, walletOnly: session };
      asked.push(session);
    }
  }

  test('an amount exceeds its price by at most 1 % or 0.05 units, is never round, and never a taken amount or a price', async () => {
    const prices = fc.oneof(
      fc.bigInt({ min: 1n, max: 400n }),
      fc.bigInt({ min: 1n, max: 10n ** 12n }),
      fc.bigInt({ min: LARGEST - 300n, max: LARGEST }),
    );
    // A token has one number of decimals.
    const token = fc.record({
      decimals: fc.constantFrom(0, 1, 2, 3, 6, 9, 18, 24),
      asked: fc.array(prices, { minLength: 1, maxLength: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(token, async ({ decimals, asked }) => {
        const recipientAddress = `0x${newId('cs').slice(3).padStart(40, '0').toLowerCase()}`;
        const before: { amount: bigint; amountDue: bigint; isWalletOnly: boolean }[] = [];

        for (const price of asked) {
          const session = await opened({ amount: price, tokenDecimals: decimals, recipientAddress });

          const added = tail(session);
          if (session.isWalletOnly) expect(added).toBe(0n);
          else {
            expect(added).toBeGreaterThanOrEqual(1n);
            expect(added).toBeLessThanOrEqual(largestTail(price, decimals));
            expect(session.amountDue).toBeLessThanOrEqual(LARGEST);
            const step = 10n ** BigInt(Math.max(0, decimals - 8));
            expect(session.amountDue % step).toBe(0n);
            expect(session.amountDue % (10n * step)).not.toBe(0n);
            const taken = before.flatMap(one => [one.amount, ...(one.isWalletOnly ? [] : [one.amountDue])]);
            expect(taken).not.toContain(session.amountDue);
          }
          before.push(session);
        }
      }),
      { numRuns: 25 },
    );
  });

  test('customers with one price get amounts in no particular order', async () => {
    const tails = [];
    for (let index = 0; index < 12; index++) tails.push(tail(await opened()));

    expect(new Set(tails).size).toBe(12);
    expect(tails).not.toEqual(tails.toSorted((a, b) => Number(a - b)));
    expect(tails.every(one => one < 10_000n)).toBe(true);
  });

  test('a coin with a valuable smallest unit adds at most 1 % or 99 units at first, and little more while few are taken', async () => {
    const cheap = { amount: 5_000n, tokenDecimals: 8 };
    const dear = { amount: 200_000n, tokenDecimals: 8, chainId: 1 };
    const tails = { cheap: [] as bigint[], dear: [] as bigint[] };
    for (let index = 0; index < 15; index++) {
      tails.cheap.push(tail(await opened(cheap)));
      tails.dear.push(tail(await opened(dear)));
    }

    expect(tails.cheap.slice(0, 1).filter(one => one > 99n)).toEqual([]);
    expect(tails.cheap.filter(one => one > 4n * 4n * 99n)).toEqual([]);
    expect(tails.dear.filter(one => one > 4n * 2_000n)).toEqual([]);
  });

  test('each amount of a small range is assigned once, and then only a wallet can pay', async () => {
    const { asked, walletOnly } = await exhausted({ amount: 101n, tokenDecimals: 2 });
    const coarse = await exhausted({ amount: 3_002n, tokenDecimals: 0, chainId: 1 });
    const none = await opened({ amount: 99n, tokenDecimals: 0, chainId: 5 });

    expect(asked.map(tail).sort()).toEqual([1n, 2n, 3n, 4n, 5n]);
    expect(walletOnly.amountDue).toBe(101n);
    expect(coarse.asked).toHaveLength(27);
    expect(none.isWalletOnly).toBe(true);
  });

  test('2,000 smallest units of a stablecoin leave room for many sessions', async () => {
    const sessions = [];
    for (let index = 0; index < 60; index++) sessions.push(await opened({ amount: 2_000n }));

    expect(sessions.filter(one => one.isWalletOnly)).toEqual([]);
    expect(new Set(sessions.map(one => one.amountDue)).size).toBe(60);
  });

  test('an amount of a coin with 18 decimals has eight decimal places and is near the price', async () => {
    const amounts = [];
    for (let index = 0; index < 12; index++) {
      const session = await opened({ amount: 10n ** 18n, tokenDecimals: 18 });
      amounts.push(formatUnits(session.amountDue, 18));
    }

    expect(amounts.filter(amount => !/^1\.0000\d{3}[1-9]$/.test(amount))).toEqual([]);
    expect(new Set(amounts).size).toBe(12);
  });

  test('no amount of a coin with 18 decimals equals the price of an open session or a link', async () => {
    const units = (count: bigint) => (LARGEST / 10n ** 11n) * 10n ** 11n - count * 10n ** 10n;
    const coin = { tokenDecimals: 18 };
    const range = { ...coin, amount: units(9n) };
    await linkStore(given.db).insert(aLink(given.owner, { amount: units(4n) }));
    const odd = await opened({ ...coin, amount: units(7n) });

    const { asked } = await exhausted(range);

    const taken = [odd, ...asked].map(one => (units(0n) - one.amountDue) / 10n ** 10n);
    expect(taken).not.toContain(7n);
    expect(taken).not.toContain(4n);
    expect(new Set(taken).size).toBe(taken.length);
  });

  test('no amount equals the price of an open session', async () => {
    const range = { amount: 101n, tokenDecimals: 2 };
    const odd = await opened({ amount: 103n, tokenDecimals: 0 });

    const { asked } = await exhausted(range);

    expect(odd.amountDue).toBe(104n);
    expect(asked.map(one => one.amountDue).sort()).toEqual([102n, 105n, 106n]);
  });

  test('no amount equals an amount of an active link', async () => {
    for (const changes of [
      { amount: 102n },
      { amount: 103n, isActive: false },
      { amount: null, minAmount: 104n, suggestedAmount: 105n, maxAmount: 106n },
    ]) {
      await linkStore(given.db).insert(aLink(given.owner, changes));
    }

    const { asked } = await exhausted({ amount: 101n, tokenDecimals: 2 });

    expect(asked.map(one => one.amountDue)).toEqual([103n]);
  });

  test('prices of another organization at the same address block no amount', async () => {
    const stranger = await given.newOwner();
    const first = await opened({ amount: 101n, tokenDecimals: 2 });
    await linkStore(given.db).insert(aLink(stranger, { amount: 102n }));
    await opened({ amount: 103n, tokenDecimals: 0 }, stranger);

    const { asked } = await exhausted({ amount: 101n, tokenDecimals: 2 });

    const amounts = [first, ...asked].map(one => one.amountDue);
    expect(amounts.sort()).toEqual([102n, 103n, 104n, 105n, 106n]);
  });

  test('the amount of a session that expired within the last hour is assigned last', async () => {
    const range = { amount: 101n, tokenDecimals: 2 };
    const first = await opened(range);
    await expired(first.id, RECORD_TIME + 1);

    const { asked } = await exhausted(range);

    expect(asked).toHaveLength(5);
    expect(asked.at(-1)?.amountDue).toBe(first.amountDue);
  });

  test('the amount of a session that expired an hour ago is free again', async () => {
    const range = { amount: 101n, tokenDecimals: 2 };
    for (const { id } of (await exhausted(range)).asked) await expired(id, RECORD_TIME);

    const later = await opened({ ...range, createdAt: RECORD_TIME + HOUR_MS });

    expect(later.isWalletOnly).toBe(false);
  });

  test('concurrent sessions never get the same amount', async () => {
    const sessions = await Promise.all(
      Array.from({ length: 24 }, () => opened({ amount: 101n, tokenDecimals: 3 })),
    );

    const amounts = sessions.filter(one => !one.isWalletOnly).map(one => one.amountDue);

    expect(amounts).toHaveLength(24);
    expect(new Set(amounts).size).toBe(24);
  });

  test('concurrent sessions do not block one another when the amounts nearest to the price are taken', async () => {
    const price = { amount: 5_000n, tokenDecimals: 8 };
    for (let index = 0; index < 100; index++) await opened(price);
    let transactions = 0;
    const listener = ({ sql }: { sql: string }) => {
      if (/^begin/i.test(sql)) transactions += 1;
    };
    given.db.on('query', listener);

    const openedBy = async () => {
      const sessions = [];
      for (let index = 0; index < 6; index++) sessions.push(await opened(price));
      return sessions;
    };
    const sessions = (await Promise.all(Array.from({ length: 8 }, openedBy))).flat();
    given.db.off('query', listener);

    expect(sessions.filter(one => one.isWalletOnly)).toEqual([]);
    expect(transactions / sessions.length).toBeLessThan(2);
  });

  test('the largest tail of an attempt grows fourfold from the fourth attempt on', async () => {
    const draft = aSession(given.owner, { amount: 1_000n });
    const largestTailOf = async (attempt: number, draws: number) => {
      let largest = 0n;
      for (let drawn = 0; drawn < draws; drawn++) {
        const amount = (await freeAmount(given.db, draft, attempt)) ?? 0n;
        if (amount - draft.amount > largest) largest = amount - draft.amount;
      }
      return largest;
    };

    const nearest = [await largestTailOf(0, 1_000), await largestTailOf(2, 100)];
    const larger = [await largestTailOf(3, 200), await largestTailOf(4, 200)];

    expect(nearest.filter(tail => tail < 70n || tail > 99n)).toEqual([]);
    expect(larger[0]).toBeGreaterThan(3n * 99n);
    expect(larger[0]).toBeLessThanOrEqual(4n * 99n);
    expect(larger[1]).toBeGreaterThan(12n * 99n);
    expect(larger[1]).toBeLessThanOrEqual(16n * 99n);
  });

  test('an attempt reads the amounts of open sessions after nine others, or after one with the whole range', async () => {
    const statements: string[] = [];
    const listener = ({ sql }: { sql: string }) => statements.push(sql);
    const isReading = async (changes: Partial<SessionDraft>, attempt: number) => {
      statements.length = 0;
      await freeAmount(given.db, aSession(given.owner, changes), attempt);
      return statements.some(sql => sql.includes("status = 'active' and not is_wallet_only"));
    };
    const wide = { amount: 10n ** 12n };
    const narrow = { amount: 20_001n, tokenDecimals: 2 };

    given.db.on('query', listener);
    const ofWide = [];
    for (let attempt = 0; attempt <= 9; attempt++) ofWide.push(await isReading(wide, attempt));
    const ofNarrow = [await isReading(narrow, 0), await isReading(narrow, 1)];
    given.db.off('query', listener);

    expect(ofWide).toEqual([...Array<boolean>(9).fill(false), true]);
    expect(ofNarrow).toEqual([false, true]);
  });

  test('a free amount is found through indexes among many sessions and links', async () => {
    await linkStore(given.db).insert(aLink(given.owner));
    await opened({ amount: 2_000_000n });
    await multiplied('checkout_sessions', {
      id: "'cs_' || n",
      amount: "'07' || (3000000 + n)",
      amount_due: "'07' || (4000000 + n)",
    });
    await multiplied('payment_links', {
      id: "'pl_' || n",
      short_code: "'code' || n",
      amount: "'07' || (5000000 + n)",
    });
    await given.db.raw('analyze');
    const statements: { sql: string; bindings: Binding[] }[] = [];
    const listener = (statement: { sql: string; bindings: Binding[] }) => statements.push(statement);
    given.db.on('query', listener);

    await opened({ amount: 101n, tokenDecimals: 2 });
    given.db.off('query', listener);

    const reads = statements.filter(({ sql }) => sql.includes('union all'));
    const plans = await Promise.all(reads.map(planOf));
    expect(plans.length).toBeGreaterThan(0);
    expect(plans.flat().filter(line => /Seq Scan|SCAN (checkout|payment)/.test(line))).toEqual([]);
  });

  /** Adds 3,000 copies of a table's only row, with other values in some columns. */
  async function multiplied(table: string, changes: Record<string, string>): Promise<void> {
    const [row = {}] = await rowsOf<Record<string, unknown>>(given.db, `select * from ${table}`);
    const columns = Object.keys(row);
    await execute(
      given.db,
      `insert into ${table} (${columns.join(', ')})
       with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 3000)
       select ${columns.map(column => changes[column] ?? column).join(', ')} from ${table}, numbers`,
    );
  }

  async function planOf({ sql, bindings }: { sql: string; bindings: Binding[] }): Promise<string[]> {
    const explain = databases.kind === 'sqlite' ? 'explain query plan' : 'explain';
    const lines = await rowsOf<Record<string, unknown>>(
      given.db,
      `${explain} ${sql.replaceAll(/\$\d+/g, '?')}`,
      bindings,
    );
    return lines.map(line => String(line.detail ?? line['QUERY PLAN']));
  }
});
