import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { dataServiceOptions } from '#data/from-config.ts';
import { openChain, type Resources } from '#data/open-chain.ts';
import { createMetrics } from '#http/metrics.ts';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { startScriptedUpstream } from '../../lab/scripted-upstream.ts';
import { about, queryFor } from './opened-thirdweb.ts';

const options = {
  fallback: { timeoutMs: 1000 },
  metrics: createMetrics(),
  clock: systemClock,
  log: createLogger({ level: 'silent' }),
};
const chain = (id: number, url: string, clientId?: string) => ({
  id,
  name: `Chain ${id}`,
  native: { symbol: 'ETH', decimals: 18 },
  confirmations: 12,
  rpcUrls: [],
  abis: [],
  backends: [{ kind: 'insight', url, clientId }] as const,
});

test('chains with the same address and client id share one upstream, which receives the id as a header', async () => {
  await using service = await startScriptedUpstream(() => ({ json: { data: [] } }));
  const resources: Resources = { indexes: [], filled: [], upstreams: [], shared: new Map() };

  const [first, second, other] = await Promise.all([
    openChain(chain(1, service.url, 'a-client-id'), options, resources),
    openChain(chain(10, service.url, 'a-client-id'), options, resources),
    openChain(chain(56, service.url), options, resources),
  ]);
  const backends = [first, second, other].flatMap(opened => opened?.backends ?? []);
  for (const { insights } of backends) await insights?.records?.(queryFor('blocks'), about(1));
  await Promise.all(resources.upstreams.map(upstream => upstream.close()));

  expect(backends.map(({ kind, name }) => [kind, name])).toEqual([
    ['insight', 'insight-1'],
    ['insight', 'insight-10'],
    ['insight', 'insight-56'],
  ]);
  expect(backends[0]?.sharedAs).toBe(backends[1]?.sharedAs);
  expect(backends[2]?.sharedAs).not.toBe(backends[0]?.sharedAs);
  expect(resources.upstreams).toHaveLength(2);
  expect(service.requests.map(({ headers }) => headers['x-client-id'])).toEqual([
    'a-client-id',
    'a-client-id',
    undefined,
  ]);
  expect(service.requests.every(({ url }) => !url.includes('a-client-id'))).toBe(true);
});

test('a thirdweb back end is created from the configuration', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-insight-'));
  const file = join(folder, 'tollgate.json');
  const configured = {
    id: 1,
    name: 'Ethereum',
    native: { symbol: 'ETH', decimals: 18 },
    rpc: ['http://127.0.0.1:1'],
    backends: [{ kind: 'insight', url: 'https://insight.example.com/v1', clientId: 'a-client-id' }],
  };
  await writeFile(file, JSON.stringify({ chains: [configured] }));

  const { chains } = dataServiceOptions(loadConfig({ env: {}, argv: ['--config', file] }), []);
  await rm(folder, { recursive: true });

  expect(chains[0]?.backends).toEqual([
    { kind: 'insight', url: 'https://insight.example.com/v1', clientId: 'a-client-id' },
  ]);
});
