import type { Address } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insightsContract } from '#contract/contracts/insights.ts';
import { responseValidators } from '#contract/mount/response-validators.ts';
import { nftAnswers } from '#data/backends/own-index/insights/nft-transfers.ts';
import { type RemoteDocuments, remoteDocuments } from '#data/backends/own-index/source/remote-documents.ts';
import type { NftTransfersRequest } from '#data/backends/port/insights-backend.ts';
import { createLogger } from '#lib/logger.ts';
import { CHAIN_ID, type Deployed, startTestChain, type TestChain } from '../../indexer/support.ts';
import { type Behaviour, type ScriptedUpstream, startScriptedUpstream } from '../../lab/scripted-upstream.ts';
import { PATIENCE_MS, until } from '../../lab/until.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { type IndexedSource, indexed, lower, speakingToken } from './nft-support.ts';

const CID = 'QmRRPWG96cmgTn2qSzjwr2qvfNEuhunv6FNeMFGa9bx6mQ';
const DOCUMENT = {
  name: 'Harbour',
  description: 'A view.',
  image: `ipfs://${CID}/7.png`,
  video_url: 'https://assets.test/7.mp4',
  animation_url: 'javascript:alert(1)',
  background_color: 'ffcc00',
  external_url: 'https://example.org/7',
  attributes: [{ trait_type: 'Colour', value: 'Blue' }, 'loose', 7, null],
  properties: { series: 2 },
};

/** Replies of the hosts, by path. */
const FILES: Record<string, Behaviour> = {
  '/7.json': { json: DOCUMENT },
  [`/ipfs/${CID}/7`]: { json: { name: 'Out of ipfs' } },
  '/missing.json': { status: 404, json: { name: 'Not this' } },
  '/list.json': { json: ['name'] },
  '/page.html': { text: '<html></html>', type: 'text/html' },
  '/long.json': { endless: 'text' },
  '/moved.json': { status: 302, text: '', headers: { location: 'http://169.254.169.254/' } },
  '/slow.json': { json: { name: 'Slow' }, latencyMs: 3_500 },
};

let chain: TestChain;
let index: IndexedSource;
let hosts: ScriptedUpstream;
let remote: RemoteDocuments;
let clock: ManualClock;
let postcards: Deployed;
let items: Deployed;
let alice: Address;
let bob: Address;
const speaking = new Map<string, Address>();

beforeAll(async () => {
  hosts = await startScriptedUpstream(({ path }) => FILES[path] ?? { status: 404, text: '' });
  const { port } = new URL(hosts.url);
  const at = (path: string) => `http://files.test:${port}${path}`;
  chain = await startTestChain();
  alice = lower(chain.accounts.signer(1).address);
  bob = lower(chain.accounts.signer(2).address);
  postcards = await chain.deploy('Postcards', ['Postcards', 'CARD']);
  items = await chain.deploy('GameItems', ['Items', 'ITEM']);
  await chain.mine();
  for (const to of [alice, alice, bob]) await chain.send(0, postcards.call('mint', [to]));
  for (const to of [bob, alice]) await chain.send(0, items.call('mint', [to, 5n, 2n]));
  await chain.mine();
  await chain.send(1, postcards.call('transferFrom', [alice, bob, 1n]));
  await chain.send(2, postcards.call('burn', [3n]));
  await chain.mine();
  for (const [name, uri] of Object.entries({
    remote: at('/7.json'),
    ipfs: `ipfs://${CID}/7`,
    missing: at('/missing.json'),
    list: at('/list.json'),
    page: at('/page.html'),
    long: at('/long.json'),
    moved: at('/moved.json'),
    slow: at('/slow.json'),
    loopback: `http://127.0.0.2:${port}/7.json`,
    cloud: 'https://169.254.169.254/latest/meta-data',
    arweave: 'ar://abc/7',
    nothing: '',
    broken: 'data:application/json,{"name":',
  })) {
    speaking.set(name, await speakingToken(chain, { id: 7n, to: alice, uri }));
  }
  speaking.set(
    'numbered',
    await speakingToken(chain, { standard: 'ERC-1155', id: 500n, to: alice, uri: at('/{id}.json') }),
  );
  clock = manualClock();
  remote = remoteDocuments({
    ipfsGateway: `http://127.0.0.1:${port}`,
    clock,
    log: createLogger({ level: 'silent' }),
    rules: {
      allowHttp: true,
      allowedNetworks: ['127.0.0.1'],
      lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    },
  });
  index = await indexed(chain, { documents: remote.documents });
});

afterAll(async () => {
  await index.close();
  await remote.close();
  await chain.stop();
  await hosts[Symbol.asyncDispose]();
});

/** Metadata of the latest transfer, checked against the contract. */
async function metadata(
  contract: string,
  {
    id,
    source = index.source,
    ...query
  }: Partial<NftTransfersRequest['query']> & {
    id?: bigint;
    source?: IndexedSource['source'];
  } = {},
) {
  const answer = await nftAnswers(source).listNftTransfers?.(
    {
      path: { contract_address: contract, ...(id === undefined ? {} : { token_id: id.toString() }) },
      query: { limit: 20, page: 0, metadata: 'true', include_owners: 'false', ...query },
    },
    { chainIds: [CHAIN_ID], signal: AbortSignal.timeout(PATIENCE_MS) },
  );
  const validate = responseValidators(insightsContract.document)('listNftTransfers', 200);
  expect(validate?.({ data: answer }), JSON.stringify(validate?.errors)).toBe(true);
  return answer?.[0]?.nft_metadata;
}

