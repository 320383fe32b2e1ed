import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Abi } from 'viem';
import { type Fields, fieldsOf, listOf } from '../../src/data/backends/upstream-json/fields.ts';
import { isObject, toJson } from '../../src/lib/json.ts';
import { parseJson } from '../../src/lib/json-text/lossless-json.ts';
import { type Generation, since } from './blockscout/generation.ts';
import type { Surroundings } from './blockscout/positions.ts';
import {
  BAD_REQUEST,
  CRASHED,
  NOT_FOUND,
  type Refusal,
  refusalOf,
  UNKNOWN_ACTION,
} from './blockscout/refusals.ts';
import { reasonWriter } from './blockscout/reverts.ts';
import { match, type Route, routesOf } from './blockscout/routes.ts';
import { loopbackPort } from './loopback-server.ts';

export interface EmulatedRequest {
  /** Below `/api/v2`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly status: number;
}

export interface BlockscoutEmulator extends AsyncDisposable {
  /** The base address: `http://127.0.0.1:<port>/api/v2`. */
  readonly url: string;
  readonly generation: Generation;
  readonly requests: readonly EmulatedRequest[];
}

export interface EmulatorOptions {
  readonly generation: Generation;
  /** A running data service of the same chain; its answers are converted to those of a Blockscout. */
  readonly serviceUrl: string;
  /** ABIs of the verified contracts. */
  readonly abis: readonly Abi[];
}

