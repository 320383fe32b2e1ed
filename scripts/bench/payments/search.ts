import type { Owner } from '#payments/model/owner.ts';
import type { PaymentLink } from '#payments/model/payment-link.ts';
import { startOwnPostgres } from '#test/lab/own-postgres.ts';
import { type Figure, figureOf } from '../figure.ts';
import { type ServerProcess, startServer } from '../server-process.ts';
import { medians } from '../turns.ts';
import { aLink, CREATION } from './link.ts';
import { type FilledShop, filledShop, makeShop, NO_NODE } from './shop.ts';

const LINKS = 100_000;
const MAX_MS = 60;
const WARM_ROUNDS = 5;
const ROUNDS = 41;
const STREETS = [
  'Alder',
  'Birch',
  'Cedar',
  'Elm',
  'Hazel',
  'Larch',
  'Maple',
  'Oak',
  'Pine',
  'Willow',
] as const;

/** A query that differs from round to round, and the number of links that it finds. */
interface Search {
  readonly name: string;
  readonly found: number;
  readonly query: (round: number) => string;
}

const SEARCHES: readonly Search[] = [
  {
    name: 'that finds one',
    found: 1,
    query: round => `search=invoice%20${10_000_000 + ((round * 1_777) % LINKS)}`,
  },
  {
    name: 'that finds a tenth, by name',
    found: LINKS / STREETS.length,
    query: round => `search=${STREETS[round % STREETS.length]}%20street&sort=name&order=asc`,
  },
  { name: 'that finds nothing', found: 0, query: round => `search=nobody%20${round}` },
];

/** Median times over HTTP, one request after the other, of searches in 100,000 links of one organization. */
export async function searching(): Promise<Figure[]> {
  await using shop = await makeShop(manyLinks);
  await using postgres = await startOwnPostgres();
  const another = await filledShop({ kind: 'postgres', url: postgres.url }, manyLinks);
  return [
    ...(await searchingIn({ name: 'SQLite', place: shop.file, shop })),
    ...(await searchingIn({ name: 'PostgreSQL', place: postgres.url, shop: another })),
  ];
}

interface SearchedPlace {
  readonly name: string;
  /** Place of the database, for `databaseOf`. */
  readonly place: string;
  readonly shop: FilledShop;
}

async function searchingIn({ name, place, shop }: SearchedPlace): Promise<Figure[]> {
  await using service = await startServer('payments', place, NO_NODE, CREATION.token_address);
  const figures: Figure[] = [];
  for (const search of SEARCHES) {
    const times: number[] = [];
    for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
      const ms = await timed(service, shop, { query: search.query(round), found: search.found });
      if (round >= WARM_ROUNDS) times.push(ms);
    }
    figures.push(
      figureOf({
        name: `search over 100,000 links ${search.name}, on ${name} over HTTP, p50 in ms`,
        rounds: medians(times),
        wanted: { atMost: MAX_MS },
      }),
    );
  }
  return figures;
}

/** The same number of links per street, newest first. The newest is a minute old. */
function manyLinks(owner: Owner): PaymentLink[] {
  const now = Date.now();
  return Array.from({ length: LINKS }, (_, index) =>
    aLink(owner, now - 60_000 - index * 1_000, {
      name: `Invoice ${10_000_000 + index}, ${STREETS[index % STREETS.length]} Street`,
    }),
  );
}

async function timed(
  { url }: ServerProcess,
  { headers }: FilledShop,
  { query, found }: { query: string; found: number },
): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(`${url}/api/v1/payment-links?${query}`, { headers });
  const body = await answer.text();
  const ms = performance.now() - startedAt;
  const { total_count: total } = JSON.parse(body);
  if (answer.status !== 200 || total !== found)
    throw new Error(`${query} answered ${answer.status}: ${body.slice(0, 500)}`);
  return ms;
}
