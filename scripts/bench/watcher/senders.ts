import { type DatabaseOptions, type Db, openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import type { Owner } from '#payments/model/owner.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import { startOwnPostgres } from '#test/lab/own-postgres.ts';
import { aSession } from '#test/lab/payments-sessions.ts';
import { type Figure, figureOf, median } from '../figure.ts';
import { CHAIN_ID } from '../payments/link.ts';
import { filledShop, makeShop } from '../payments/shop.ts';
import { startServer } from '../server-process.ts';
import { inTurns, wallMs } from '../turns.ts';
import type { CannedPayment } from './canned-chain.ts';
import { advancingClock, LOOK_MS, mine, seals, watching } from './looks.ts';
import { CONFIRMATIONS, insertSessions, TOKENS, watchRecipients } from './open-sessions.ts';

const PAYMENTS = 1_000;
/** No round warms up: each settles 1,000 payments, and the order alternates. */
const ROUNDS = { warm: 0, rounds: 3, timed: wallMs } as const;
const MOST_RATIO = 2;
const MOST_LOOKS = 100;
const HOUR_MS = 3_600_000;

/** Evidence of the payments: their wallets signed for the sessions and send the price, or their amounts are exact. */
type Evidence = 'signature' | 'exact amount';

/** Sessions of one recipient, and a payment of each. */
interface Batch {
  readonly sessions: readonly CheckoutSession[];
  readonly payments: readonly CannedPayment[];
}

/** Time of a watcher to settle 1,000 confirmed payments of one sender, over that of 1,000 payments of as many. */
export async function manyOfOneSender(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const evidence of ['signature', 'exact amount'] as const) {
    // The hashes of a canned chain are those of the one before, so each has a database of its own.
    await using shop = await makeShop(() => []);
    figures.push(await ratioOn('SQLite', { file: shop.file }, batches(shop.owner, evidence)));
    await using postgres = await startOwnPostgres();
    const onPostgres = { kind: 'postgres', url: postgres.url } as const;
    const { owner } = await filledShop(onPostgres, () => []);
    figures.push(await ratioOn('PostgreSQL', onPostgres, batches(owner, evidence)));
  }
  return figures;
}

let recipients = 0;

/** Batches for each round: of as many senders as payments, and of one sender. */
function batches(owner: Owner, evidence: Evidence) {
  const many: Batch[] = [];
  const one: Batch[] = [];
  for (let round = 0; round < ROUNDS.warm + ROUNDS.rounds; round++) {
    many.push(batch(owner, evidence, index => addressOf('fa', index)));
    one.push(batch(owner, evidence, () => addressOf('fa', round)));
  }
  return { evidence, many, one };
}

function batch(owner: Owner, evidence: Evidence, senderOf: (index: number) => string): Batch {
  const { tokenDecimals: _, ...session } = aSession(owner);
  const now = Date.now();
  recipients += 1;
  const sessions = Array.from({ length: PAYMENTS }, (__, index): CheckoutSession => {
    const signer = evidence === 'signature' ? senderOf(index) : null;
    return {
      ...session,
      id: `cs_${recipients}x${index}`,
      chainId: CHAIN_ID,
      tokenAddress: TOKENS[0],
      recipientAddress: addressOf('5e', recipients),
      amountDue: session.amount + BigInt(index) + 1n,
      isWalletOnly: false,
      depositAddress: null,
      signedAddress: signer,
      payerAddress: signer,
      requiredConfirmations: CONFIRMATIONS,
      customerEmail: `payer${index}@example.com`,
      createdAt: now - HOUR_MS / 6,
      updatedAt: now - HOUR_MS / 6,
      expiresAt: now + 24 * HOUR_MS,
    };
  });
  const payments = sessions.map(({ tokenAddress, recipientAddress, amount, amountDue }, index) => ({
    token: tokenAddress,
    from: senderOf(index),
    to: recipientAddress,
    amount: `${evidence === 'signature' ? amount : amountDue}`,
  }));
  return { sessions, payments };
}

function addressOf(prefix: string, number: number): string {
  return `0x${prefix}${number.toString(16).padStart(38, '0')}`;
}

async function ratioOn(
  name: string,
  database: DatabaseOptions,
  { evidence, many, one }: ReturnType<typeof batches>,
): Promise<Figure> {
  await using node = await startServer('canned-chain', String(CHAIN_ID));
  const db = openDatabase(database);
  try {
    const clock = advancingClock();
    const sessions = [...many, ...one].flatMap(some => some.sessions);
    await transaction(db, handle => insertSessions(handle, seals, sessions));
    await transaction(db, handle => watchRecipients(handle, sessions, clock.now()));
    if (db.dialect.name === 'postgres') await db.raw('vacuum analyze');
    const look = watching(db, { url: node.url, clock });
    await look();
    const settle = async (some: Batch | undefined) => {
      if (some === undefined) throw new Error('a round without payments');
      clock.advance(LOOK_MS);
      await mine(node.url, some.payments, clock.now());
      for (let block = 0; block < CONFIRMATIONS; block++) await mine(node.url, [], clock.now());
      for (let looks = 0; !(await isSettled(db, some)); looks++) {
        if (looks > MOST_LOOKS) throw new Error(`not settled in ${MOST_LOOKS} looks`);
        clock.advance(LOOK_MS);
        await look();
      }
    };
    const times = await inTurns(ROUNDS, [round => settle(many[round]), round => settle(one[round])]);
    return figureOf({
      name: `time to settle 1,000 payments of one sender by ${evidence}, over 1,000 senders, on ${name}`,
      rounds: times.other.map((ms, round) => ms / (times.base[round] ?? Number.NaN)),
      wanted: { atMost: MOST_RATIO },
      note: `${Math.round(median(times.base))} ms → ${Math.round(median(times.other))} ms`,
    });
  } finally {
    await db.destroy();
  }
}

async function isSettled(db: Db, { sessions: [first] }: Batch): Promise<boolean> {
  const completed = await rowsOf(
    db,
    "select 1 from checkout_sessions where recipient_address = ? and status = 'completed'",
    [`${first?.recipientAddress}`],
  );
  return completed.length === PAYMENTS;
}
