import { once } from 'node:events';
import { createServer } from 'node:http';
import { fieldsOf, listOf } from '../../src/data/backends/upstream-json/fields.ts';
import { isObject, toJson } from '../../src/lib/json.ts';
import { parseJson } from '../../src/lib/json-text/lossless-json.ts';
import { loopbackPort } from './loopback-server.ts';
import { aggregationsWire } from './thirdweb/aggregations.ts';
import { BOUNDS, type ThirdwebGeneration } from './thirdweb/generation.ts';
import { ROUTES, type ThirdwebRoute } from './thirdweb/routes.ts';

export interface EmulatedThirdwebRequest {
  /** Below `/v1`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly status: number;
}

export interface ThirdwebEmulator extends AsyncDisposable {
  /** The base address: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  readonly requests: readonly EmulatedThirdwebRequest[];
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/**
 * Serves the Insight API of one generation for the chains of our data service, with the refusals and record formats of
 * that generation. It reports the rows of a page as the total.
 */
export async function startThirdwebEmulator({
  generation,
  serviceUrl,
}: {
  generation: ThirdwebGeneration;
  serviceUrl: string;
}): Promise<ThirdwebEmulator> {
  const requests: EmulatedThirdwebRequest[] = [];
  const bounds = BOUNDS[generation];

  const server = createServer(async (request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
    const path = pathname.replace(/^\/v1/, '');
    const { status, body } = await answer(path, query).catch((error: unknown) => refusal(500, String(error)));
    requests.push({ path, query, status });
    response.writeHead(status, { 'content-type': 'application/json' }).end(toJson(body));
  });
  const port = await loopbackPort(server);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function answer(path: string, query: URLSearchParams): Promise<Reply> {
    const route = ROUTES.find(({ pattern }) => pattern.test(path));
    if (route === undefined) return refusal(404, 'Not Found');
    const words = refusedParameter(route, query);
    if (words !== undefined) return refusal(400, words);
    const [, , signature] = route.pattern.exec(path) ?? [];
    // Upstream's parser accepts only names with parentheses, and dereferences nil for any other text.
    if (path.startsWith('/events/') && signature?.startsWith('0x'))
      return refusal(500, 'nil pointer dereference');
    return served(route, path, query);
  }

  function refusedParameter({ isTransfers }: ThirdwebRoute, query: URLSearchParams): string | undefined {
    const isGrouped = query.has('aggregate') || query.has('group_by');
    const most = isTransfers ? bounds.transfers : bounds.limit;
    const limit = Number(query.get('limit') ?? 1);
    if (query.getAll('chain_id').length > bounds.chains)
      return `at most ${bounds.chains} chains are supported`;
    if (limit < 1 || limit > most) return `limit: Number must be from 1 to ${most}`;
    const last = isGrouped ? bounds.groupedPage : bounds.page;
    if (Number(query.get('page') ?? 0) > last) return `page: Number must be less than or equal to ${last}`;
    if (query.getAll('symbol').length > 10) return 'symbol: Array must contain at most 10 element(s)';
    return query.get('timestamp') === '0' ? 'timestamp: Number must be greater than 0' : undefined;
  }

  async function served(
    { wire, narrowed, isOne }: ThirdwebRoute,
    path: string,
    query: URLSearchParams,
  ): Promise<Reply> {
    const target = narrowed === undefined ? String(query) : `${query}&${narrowed}`;
    const response = await fetch(`${serviceUrl}/insights/v1${path}?${target}`);
    const { status } = response;
    const body = parseJson(await response.text());
    if (status !== 200) return failed(status, body);
    if (!isObject(body) || wire === undefined) return { status, body };
    if (body.aggregations !== undefined) {
      const rows = listOf(body.aggregations);
      return { status, body: { aggregations: aggregationsWire(rows, generation), meta: meta(body, rows) } };
    }
    const asked = { generation, isDecoded: query.get('decode') === 'true' };
    if (isOne) return { status, body: { data: wire(fieldsOf(body.data), asked), meta: meta(body, []) } };
    const rows = listOf(body.data);
    const data = rows.map(row => wire(fieldsOf(row), asked));
    if (body.meta === undefined) return { status, body: { data } };
    return {
      status,
      body: { data: rows.length === 0 && generation === '2025-07' ? null : data, meta: meta(body, rows) },
    };
  }

  function meta(body: object, rows: readonly unknown[]) {
    const { chain_ids, page, limit_per_chain, address, signature } = fieldsOf(fieldsOf(body).meta);
    return {
      chain_ids,
      address,
      signature,
      page,
      limit_per_chain,
      total_items: rows.length,
      ...(generation === '2025-10' ? { total_pages: 0 } : {}),
    };
  }
}

/** A failure in upstream's format: ENS errors for names, and a parse error for an invalid expression. */
function failed(status: number, body: unknown): Reply {
  const words = String(isObject(body) ? body.error : '');
  if (words.includes('by the name')) return refusal(404, 'ENS name could not be resolved');
  if (/^chain_id|^Chain \d+ /.test(words)) return refusal(404, 'Chain is not supported');
  if (/^(aggregate|group_by)/.test(words)) return refusal(500, words);
  return refusal(status, words);
}

function refusal(status: number, error: string): Reply {
  return { status, body: { error } };
}
