import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Address, labelhash, namehash } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NameBook, nameBook, resolveAddress } from '#data/backends/own-index/source/names.ts';
import { asBackendError, isOfKind } from '#data/backends/port/backend-error.ts';
import type { ChainIndex } from '#indexer/index-service.ts';
import { type NameQuestion, resolveName } from '#node/names/resolve-name.ts';
import {
  clientOf,
  type Deployed,
  openTestIndex,
  startTestChain,
  type TestChain,
} from '../../indexer/support.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { lower } from './prices-support.ts';

const ROOT = `0x${'00'.repeat(32)}` as const;

let chain: TestChain;
let index: ChainIndex;
let registry: Deployed;
let resolver: Deployed;
let owner: Address;
let alice: Address;
let clock: ManualClock;
let names: NameBook;
/** The revision of the index as the name book sees it. */
let revision = '1';

beforeAll(async () => {
  chain = await startTestChain();
  owner = chain.accounts.signer(0).address;
  alice = chain.accounts.signer(3).address;
  registry = await chain.deploy('NameRegistry', []);
  resolver = await chain.deploy('NameResolver', [registry.address]);
  await register(ROOT, 'eth');
  await register(namehash('eth'), 'alice');
  await register(namehash('eth'), 'faß');
  await register(namehash('eth'), 'empty');
  await register(namehash('eth'), 'broken');
  for (const name of ['alice.eth', 'faß.eth']) await point(name, resolver.address, alice);
  await point('empty.eth', resolver.address);
  // A resolver that is the registry itself, which has no addresses.
  await point('broken.eth', registry.address);
  await chain.mine();
  index = await openTestIndex({ file: join(chain.folder, 'index.sqlite'), client: chain.client });
  clock = manualClock();
  names = nameBook({ reader: index.reader, registry: registry.address, revision: () => revision, clock });
});

afterAll(async () => {
  await index.stop();
  await chain.stop();
});

test('an address in any letter case resolves to itself in lower case, with or without a registry', async () => {
  const text = `0x${alice.slice(2).toUpperCase()}`;

  expect(await resolveAddress({ names }, text)).toBe(lower(alice));
  expect(await resolveAddress({}, alice)).toBe(lower(alice));
});

test('a name resolves to its resolver’s address, in any spelling', async () => {
  expect(await resolveAddress({ names }, 'alice.eth')).toBe(lower(alice));
  expect(await resolveAddress({ names }, 'ALICE.eth')).toBe(lower(alice));
  expect(await resolveAddress({ names }, 'Faß.eth')).toBe(lower(alice));
});

test.each([
  'bob.eth',
  'sub.alice.eth',
  'empty.eth',
  'broken.eth',
  'eth.alice',
  'a..eth',
  'under_score.eth',
  'x\u0000y.eth',
])('a name without an address is unknown: %s', async name => {
  const error = await resolveAddress({ names }, name).catch((thrown: unknown) => thrown);

  expect(isOfKind(error, 'not_found') && error.reason).toBe('unknown_name');
});

test('without a registry every name is unknown', async () => {
  await expect(resolveAddress({}, 'alice.eth')).rejects.toMatchObject({ reason: 'unknown_name' });
  const elsewhere = nameBook({ reader: index.reader, registry: alice, revision: () => revision, clock });
  await expect(resolveAddress({ names: elsewhere }, 'alice.eth')).rejects.toMatchObject({
    reason: 'unknown_name',
  });
});

test('without a new block a name is looked up once per minute', async () => {
  const before = await resolveAddress({ names }, 'alice.eth');
  await point('alice.eth', resolver.address, owner);
  await chain.mine();

  clock.advance(59_000);
  expect(await resolveAddress({ names }, 'alice.eth')).toBe(before);
  clock.advance(2_000);
  expect(await resolveAddress({ names }, 'alice.eth')).toBe(lower(owner));
});

test('after a new block a name is looked up again, because answers are cached per block', async () => {
  await point('alice.eth', resolver.address, owner);
  await chain.mine();
  revision = '2';
  expect(await resolveAddress({ names }, 'alice.eth')).toBe(lower(owner));
  await point('alice.eth', resolver.address, alice);
  await chain.mine();

  expect(await resolveAddress({ names }, 'alice.eth')).toBe(lower(owner));
  revision = '3';
  expect(await resolveAddress({ names }, 'alice.eth')).toBe(lower(alice));
});

test('an unreachable node is an outage, not an unknown name, and is not cached', async () => {
  let isReachable = false;
  const server = createServer(async (request, response) => {
    if (!isReachable) return request.socket.destroy();
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(chain.rpcUrl, { method: 'POST', headers, body: await text(request) });
    return response.setHeader('content-type', 'application/json').end(await reply.text());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const client = clientOf(`http://127.0.0.1:${port}`);
  const reader = { resolveName: (question: NameQuestion) => resolveName(client, question) };
  const book = nameBook({ reader, registry: registry.address, revision: () => revision, clock });

  const refused = await resolveAddress({ names: book }, 'faß.eth').catch((thrown: unknown) => thrown);
  isReachable = true;
  const found = await resolveAddress({ names: book }, 'faß.eth');
  server.closeAllConnections();
  server.close();

  expect(asBackendError(refused).kind).toBe('unavailable');
  expect(found).toBe(lower(alice));
});

async function register(parent: `0x${string}`, label: string): Promise<void> {
  await chain.send(0, registry.call('setSubnodeOwner', [parent, labelhash(label), owner]));
}

/** Sets the resolver of a name, and its address. */
async function point(name: string, to: Address, address?: Address): Promise<void> {
  const node = namehash(name);
  await chain.send(0, registry.call('setResolver', [node, to]));
  if (address !== undefined) await chain.send(0, resolver.call('setAddr', [node, address]));
}