const speaker = (name: string): string => speaking.get(name) ?? '';
const fetched = (path: string) => hosts.requests.filter(request => request.path === path).length;

test('an on-chain document is shown with its contract', async () => {
  const shown = await metadata(postcards.address, { id: 1n });

  expect(shown).toEqual({
    name: 'Postcard #1',
    description: 'A picture drawn by its own contract.',
    image_url: expect.stringMatching(/^data:image\/gif;base64,R0lG/),
    status: 'ok',
    extra_metadata: {
      attributes: [
        { trait_type: 'Palette', value: 'Noon' },
        { trait_type: 'Rings', display_type: 'number', value: 2 },
      ],
    },
    collection: { name: 'Postcards' },
    contract: {
      chain_id: CHAIN_ID,
      address: lower(postcards.address),
      name: 'Postcards',
      symbol: 'CARD',
      type: 'erc721',
    },
  });
});

test('an off-chain document is fetched, and fields outside the contract are left out', async () => {
  const shown = await metadata(speaker('remote'));

  expect(shown).toMatchObject({
    name: 'Harbour',
    description: 'A view.',
    image_url: expect.stringMatching(`^http://127\\.0\\.0\\.1:\\d+/ipfs/${CID}/7\\.png$`),
    video_url: 'https://assets.test/7.mp4',
    background_color: 'ffcc00',
    external_url: 'https://example.org/7',
    status: 'ok',
    metadata_url: expect.stringMatching(/^http:\/\/files\.test:\d+\/7\.json$/),
    extra_metadata: { attributes: [{ trait_type: 'Colour', value: 'Blue' }], properties: { series: 2 } },
  });
  expect(shown).not.toHaveProperty('animation_url');
});

test('an ipfs document comes from the gateway, and its links stay unresolved on request', async () => {
  const resolved = await metadata(speaker('ipfs'), { id: 7n });
  const asGiven = await metadata(speaker('ipfs'), { id: 7n, resolve_metadata_links: 'false' });

  expect(resolved?.name).toBe('Out of ipfs');
  expect(resolved?.metadata_url).toBe(`${hosts.url.replace('/api/v2', '')}/ipfs/${CID}/7`);
  expect(asGiven).toMatchObject({ name: 'Out of ipfs', metadata_url: `ipfs://${CID}/7` });
  expect((await metadata(speaker('remote'), { resolve_metadata_links: 'false' }))?.image_url).toBe(
    DOCUMENT.image,
  );
});

test.for([
  ['missing', 'unreachable'],
  ['list', 'invalid'],
  ['page', 'unreadable'],
  ['long', 'too_long'],
  ['moved', 'refused'],
  ['loopback', 'refused'],
  ['cloud', 'refused'],
  ['arweave', 'unsupported'],
  ['nothing', 'none'],
  ['broken', 'invalid'],
] as const)('an unavailable document has only a status: %s', async ([name, status]) => {
  const shown = await metadata(speaker(name));

  expect(shown?.status).toBe(status);
  expect(shown).not.toHaveProperty('name');
  expect(shown).not.toHaveProperty('extra_metadata');
  expect(shown?.contract?.address).toBe(speaker(name));
});

test('an ERC-1155 document is requested by its id in hexadecimal', async () => {
  await metadata(speaker('numbered'));

  expect(fetched(`/${(500).toString(16).padStart(64, '0')}.json`)).toBe(1);
});

test('a document is fetched once per day, and a failed one once per minute', async () => {
  await metadata(speaker('remote'));
  await metadata(speaker('missing'));
  const before = [fetched('/7.json'), fetched('/missing.json')];
  await metadata(speaker('remote'));
  await metadata(speaker('missing'));
  const soon = [fetched('/7.json'), fetched('/missing.json')];
  clock.advance(60_000);
  await metadata(speaker('remote'));
  await metadata(speaker('missing'));

  expect(soon).toEqual(before);
  expect([fetched('/7.json'), fetched('/missing.json')]).toEqual([before[0], (before[1] ?? 0) + 1]);
});

test('a slow host does not delay the answer, and its document is in the next one', async () => {
  const first = await metadata(speaker('slow'));
  const second = await until(
    () => metadata(speaker('slow')),
    shown => shown?.status !== 'pending',
  );

  expect(first?.status).toBe('pending');
  expect(second).toMatchObject({ status: 'ok', name: 'Slow' });
  expect(fetched('/slow.json')).toBe(1);
});

test('owners are the current ones', async () => {
  const owners = async (contract: string, id: bigint) =>
    (await metadata(contract, { id, include_owners: 'true' }))?.owner_addresses;

  expect(await owners(postcards.address, 1n)).toEqual([bob]);
  expect(await owners(postcards.address, 3n)).toEqual([]);
  expect(await owners(items.address, 5n)).toEqual([alice, bob].toSorted());
  expect(await metadata(postcards.address, { id: 1n })).not.toHaveProperty('owner_addresses');
});

test('without metadata there are no owners either', async () => {
  expect(await metadata(postcards.address, { metadata: 'false', include_owners: 'true' })).toBeUndefined();
});

test('an index that fetches nothing still shows on-chain documents', async () => {
  const { documents: _, ...source } = index.source;

  expect((await metadata(postcards.address, { id: 2n, source }))?.status).toBe('ok');
  expect((await metadata(speaker('remote'), { source }))?.status).toBe('unsupported');
});
