import { systemClock } from '#lib/clock.ts';
import { type Figure, figureOf, median } from '../figure.ts';
import { startServer } from '../server-process.ts';
import type { BulkIndex } from './bulk-index.ts';

const ROUNDS = 5;
const PHASE_MS = 3_000;
const PAUSE_MS = 30;
/** Requests of the heavy client: one per second while fewer than four are in flight. */
const HEAVY_EVERY_MS = 1_000;
/** Time until the queries of the heavy client run and wait. */
const HEAVY_START_MS = 3_500;
const HEAVY_IN_FLIGHT = 4;
const MAX_TIMES_ALONE = 3;
const HEAVY = '203.0.113.5';
const OTHER = '203.0.113.6';

/** A small query that differs in every round. */
type Path = (round: number, index: BulkIndex) => string;

const SMALL: Readonly<Record<string, Path>> = {
  'a page of 20 with a filter': (round, { blocks }) =>
    `/transactions?limit=20&filter_block_number_lt=${blocks - (round % 1_000)}&filter_value_gte=${round}`,
  'a count over 100 blocks': (round, { blocks }) => {
    const start = (round * 7) % (blocks - 200);
    return `/transactions?aggregate=count()&filter_block_number_gte=${start}&filter_block_number_lt=${start + 100 + (round % 90)}`;
  },
};

/**
 * A legal query that reads every transaction. Most of them compute with integers of any size. Every fourth is like a
 * small one, with a value that no row has.
 */
function heavyPath(number: number, { blocks }: BulkIndex): string {
  if (number % 4 === 0)
    return `/transactions?limit=20&filter_block_number_lt=${blocks - (number % 1_000)}&filter_value_gte=1${'0'.repeat(60)}`;
  const sum = `sum((((value*gas+${number})*gas_price-value)*value)%(gas+1))`;
  const aggregate = `${sum},countDistinct(hash),countDistinct(from_address),avg(value*value*value*value)`;
  return `/transactions?limit=1000&group_by=to_address&aggregate=${encodeURIComponent(aggregate)}`;
}

/** Time of small queries of one client next to a client with heavy ones, over their time alone. */
export async function besideHeavyClient(
  index: BulkIndex,
  { database, on }: { readonly database: string; readonly on: string },
): Promise<Figure[]> {
  await using served = await startServer('index', database, String(index.blocks));
  const ask = asker(served.url);
  const small = smallClient(ask, index);
  await small();
  const rounds: { alone: Phase; beside: Phase }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const alone = await small();
    const ending = new AbortController();
    const heavy = heavyClient(ask, index, ending.signal);
    await systemClock.sleep(HEAVY_START_MS);
    const beside = await small();
    ending.abort();
    await heavy;
    rounds.push({ alone, beside });
  }
  const ratios = Object.keys(SMALL).map(name => {
    const of = (phase: Phase) => median(phase.times[name] ?? []);
    const ms = [median(rounds.map(({ alone }) => of(alone))), median(rounds.map(({ beside }) => of(beside)))];
    return figureOf({
      name: `${name} beside a heavy client over alone, p50, on ${on}`,
      rounds: rounds.map(({ alone, beside }) => of(beside) / of(alone)),
      wanted: { atMost: MAX_TIMES_ALONE },
      note: ms.map(one => `${one.toFixed(1)} ms`).join(' → '),
    });
  });
  const refused = figureOf({
    name: `small queries refused beside a heavy client, on ${on}`,
    rounds: rounds.map(({ beside }) => beside.refused),
    wanted: { atMost: 0 },
    note: `${rounds.flatMap(({ beside }) => Object.values(beside.times).flat()).length} answered`,
  });
  return [...ratios, refused];
}

/** Requests of one client in one phase. */
interface Phase {
  /** Milliseconds of the answered requests, by kind. */
  readonly times: Readonly<Record<string, readonly number[]>>;
  readonly refused: number;
}

type Ask = (address: string, path: string) => Promise<{ ms: number; status: number }>;

function asker(url: string): Ask {
  return async (address, path) => {
    const startedAt = performance.now();
    const headers = { 'accept-encoding': 'identity', 'x-forwarded-for': address };
    const answer = await fetch(`${url}/insights/v1${path}`, { headers });
    await answer.bytes();
    return { ms: performance.now() - startedAt, status: answer.status };
  };
}

/** Sends small requests of all kinds in turn for the length of a phase. No two are equal. */
function smallClient(ask: Ask, index: BulkIndex): () => Promise<Phase> {
  let number = 0;
  return async () => {
    const times: Record<string, number[]> = Object.fromEntries(Object.keys(SMALL).map(name => [name, []]));
    let refused = 0;
    const until = performance.now() + PHASE_MS;
    while (performance.now() < until) {
      for (const [name, path] of Object.entries(SMALL)) {
        number += 1;
        const { ms, status } = await ask(OTHER, path(number, index));
        if (status === 200) times[name]?.push(ms);
        else refused += 1;
        await systemClock.sleep(PAUSE_MS);
      }
    }
    return { times, refused };
  };
}

/** Sends heavy requests until the signal aborts. Resolves when the last one is answered. */
async function heavyClient(ask: Ask, index: BulkIndex, signal: AbortSignal): Promise<void> {
  const inFlight = new Set<Promise<unknown>>();
  let number = Math.floor(performance.now());
  while (!signal.aborted) {
    if (inFlight.size < HEAVY_IN_FLIGHT) {
      number += 1;
      const answer = ask(HEAVY, heavyPath(number, index));
      inFlight.add(answer);
      void answer.finally(() => inFlight.delete(answer));
    }
    await systemClock.sleep(HEAVY_EVERY_MS);
  }
  await Promise.all(inFlight);
}
