import { performance } from 'node:perf_hooks';
import { type DatabaseOptions, type Db, openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import { silentLogger } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';
import { NATIVE_COIN, type PaymentChain, watcherName } from '#payments/model/payment-chain.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import { seals as sealsOf } from '#payments/secrets/sealed.ts';
import { chainWatcher } from '#payments/watcher/chain-watcher.ts';
import { startOwnPostgres } from '#test/lab/own-postgres.ts';
import { type Figure, figureOf, median } from '../figure.ts';
import { CHAIN_ID } from '../payments/link.ts';
import { filledShop, makeShop } from '../payments/shop.ts';
import { startServer } from '../server-process.ts';
import { medians } from '../turns.ts';
import { type CannedPayment, MINE } from './canned-chain.ts';
import { CONFIRMATIONS, openSessions, TOKENS } from './open-sessions.ts';

const WARM_LOOKS = 20;
const LOOKS = WARM_LOOKS + 65;
/** Time between two looks, in milliseconds. */
export const LOOK_MS = 2_000;
const BLOCK_TRANSACTIONS = 200;
const BLOCK_PAYMENTS = 20;
const UNCHANGED_MS = 5;
const NEW_BLOCK_MS = 100;

/** Seals of all that the bench stores. */
export const seals = sealsOf(['seals nothing but what this bench makes and removes']);

/**
 * CPU time of a watcher's process for one look while more than 10,000 sessions are open: at an unchanged head, and at a
 * new block of 200 transactions, 20 of them payments.
 */
export async function looking(): Promise<Figure[]> {
  await using shop = await makeShop(() => []);
  await using postgres = await startOwnPostgres();
  const onPostgres = { kind: 'postgres', url: postgres.url } as const;
  await filledShop(onPostgres, () => []);
  return [
    ...(await lookingOn('SQLite', { file: shop.file })),
    ...(await lookingOn('PostgreSQL', onPostgres)),
  ];
}

async function lookingOn(name: string, database: DatabaseOptions): Promise<Figure[]> {
  await using node = await startServer('canned-chain', String(CHAIN_ID));
  const db = openDatabase(database);
  try {
    const clock = advancingClock();
    const sessions = await openSessions(db, seals, clock.now());
    const looked = watching(db, { url: node.url, clock });
    const unchanged: OwnTime[] = [];
    for (let look = 0; look < LOOKS; look++) {
      clock.advance(LOOK_MS);
      const took = await looked();
      if (look >= WARM_LOOKS) unchanged.push(took);
    }
    const atBlocks: OwnTime[] = [];
    for (let look = 0; look < LOOKS; look++) {
      clock.advance(LOOK_MS);
      const paid = sessions.slice(look * BLOCK_PAYMENTS, (look + 1) * BLOCK_PAYMENTS);
      await mine(node.url, paid.map(paymentOf), clock.now());
      const took = await looked();
      if (look >= WARM_LOOKS) atBlocks.push(took);
    }
    await hasSettled(db);
    return [
      ownTime('an unchanged head', { name, looks: unchanged, atMost: UNCHANGED_MS }),
      ownTime(`a new block with ${BLOCK_PAYMENTS} payments`, { name, looks: atBlocks, atMost: NEW_BLOCK_MS }),
    ];
  } finally {
    await db.destroy();
  }
}

/**
 * @throws Error when payments of confirmed blocks were not settled, so that the looks did less work than they should
 */
async function hasSettled(db: Db): Promise<void> {
  const completed = await rowsOf(db, "select 1 from checkout_sessions where status = 'completed'");
  const deep = (LOOKS - CONFIRMATIONS) * BLOCK_PAYMENTS;
  if (completed.length !== deep) throw new Error(`${completed.length} sessions of ${deep} were completed`);
}

/** Figure of the CPU time of a look. The value of a round is the median of its looks. */
function ownTime(
  at: string,
  { name, looks, atMost }: { name: string; looks: readonly OwnTime[]; atMost: number },
): Figure {
  const times = looks.map(({ cpuMs }) => cpuMs);
  const busyMs = median(looks.map(({ loopMs }) => loopMs));
  return figureOf({
    name: `CPU time of a watcher's look at ${at}, 10,000 sessions open, on ${name}, ms`,
    rounds: medians(times),
    wanted: { atMost },
    note: `event loop busy for ${busyMs.toFixed(1)} ms; the slowest look ${Math.max(...times).toFixed(1)} ms`,
  });
}

/** Cost of a look in this process, in milliseconds. */
interface OwnTime {
  /** CPU time. */
  readonly cpuMs: number;
  /** Time of the event loop, which includes synchronous statements and waits for the CPU. */
  readonly loopMs: number;
}

/** Creates a watcher that looks once per call. */
export function watching(db: Db, { url, clock }: { url: string; clock: Clock }): () => Promise<OwnTime> {
  const log = silentLogger();
  // On PostgreSQL, only a process that listens for wake-ups queries for open sessions.
  db.wakeups.on(watcherName(CHAIN_ID), () => {});
  const client = createChainClient({ id: CHAIN_ID, rpcUrls: [url], timeoutMs: 10_000, log });
  const watcher = chainWatcher({ chain: CHAIN, client, db, seals, clock, log });
  const { signal } = new AbortController();
  return async () => {
    const cpuBefore = process.cpuUsage();
    const loopBefore = performance.eventLoopUtilization();
    await watcher.runOnce(signal);
    const { user, system } = process.cpuUsage(cpuBefore);
    const { active } = performance.eventLoopUtilization(loopBefore);
    return { cpuMs: (user + system) / 1_000, loopMs: active };
  };
}

const CHAIN: PaymentChain = {
  id: CHAIN_ID,
  name: 'Bench',
  mode: 'test',
  tokens: [
    { address: NATIVE_COIN, symbol: 'ETH', decimals: 18 },
    ...TOKENS.map((address, index) => ({ address, symbol: `USD${index}`, decimals: 6 })),
  ],
  confirmations: CONFIRMATIONS,
  explorerUrl: undefined,
};

function paymentOf({
  tokenAddress,
  recipientAddress,
  payerAddress,
  amountDue,
}: CheckoutSession): CannedPayment {
  return {
    token: tokenAddress === NATIVE_COIN ? undefined : tokenAddress,
    from: payerAddress ?? `0xfb${amountDue.toString(16).padStart(38, '0')}`,
    to: recipientAddress,
    amount: amountDue.toString(),
  };
}

/** Adds a block with these payments and a time in milliseconds. Other transactions fill it up. */
export async function mine(url: string, payments: readonly CannedPayment[], time: number): Promise<void> {
  const count = Math.max(payments.length, BLOCK_TRANSACTIONS);
  const call = { jsonrpc: '2.0', id: 1, method: MINE, params: [payments, time, count] };
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(call) });
  if (!answer.ok) throw new Error(`no block was made: ${await answer.text()}`);
}

/** A clock that can be advanced, so that looks two seconds apart need no waiting. */
export function advancingClock(): Clock & { advance(ms: number): void } {
  let ahead = 0;
  return {
    now: () => systemClock.now() + ahead,
    sleep: systemClock.sleep,
    advance(ms) {
      ahead += ms;
    },
  };
}