interface Called {
  readonly route: Route;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** Every answer is read once, so compression is useless. */
const PLAIN = { 'accept-encoding': 'identity' };
const PAGE_SIZE = 50;
/** Time at which the pending transactions were first seen. */
const SEEN_AT = '2026-05-04T12:00:00.123456Z';
/**
 * Token standards that every generation knows as filters. Unknown ones are dropped, and an empty filter has no effect.
 */
const STANDARDS = ['ERC-20', 'ERC-721', 'ERC-1155'];

/**
 * Serves the Blockscout API of one generation for the chain of a data service, with the refusals of that generation.
 */
export async function startBlockscoutEmulator(options: EmulatorOptions): Promise<BlockscoutEmulator> {
  const { generation, serviceUrl, abis } = options;
  const routes = routesOf(reasonWriter(abis), SEEN_AT);
  const requests: EmulatedRequest[] = [];

  const server = createServer(async (request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
    const path = pathname.replace(/^\/api\/v2/, '');
    const { status, text } = await respond(path, query).catch((error: unknown) => ({
      status: 500,
      text: toJson(`Internal server error: ${String(error)}`),
    }));
    requests.push({ path, query, status });
    response
      .writeHead(status, {
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'max-age=0, private, must-revalidate',
        'x-ratelimit-limit': '-1',
        'x-ratelimit-remaining': '-1',
        'x-ratelimit-reset': '-1',
      })
      .end(text);
  });
  const port = await loopbackPort(server);
  return {
    url: `http://127.0.0.1:${port}/api/v2`,
    generation,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function respond(path: string, query: URLSearchParams) {
    const { status, body } = await answer(path, query);
    return { status, text: withStaleKeys(toJson(body), query) };
  }

  async function answer(path: string, query: URLSearchParams): Promise<Refusal> {
    for (const route of routes) {
      const parameters = match(route.path, path);
      if (parameters === undefined || !since(generation, route.from ?? 'v5')) continue;
      const refusal = refusalOf(route, generation, parameters, query);
      if (refusal !== undefined) return refusal;
      if (path.startsWith('/search') && !query.has('q')) return BAD_REQUEST;
      if (path === '/search/quick' && isTooShort(query)) return { status: 200, body: [] };
      return served({ route, path, parameters, query });
    }
    return UNKNOWN_ACTION;
  }

  async function served(called: Called): Promise<Refusal> {
    const { route, path, parameters } = called;
    const owner = route.shape === 'page' ? parameters.address : undefined;
    if (owner !== undefined && !since(generation, 'v8') && (await isUnknownAddress(owner))) return NOT_FOUND;
    const filters = filtersOf(called);
    if (route.shape === 'page') return pageOf(called, filters);
    const { status, body } = await ask(path, filters);
    if (status === 404) return NOT_FOUND;
    // The view of upstream has no clause for a transaction without a trace.
    if (path.endsWith('/raw-trace') && listOf(body).length === 0 && since(generation, 'v6.9')) return CRASHED;
    if (status !== 200) throw new Error(`${path} → ${status}`);
    if (route.shape === 'record') return { status, body: route.write(generation, fieldsOf(body)) };
    return { status, body: listOf(body).map(item => route.write(generation, fieldsOf(item))) };
  }

  async function pageOf(called: Called, filters: URLSearchParams): Promise<Refusal> {
    const { route, path, parameters, query } = called;
    const position = route.position?.(query);
    if (position === undefined) throw new Error(`${path} has no pages`);
    const around = (last: Fields): Surroundings => ({
      generation,
      query,
      last,
      transaction: async () => {
        const named = parameters.hash ?? query.get('batch_transaction_hash');
        const hash = named ?? String(last.transaction_hash);
        return fieldsOf((await ask(`/transactions/${hash}`, new URLSearchParams())).body);
      },
    });
    const start = await position.read(query, around({}));
    const wanted = new URLSearchParams([...filters, ...Object.entries(start ?? {})]);
    const { status, body } = await ask(path, wanted);
    if (status === 404) return NOT_FOUND;
    if (status !== 200) throw new Error(`${path}?${wanted} → ${status} ${toJson(body)}`);
    const { items: found, next_page_params: next, ...envelope } = await asLongAsWished(called, filters, body);
    const items = listOf(found).map(fieldsOf);
    const keys = isObject(next) ? await position.write(next, around(items.at(-1) ?? {})) : null;
    return {
      status,
      body: {
        ...envelope,
        items: items.map(item => route.write(generation, item)),
        next_page_params:
          keys === null ? null : { ...echoOf(called), ...countOf(called, items.length), ...keys },
        ...(path.endsWith('internal-transactions') && since(generation, 'v12')
          ? { meta: { status: 1, message: null } }
          : {}),
      },
    };
  }

  /** Since 12 `items_count` is the wanted page size. A long page also has the items of the next one. */
  async function asLongAsWished(
    { path, query }: Called,
    filters: URLSearchParams,
    body: unknown,
  ): Promise<Fields> {
    const page = fieldsOf(body);
    const isLong = since(generation, 'v12') && Number(query.get('items_count')) > PAGE_SIZE;
    if (!isLong || !isObject(page.next_page_params)) return page;
    const cursor = String(page.next_page_params.cursor);
    const more = fieldsOf((await ask(path, new URLSearchParams([...filters, ['cursor', cursor]]))).body);
    return { ...more, items: [...listOf(page.items), ...listOf(more.items)] };
  }

  /** True for a quick search of less than three bytes, which finds nothing since 6.9. */
  function isTooShort(query: URLSearchParams): boolean {
    return since(generation, 'v6.9') && Buffer.byteLength(query.get('q') ?? '') < 3;
  }

  /** The query parameters that versions before 9.3 repeat in `next_page_params`. */
  function echoOf({ route, query }: Called): Fields {
    if (since(generation, 'v9.3')) return {};
    const dropped = route.filters ?? [];
    return Object.fromEntries([...query].filter(([name]) => !dropped.includes(name) || name === 'q'));
  }

  function countOf({ route, query }: Called, length: number): Fields {
    const last = { always: 'v11', 'at first': 'v6.9', never: undefined, position: undefined } as const;
    const until = last[route.counts ?? 'never'];
    if (until === undefined || !since(until, generation)) return {};
    const before = since(generation, 'v9.3') ? 0 : Number(query.get('items_count') ?? 0);
    return { items_count: before + length };
  }

  function filtersOf({ route, query }: Called): URLSearchParams {
    const filters = new URLSearchParams();
    for (const name of route.filters ?? []) {
      const value = query.get(name);
      if (value === null) continue;
      const isStandards = name === 'type' && (route.path.includes('{') || route.path === '/tokens');
      const known = isStandards ? standardsIn(value) : name === 'sort' ? orderIn(value) : value;
      if (known !== '') filters.set(name, known);
    }
    return filters;
  }

  function standardsIn(value: string): string {
    const known = since(generation, 'v9.3') ? [...STANDARDS, 'ERC-404'] : STANDARDS;
    return value
      .split(',')
      .filter(one => known.includes(one))
      .join(',');
  }

  /** The order by holders had another name up to 7. Unknown orders are ignored. */
  function orderIn(value: string): string {
    const byHolders = since(generation, 'v8') ? 'holders_count' : 'holder_count';
    if (value === byHolders) return 'holders_count';
    return value === 'holders_count' ? '' : value;
  }

  /** 9.0 to 10.0 write repeated keys twice: the sent value and the current one. */
  function withStaleKeys(text: string, query: URLSearchParams): string {
    if (generation !== 'v9.3') return text;
    const stale = [...query].flatMap(([name, value]) =>
      text.includes(`"${name}":`) ? [`${toJson(name)}:${toJson(value)},`] : [],
    );
    return text.replace('"next_page_params":{', `"next_page_params":{${stale.join('')}`);
  }

  async function isUnknownAddress(hash: string): Promise<boolean> {
    const { body } = await ask('/search/check-redirect', new URLSearchParams({ q: hash }));
    return fieldsOf(body).redirect !== true;
  }

  async function ask(path: string, query: URLSearchParams) {
    const response = await fetch(`${serviceUrl}/explorer${path}?${query}`, { headers: PLAIN });
    return { status: response.status, body: parseJson(await response.text()) };
  }
}
