import { expect, onTestFinished, test } from 'vitest';
import {
  type OpenChainOptions,
  openChain,
  type Resources,
  type ServedChain,
} from '../../src/data/open-chain.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { blockscoutChain, startTestDataService } from '../lab/data-service.ts';
import { startOwnRedis } from '../lab/redis.ts';
import { startScriptedUpstream } from '../lab/scripted-upstream.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { client } from '../support/contract-client.ts';
import { LIFETIMES } from './answer-support.ts';
import { has, hasFirst, KEY } from './http-failures-support.ts';

const [USER, PASSWORD] = ['an-operator', 'a-password'];
const HTTP_CHAIN = blockscoutChain(1, 'https://one.example/api/v2', KEY);
const [FIRST] = HTTP_CHAIN.backends;
const SECOND = { kind: 'blockscout', url: 'https://two.example/api/v2', apiKey: undefined } as const;
const TWO_BACK_ENDS = { ...HTTP_CHAIN, backends: [...HTTP_CHAIN.backends, SECOND] };
const [FACTORY, TOKEN] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`] as const;

test('in a shared Redis, services share answers only if their back ends for the chain are equal', async () => {
  await using redis = await startOwnRedis();
  await using first = await startScriptedUpstream(hasFirst);
  await using second = await startScriptedUpstream(has);
  const block = async (url: string) => {
    await using service = await startTestDataService([], {
      chains: [blockscoutChain(1, url, KEY)],
      cache: {
        maxBytes: 1_000_000,
        lifetimes: LIFETIMES,
        store: { kind: 'redis', url: redis.url },
        timeoutMs: PATIENCE_MS,
      },
    });
    const { headers, body } = await client(service.url).get('/explorer/blocks/5');
    return { cache: headers.get('x-cache'), body };
  };

  const kept = await block(first.url);
  const other = await block(second.url);
  const same = await block(first.url);

  expect([kept, other, same].map(({ cache }) => cache)).toEqual(['MISS', 'MISS', 'HIT']);
  expect(other.body).not.toEqual(kept.body);
  expect(same.body).toEqual(kept.body);
});

test.each<[string, ServedChain, Partial<OpenChainOptions>?]>([
  ['the address of a back end', { ...HTTP_CHAIN, backends: [SECOND] }],
  ['a further back end', TWO_BACK_ENDS],
  [
    'the kind of a back end',
    { ...HTTP_CHAIN, backends: [{ kind: 'insight', url: urlOf(FIRST), clientId: undefined }] },
  ],
  ['the symbol of the coin', { ...HTTP_CHAIN, native: { symbol: 'POL', decimals: 18 } }],
  ['the decimals of the coin', { ...HTTP_CHAIN, native: { symbol: 'ETH', decimals: 6 } }],
  ['the confirmations', { ...HTTP_CHAIN, confirmations: 13 }],
  ['the ABIs', { ...HTTP_CHAIN, abis: [{ name: 'Vault', abi: [] }] }],
  ['the prices', { ...HTTP_CHAIN, prices: { factory: FACTORY, usdToken: TOKEN } }],
  ['the names', { ...HTTP_CHAIN, names: { registry: FACTORY } }],
  ['the gateway of IPFS', HTTP_CHAIN, { ipfsGateway: 'https://gateway.example' }],
])('a chain that differs in %s has separate answers', async (_, chain, options) => {
  expect(await keyOf(chain, options)).not.toBe(await keyOf(HTTP_CHAIN));
});

test('another order of back ends has separate answers', async () => {
  const turned = { ...TWO_BACK_ENDS, backends: TWO_BACK_ENDS.backends.toReversed() };

  expect(await keyOf(turned)).not.toBe(await keyOf(TWO_BACK_ENDS));
});

test('replicas with different keys, passwords and nodes share a chain’s answers', async () => {
  const { host } = new URL(urlOf(FIRST));
  const url = urlOf(FIRST).replace(host, `${USER}:${PASSWORD}@${host}`);
  const replica = { ...blockscoutChain(1, url, 'another-key'), rpcUrls: ['http://127.0.0.1:1'] };

  expect(await keyOf(replica, { fallback: { timeoutMs: 5 } })).toBe(await keyOf(HTTP_CHAIN));
});

test('the name of a chain in a shared store reveals nothing about its back ends', async () => {
  expect(await keyOf(TWO_BACK_ENDS)).toMatch(/^1\.[\w-]{16}$/);
});

function urlOf(backend: ServedChain['backends'][number] | undefined): string {
  if (backend === undefined || backend.kind === 'index') throw new Error('it has no address');
  return backend.url;
}

async function keyOf(chain: ServedChain, options: Partial<OpenChainOptions> = {}): Promise<string> {
  const resources: Resources = { indexes: [], filled: [], upstreams: [], shared: new Map() };
  onTestFinished(async () => {
    await Promise.all(resources.upstreams.map(upstream => upstream.close()));
  });
  const defaults = { fallback: { timeoutMs: 1_000 }, metrics: createMetrics(), clock: systemClock };
  const { key } = await openChain(chain, { ...defaults, log: silentLogger(), ...options }, resources);
  return key;
}
