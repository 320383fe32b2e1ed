import { type Figure, figureOf, median } from './figure.ts';
import { load, type MeasuredLoad, type RepeatedRequest } from './hits/load.ts';
import { startNginx } from './hits/nginx.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const ROUNDS = 5;
const SECONDS = 2;
const PAGE = '/explorer/transactions';

/** One answer, measured with the access log, without it, from node:http and from nginx. */
interface Answer {
  readonly name: string;
  readonly status: 200 | 304;
  readonly pathOn: (service: ServerProcess) => Promise<string>;
  /** Lowest rate over that of node:http, with the access log and without. */
  readonly goals: { readonly all: number; readonly none?: number };
}

const ANSWERS: readonly Answer[] = [
  { name: 'cached transaction', status: 200, pathOn: transactionOn, goals: { all: 0.6, none: 0.8 } },
  { name: 'cached page', status: 200, pathOn: async () => PAGE, goals: { all: 0.9 } },
  { name: '304', status: 304, pathOn: transactionOn, goals: { all: 0.8 } },
];
const MAX_OF_P99 = 2;

/** Rates of cached hits of the whole service, compared with bare node:http and, where installed, with nginx. */
export async function benchHits(): Promise<Figure[]> {
  await using all = await startServer('service', 'all');
  await using none = await startServer('service', 'none');
  const figures: Figure[] = [];
  for (const answer of ANSWERS) figures.push(...(await compared(answer, { all, none })));
  return figures;
}

async function compared(
  { name, status, pathOn, goals }: Answer,
  services: { readonly all: ServerProcess; readonly none: ServerProcess },
): Promise<Figure[]> {
  const ours = {
    all: await requestOn(services.all, await pathOn(services.all), status),
    none: await requestOn(services.none, await pathOn(services.none), status),
  };
  const { length } = await (await fetch(ours.all.url + ours.all.path, IDENTITY)).bytes();
  await using bare = await startServer('node', String(length));
  const node = await requestOn(bare, '/', status);
  await using cache = await startNginx(bare.url);
  const nginx = cache && (await requestOn(cache, '/', status));
  const rounds = await measured({ ...ours, node, ...(nginx && { nginx }) });
  const size = `${(length / 1000).toFixed(1)} kB`;
  const rate = (place: string) => `${Math.round(median(rounds.map(round => rateIn(round, place))))}/s`;
  const ratios = (place: string) => rounds.map(round => rateIn(round, place) / rateIn(round, 'node'));
  const note = [...(nginx ? [`nginx ${rate('nginx')}`] : []), `node:http ${rate('node')}`].join(', ');
  return [
    figureOf({
      name: `${name}, ${size}, access log on: rate over node:http`,
      rounds: ratios('all'),
      wanted: { atLeast: goals.all },
      note: `${rate('all')}, ${note}`,
    }),
    figureOf({
      name: `${name}, ${size}, access log off: rate over node:http`,
      rounds: ratios('none'),
      wanted: { atLeast: goals.none ?? goals.all },
      note: rate('none'),
    }),
    figureOf({
      name: `${name}, ${size}, access log on: p99 at 32 connections over node:http`,
      rounds: rounds.map(round => p99In(round, 'all') / p99In(round, 'node')),
      wanted: { atMost: MAX_OF_P99 },
      note: `${median(rounds.map(round => p99In(round, 'all'))).toFixed(2)} ms`,
    }),
  ];
}

type Round = ReadonlyMap<string, MeasuredLoad>;

const rateIn = (round: Round, place: string) => round.get(place)?.requestsPerSecond ?? Number.NaN;
const p99In = (round: Round, place: string) => round.get(place)?.p99Ms ?? Number.NaN;

/** Loads the servers in turn in each round, after one round that does not count. */
async function measured(places: Readonly<Record<string, RepeatedRequest>>): Promise<Round[]> {
  const rounds: Round[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const loads = new Map<string, MeasuredLoad>();
    for (const [place, request] of Object.entries(places)) loads.set(place, await load(request, SECONDS));
    rounds.push(loads);
  }
  return rounds.slice(1);
}

const IDENTITY = { headers: { 'accept-encoding': 'identity' } };

/** Request that the server has answered twice before, so that it is a hit. */
async function requestOn(
  { url }: { readonly url: string },
  path: string,
  status: 200 | 304,
): Promise<RepeatedRequest> {
  await (await fetch(url + path, IDENTITY)).bytes();
  const { headers, body } = await fetch(url + path, IDENTITY);
  await body?.cancel();
  const tag = headers.get('etag') ?? '';
  return { url, path, status, ...(status === 304 ? { headers: { 'If-None-Match': tag } } : {}) };
}

/** Path of a transaction that is deep enough to be final. */
async function transactionOn({ url }: ServerProcess): Promise<string> {
  const { items } = JSON.parse(await (await fetch(url + PAGE)).text());
  return `${PAGE}/${items[20].hash}`;
}
