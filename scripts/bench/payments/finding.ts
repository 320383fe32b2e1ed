import { setTimeout } from 'node:timers/promises';
import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { execute } from '#db/query.ts';
import type { Owner } from '#payments/model/owner.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import type { PaymentLink } from '#payments/model/payment-link.ts';
import { startOwnPostgres } from '#test/lab/own-postgres.ts';
import { type Figure, figureOf } from '../figure.ts';
import { type ServerProcess, startServer } from '../server-process.ts';
import { medians } from '../turns.ts';
import { aLink, CHAIN_ID, CREATION } from './link.ts';
import { ID_DIGITS, padded, sell } from './overview.ts';
import { type FilledShop, filledShop, makeShop, NO_NODE } from './shop.ts';

const MAX_MS = 50;
const WARM_ROUNDS = 3;
const ROUNDS = 21;
/** The checkouts of `sell`. */
const CHECKOUTS = 100_000;

/** Searches, each with the number of checkouts that it finds. */
const SEARCHES: readonly (readonly [name: string, query: (round: number) => string, found: number])[] = [
  ['by id', round => `query=cs_${String(round * 77).padStart(ID_DIGITS, '0')}`, 1],
  ['by order reference', round => `query=ORDER-${round * 1_777}`, 1],
  ['by hash', round => `query=0x${(round * 20).toString().padStart(64, '0')}`, 1],
  ['by wallet, 1,000 of one', round => `query=0x${String(round % 100).padStart(40, '0')}`, CHECKOUTS / 100],
  ['by price, all of one', () => 'query=25', CHECKOUTS],
  ['by product, half of them', () => 'query=notebook', CHECKOUTS / 2],
  ['for nothing', round => `query=nobody${round}`, 0],
  ['for all', () => 'query=', CHECKOUTS],
  ['for the paid ones, by amount', () => 'status=completed&sort=amount&order=asc', (CHECKOUTS * 11) / 20],
];

function products(owner: Owner): PaymentLink[] {
  return ['Dotted notebook', 'Cup of coffee'].map(product => aLink(owner, Date.now(), { name: product }));
}

/** Median times over HTTP, one request after the other, of searches in 100,000 checkouts of one organization. */
export async function finding(): Promise<Figure[]> {
  await using shop = await makeShop(products);
  await fill({ file: shop.file, durability: 'normal' }, shop);
  await using postgres = await startOwnPostgres();
  const database = { kind: 'postgres', url: postgres.url } as const;
  const another = await filledShop(database, products);
  await fill(database, another);
  return [
    ...(await findingIn('SQLite', shop.file, shop)),
    ...(await findingIn('PostgreSQL', postgres.url, another)),
  ];
}

/** Fills a shop with checkouts of one price, two links and 100 wallets, with an order reference each. */
async function fill(database: DatabaseOptions, shop: FilledShop): Promise<void> {
  await sell(database, shop);
  const isPostgres = database.kind === 'postgres';
  const db = openDatabase(isPostgres ? { ...database, statementTimeoutMs: FILLING_MS } : database);
  try {
    for (const [sql, bindings] of changes(shop)) await execute(db, sql, bindings);
    if (!isPostgres) return;
    await db.raw('vacuum full');
    // As autovacuum does. The one before marks no page as visible to all, without which nothing is counted in an index.
    await db.raw('vacuum analyze');
  } finally {
    await db.destroy();
  }
}

const FILLING_MS = 600_000;

function changes({ linkIds: [first = '', second = ''] }: FilledShop): [sql: string, bindings: string[]][] {
  const number = 'cast(substr(id, 4) as bigint)';
  return [
    [
      `update checkout_sessions set amount = '${PRICE}', amount_due = '${PRICE}', amount_received = '${PRICE}',
         token_address = '${NATIVE_COIN}', client_reference_id = 'Order-' || cast(${number} as text),
         payment_link_id = case when ${number} % 2 = 0 then cast(? as text) else cast(? as text) end,
         payer_address = ${padded('0x', 40, `${number} % 100`)}, customer_id = ''`,
      [first, second],
    ],
    [
      `update transactions set amount = '${PRICE}', token_address = '${NATIVE_COIN}',
         tx_hash = ${padded('0x', 64, 'cast(substr(id, 5) as bigint)')}`,
      [],
    ],
    [`insert into chain_cursors (chain_id, block_number, scanned_at) values (${CHAIN_ID}, 1, 1)`, []],
  ];
}

/** 25 of the served token, as in the column. */
const PRICE = '0825000000';

async function findingIn(database: string, place: string, { headers }: FilledShop): Promise<Figure[]> {
  await using service = await startServer('payments', place, NO_NODE, CREATION.token_address);
  await idle(service);
  const times = SEARCHES.map((): number[] => []);
  for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
    for (const [index, [, query, found]] of SEARCHES.entries()) {
      const startedAt = performance.now();
      const answer = await fetch(`${service.url}/api/v1/checkout-sessions?${query(round)}`, { headers });
      const body = await answer.text();
      if (round >= WARM_ROUNDS) times[index]?.push(performance.now() - startedAt);
      if (answer.status !== 200 || JSON.parse(body).total_count !== found)
        throw new Error(`${query(round)} answered ${answer.status}: ${body.slice(0, 500)}`);
    }
  }
  return SEARCHES.map(([what], index) =>
    figureOf({
      name: `search in 100,000 checkouts ${what}, on ${database} over HTTP, p50 in ms`,
      rounds: medians(times[index] ?? []),
      wanted: { atMost: MAX_MS },
    }),
  );
}

/** Waits until a server uses less than a twentieth of a core, so that what it does at its start is not measured. */
async function idle(service: ServerProcess): Promise<void> {
  for (let before = await service.cpuMicros(); ; ) {
    await setTimeout(IDLE_MS);
    const now = await service.cpuMicros();
    if ((now - before) / 1_000 < IDLE_MS / 20) return;
    before = now;
  }
}

const IDLE_MS = 1_000;
