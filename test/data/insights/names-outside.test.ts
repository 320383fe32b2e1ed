import { readFileSync } from 'node:fs';
import {
  type Abi,
  type Address,
  encodeAbiParameters,
  encodeDeployData,
  getContractAddress,
  type Hex,
  labelhash,
  namehash,
} from 'viem';
import { test as base, expect } from 'vitest';
import type { DataServiceOptions } from '#data/service.ts';
import {
  CHAIN_ID,
  type Deployed,
  servedTestChain,
  startTestChain,
  type TestChain,
} from '../../indexer/support.ts';
import { servedChain, startTestDataService } from '../../lab/data-service.ts';
import { record, text } from '../../lab/json.ts';
import { type Behaviour, type ScriptedUpstream, startScriptedUpstream } from '../../lab/scripted-upstream.ts';

const ROOT = `0x${'00'.repeat(32)}` as const;
const LOOPBACK = { allowHttp: true, allowedNetworks: ['127.0.0.1'] };
/** Of no account of the chain. */
const ALICE: Address = `0x${'a1'.repeat(20)}`;
const ANSWER = { json: { data: encodeAbiParameters([{ type: 'address' }], [ALICE]) } };

/** A chain whose names have resolvers that ask a gateway. */
interface NamedChain {
  readonly chain: TestChain;
  readonly registry: Deployed;
  readonly gateway: ScriptedUpstream;
  /** Answers of the gateway from now on. Returns the requests since then, as method, path and body. */
  answers(respond: Behaviour | ((path: string) => Behaviour)): () => readonly string[];
}

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of used fixtures from the pattern.
  .extend('named', { scope: 'file' }, async ({}, { onCleanup }): Promise<NamedChain> => {
    let respond: (path: string) => Behaviour = () => ANSWER;
    const seen: string[] = [];
    const gateway = await startScriptedUpstream(({ method, path }) => {
      seen.push(`${method} ${path}`);
      return respond(path);
    });
    const chain = await startTestChain();
    onCleanup(async () => {
      await gateway[Symbol.asyncDispose]();
      await chain.stop();
    });
    const registry = await chain.deploy('NameRegistry', []);
    await chain.mine();
    const named: NamedChain = {
      chain,
      registry,
      gateway,
      answers(next) {
        respond = typeof next === 'function' ? next : () => next;
        const from = seen.length;
        return () => seen.slice(from);
      },
    };
    await register(named, ROOT, 'eth');
    for (const [label, { paths, isWildcard = false }] of Object.entries(NAMES)) {
      await register(named, namehash('eth'), label);
      const resolver = await deployResolver(
        named,
        paths.map(path => gateway.url + path),
        isWildcard,
      );
      const data = registry.call('setResolver', [namehash(`${label}.eth`), resolver]);
      await chain.send(0, data);
    }
    await chain.mine();
    return named;
  })
  .extend('service', { scope: 'file' }, async ({ named }, { onCleanup }) => {
    const service = await served(named, { readsGateways: true }, { linkedHosts: LOOPBACK });
    onCleanup(service.close);
    return service;
  })
  .extend('resolve', ({ service }) => service.read)
  /** Mines a block, after which names are looked up again. */
  .extend('newBlock', ({ named, service }) => async () => {
    await named.chain.mine();
    await service.catchUp();
  });

/** Names below `eth` by their label, with the URLs of their resolver. */
const NAMES: Readonly<Record<string, { readonly paths: readonly string[]; readonly isWildcard?: boolean }>> =
  {
    get: { paths: ['/get/{sender}/{data}.json'] },
    post: { paths: ['/post/{sender}'] },
    several: { paths: ['/first/{data}', '/second/{data}'] },
    many: { paths: ['/1/{data}', '/2/{data}', '/3/{data}', '/4/{data}', '/5/{data}'] },
    parent: { paths: ['/parent/{data}'], isWildcard: true },
  };

test('a name whose address is at a gateway resolves by GET, or by POST if the URL has no data', async ({
  named,
  resolve,
}) => {
  const requests = named.answers(ANSWER);

  expect([await resolve('get.eth'), await resolve('post.eth')]).toEqual([ALICE, ALICE]);
  expect(requests()).toEqual([
    expect.stringMatching(/^GET \/get\/0x[0-9a-f]{40}\/0x3b3b57de[0-9a-f]{64}\.json$/),
    expect.stringMatching(/^POST \/post\/0x[0-9a-f]{40}$/),
  ]);
});

test('a name below one whose resolver is for all of them resolves, and one below another does not', async ({
  named,
  resolve,
}) => {
  const requests = named.answers(ANSWER);

  expect([await resolve('a.b.parent.eth'), await resolve('parent.eth')]).toEqual([ALICE, ALICE]);
  expect(await resolve('a.get.eth')).toBe('unknown');
  expect(requests()).toHaveLength(2);
});

