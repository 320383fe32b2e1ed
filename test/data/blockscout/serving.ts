import type { DataServiceOptions } from '#data/service.ts';
import { createMetrics } from '#http/metrics.ts';
import { createLogger } from '#lib/logger.ts';
import { blockscoutChain, startTestDataService } from '../../lab/data-service.ts';
import { record } from '../../lab/json.ts';
import { type Behaviour, type SeenRequest, startScriptedUpstream } from '../../lab/scripted-upstream.ts';

/** Upstream's own 404. */
export const MISSING: Behaviour = { json: { message: 'Not found' }, status: 404 };

/** A service over one scripted Blockscout. */
export interface Served extends AsyncDisposable {
  readonly requests: readonly SeenRequest[];
  /** Sends a GET below `/explorer`; a bare list is returned as `items`. */
  get(
    path: string,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Log lines at level warn and above. */
  warnings(): Record<string, unknown>[];
  /** Text of the metrics. */
  metrics(): Promise<string>;
}

/** `base` is appended to the upstream's configured address, and `apiKey` goes with every request. */
export async function serving(
  respond: (request: SeenRequest) => Behaviour,
  { base = '', apiKey, ...overrides }: { base?: string; apiKey?: string } & Partial<DataServiceOptions> = {},
): Promise<Served> {
  const stack = new AsyncDisposableStack();
  const written: string[] = [];
  const metrics = createMetrics();
  const upstream = stack.use(await startScriptedUpstream(respond));
  const service = stack.use(
    await startTestDataService([], {
      chains: [blockscoutChain(1, `${upstream.url}${base}`, apiKey)],
      log: createLogger({ level: 'warn', destination: { write: line => written.push(line) } }),
      metrics,
      ...overrides,
    }),
  );
  return {
    requests: upstream.requests,
    async get(path, headers = {}) {
      const response = await fetch(`${service.url}/explorer${path}`, { headers });
      const body: unknown = await response.json();
      return { status: response.status, body: Array.isArray(body) ? { items: body } : record(body) };
    },
    warnings: () => written.map(line => record(JSON.parse(line))),
    metrics: () => metrics.registry.metrics(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