test('after an outage of a gateway the next one is asked, and after a refusal none', async ({
  named,
  newBlock,
  resolve,
}) => {
  const outage = named.answers(path => (path.startsWith('/first') ? { status: 503, json: {} } : ANSWER));
  const found = await resolve('several.eth');
  const afterOutage = outage();
  await newBlock();
  const refusal = named.answers({ status: 404, json: {} });
  const refused = await resolve('several.eth');

  expect([found, refused]).toEqual([ALICE, 'unknown']);
  expect(afterOutage).toHaveLength(2);
  expect(refusal()).toEqual([expect.stringContaining('/first')]);
});

test('a resolver that asks again after each answer gets four', async ({ named, newBlock, resolve }) => {
  await newBlock();
  const requests = named.answers({ json: { data: '0x' } });

  expect(await resolve('get.eth')).toBe('unknown');
  expect(requests()).toHaveLength(4);
});

test('four URLs are tried', async ({ named, resolve }) => {
  const requests = named.answers({ status: 500, json: {} });

  expect(await resolve('many.eth')).toBe('unknown');
  expect(requests().map(request => request.slice(0, 6))).toEqual(['GET /1', 'GET /2', 'GET /3', 'GET /4']);
});

test.for<[string, Behaviour]>([
  ['is too long', { json: { data: `0x${'00'.repeat(200_000)}` } }],
  [
    'has very many keys',
    { json: { data: '0x', ...Object.fromEntries(Array.from({ length: 200 }, (_, key) => [key, 0])) } },
  ],
  ['is no hex', { json: { data: 'alice' } }],
  ['is no JSON', { bytes: Buffer.from('<html>') }],
  ['redirects to another host', { status: 302, headers: { location: 'http://127.0.0.2:1/' }, json: {} }],
])('a name whose answer %s is unknown', async ([, answer], { named, newBlock, resolve }) => {
  await newBlock();
  const requests = named.answers(answer);

  expect(await resolve('post.eth')).toBe('unknown');
  expect(requests()).toHaveLength(1);
});

test.for<[string, boolean, Partial<DataServiceOptions>]>([
  ['no gateway is asked unless the chain allows it', false, { linkedHosts: LOOPBACK }],
  ['a gateway of a private network is not asked', true, { linkedHosts: { allowHttp: true } }],
])('%s', async ([, readsGateways, overrides], { named }) => {
  const requests = named.answers(ANSWER);
  await using service = await served(named, { readsGateways }, overrides);

  expect([await service.read('get.eth'), await service.read('parent.eth')]).toEqual(['unknown', 'unknown']);
  expect(requests()).toEqual([]);
});

/** Serves the chain. `read` returns the address of a name in lower case, or `unknown`. */
async function served(
  { chain, registry }: NamedChain,
  names: { readonly readsGateways: boolean },
  overrides: Partial<DataServiceOptions>,
) {
  const folder = `${chain.folder}/${names.readsGateways}-${Object.keys(overrides).length}`;
  const one = {
    ...servedChain(servedTestChain(chain.rpcUrl), folder),
    names: { registry: registry.address, ...names },
  };
  const service = await startTestDataService([], { chains: [one], rateLimitPerMinute: 1e9, ...overrides });
  return {
    close: service.close,
    catchUp: service.catchUp,
    [Symbol.asyncDispose]: service.close,
    async read(name: string): Promise<string> {
      const answer = await fetch(`${service.url}/insights/v1/resolve/${name}?chain_id=${CHAIN_ID}`);
      const { data } = record(await answer.json());
      const found = record(data);
      return found.type === 'unknown' ? 'unknown' : text(found.address).toLowerCase();
    },
  };
}

async function register({ chain, registry }: NamedChain, parent: Hex, label: string): Promise<void> {
  const owner = chain.accounts.signer(0).address;
  await chain.send(0, registry.call('setSubnodeOwner', [parent, labelhash(label), owner]));
}

async function deployResolver(
  { chain }: NamedChain,
  urls: readonly string[],
  isWildcard: boolean,
): Promise<Address> {
  const file = new URL('../../../generated/hostile/GatewayResolver.json', import.meta.url);
  const { abi, bytecode }: { abi: Abi; bytecode: Hex } = JSON.parse(readFileSync(file, 'utf8'));
  const from = chain.accounts.signer(0).address;
  const nonce = BigInt(text(await chain.rpc.call('eth_getTransactionCount', from, 'pending')));
  await chain.send(0, { data: encodeDeployData({ abi, bytecode, args: [urls, isWildcard] }) });
  return getContractAddress({ from, nonce });
}
