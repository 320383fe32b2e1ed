import { type Address, decodeFunctionResult, erc721Abi, getContractAddress, type Hex, isHex } from 'viem';
import { expect, test } from 'vitest';
import { record, text } from '../lab/json.ts';
import { type Answer, client } from '../support/contract-client.ts';
import { talkingToken } from '../support/talking-token.ts';
import { serveTokenChain, startTokenChain } from './token-chain.ts';

const HIGHEST_ID = 2n ** 256n - 1n;

const SPOKEN = {
  plain: 'data:application/json,{"name":"Plain","image":"https://example.org/1.png"}',
  escaped: `data:application/json;utf8,${encodeURIComponent('{"name":"50% é","image_url":"ipfs://Qm/1"}')}`,
  unescaped: 'data:application/json;utf8,{"name":"100% off","animation_url":"ar://x/1.mp4"}',
  base64: `data:application/json;charset=utf-8;base64,${Buffer.from('{"name":"ü","external_url":"https://example.org/7"}').toString('base64')}`,
  bare: '{"name":"Bare","image":"data:image/svg+xml;base64,PHN2Zy8+"}',
  elsewhere: 'https://example.org/metadata/7.json',
  ipfs: 'ipfs://QmRRPWG96cmgTn2qSzjwr2qvfNEuhunv6FNeMFGa9bx6mQ/7',
  list: 'data:application/json,["name"]',
  broken: 'data:application/json,{"name":',
  deep: `data:application/json,{"name":${'['.repeat(3_000)}${']'.repeat(3_000)}}`,
  script: 'data:application/json,{"image":"javascript:alert(1)","external_url":"data:text/html,x"}',
  prototype: 'data:application/json,{"__proto__":{"polluted":true},"name":"Safe"}',
  nothing: '',
};
const talking = new Map<string, Address>();

const { chain, alice, bob, dollar, postcards, items } = await startTokenChain();
await chain.send(0, dollar.call('mint', [alice, 5n]));
for (const to of [alice, bob, alice]) await chain.send(0, postcards.call('mint', [to]));
for (const [to, id, amount] of [
  [alice, 1n, 1n],
  [alice, 2n, 5n],
  [alice, 3n, 1n],
  [bob, 3n, 1n],
  [alice, 4n, 1n],
  [bob, HIGHEST_ID, 1n],
] as const) {
  await chain.send(0, items.call('mint', [to, id, amount]));
}
await chain.mine();
await chain.send(1, postcards.call('burn', [3n]));
await chain.send(1, items.call('burn', [alice, 4n, 1n]));
for (const [name, uri] of Object.entries(SPOKEN)) talking.set(name, await speak('ERC-721', 7n, uri));
const numbered = await speak('ERC-1155', 500n, 'data:application/json,{"name":"{id}","again":"{id}"}');
await chain.mine();
const service = await serveTokenChain(chain);
const api = client(service.url);

/** Deploys a token that returns this text as its URI, and mints one to Alice. */
async function speak(standard: 'ERC-721' | 'ERC-1155', id: bigint, uri: string): Promise<Address> {
  const from = chain.accounts.signer(3).address;
  const nonce = BigInt(text(await chain.rpc.call('eth_getTransactionCount', from, 'pending')));
  const address = getContractAddress({ from, nonce });
  await chain.send(3, { data: talkingToken(standard, { id, to: alice, text: uri }) });
  await chain.mine();
  await chain.send(3, { to: address });
  return address;
}

function instance(token: Address, id: bigint | string): Promise<Answer> {
  return api.get(`/explorer/tokens/${token}/instances/${id}`);
}

async function ask(call: { to: Address; data: Hex }): Promise<Hex> {
  const result = await chain.rpc.call('eth_call', call, 'latest');
  if (!isHex(result)) throw new Error('not an answer');
  return result;
}

test('an ERC-721 instance has the owner and document from its contract', async () => {
  const owner = decodeFunctionResult({
    abi: erc721Abi,
    functionName: 'ownerOf',
    data: await ask(postcards.call('ownerOf', [2n])),
  });
  const uri = decodeFunctionResult({
    abi: erc721Abi,
    functionName: 'tokenURI',
    data: await ask(postcards.call('tokenURI', [2n])),
  });
  const document = record(JSON.parse(Buffer.from(uri.split(',')[1] ?? '', 'base64').toString()));

  const { status, body } = await instance(postcards.address, 2n);

  expect(status).toBe(200);
  expect(body).toMatchObject({
    is_unique: true,
    id: '2',
    holder_address_hash: owner,
    owner: { hash: owner, is_contract: false },
    image_url: document.image,
    metadata: document,
    token: { address: postcards.address, name: 'Postcards', symbol: 'POST', type: 'ERC-721', holders: '2' },
  });
  expect(owner).toBe(bob);
  expect(text(document.image)).toMatch(/^data:image\/gif;base64,R0lG/);
  expect(body).not.toHaveProperty('animation_url');
  expect(body).not.toHaveProperty('external_app_url');
});

test('an ERC-1155 id is unique and has an owner only if exactly one exists', async () => {
  const one = record((await instance(items.address, 1n)).body);
  const several = record((await instance(items.address, 2n)).body);
  const shared = record((await instance(items.address, 3n)).body);

  expect(one).toMatchObject({ is_unique: true, holder_address_hash: alice, owner: { hash: alice } });
  expect(several).toMatchObject({ is_unique: false, holder_address_hash: alice, owner: null });
  expect(shared).toMatchObject({ is_unique: false, owner: null });
  expect(shared).not.toHaveProperty('holder_address_hash');
  expect(shared.metadata).toMatchObject({ name: 'Item 3' });
});

test('ids go up to the highest 256-bit integer, and a larger one is a 400', async () => {
  const highest = await instance(items.address, HIGHEST_ID);

  expect(highest.status).toBe(200);
  expect(highest.body).toMatchObject({ id: HIGHEST_ID.toString(), owner: { hash: bob } });
  expect((await instance(items.address, HIGHEST_ID + 1n)).status).toBe(400);
  expect((await instance(items.address, '1'.repeat(79))).status).toBe(400);
  expect((await instance(items.address, '1'.repeat(77))).status).toBe(404);
});

test('an id that was never minted or is burnt is a 404, and so is one of a non-NFT or a missing contract', async () => {
  for (const [token, id] of [
    [postcards.address, 99n],
    [postcards.address, 3n],
    [items.address, 4n],
    [items.address, 99n],
    [dollar.address, 1n],
    [alice, 1n],
    [`0x${'77'.repeat(20)}`, 1n],
  ] as const) {
    expect((await instance(token, id)).status, `${token}/${id}`).toBe(404);
  }
});

test('an id minted without an event is known from its contract', async () => {
  const token = talking.get('plain') ?? alice;

  const { status, body } = await instance(token, 8n);

  // This contract answers 32 to every call, so its owner is 32, too.
  expect(status).toBe(200);
  expect(body).toMatchObject({ id: '8', is_unique: true, owner: { hash: `0x${'20'.padStart(40, '0')}` } });
});

test.for([
  ['plain', { metadata: { name: 'Plain' }, image_url: 'https://example.org/1.png' }],
  ['escaped', { metadata: { name: '50% é' }, image_url: 'ipfs://Qm/1' }],
  ['unescaped', { metadata: { name: '100% off' }, animation_url: 'ar://x/1.mp4' }],
  ['base64', { metadata: { name: 'ü' }, external_app_url: 'https://example.org/7' }],
  ['bare', { metadata: { name: 'Bare' }, image_url: 'data:image/svg+xml;base64,PHN2Zy8+' }],
  ['prototype', { metadata: { name: 'Safe' } }],
] as const)('a document inside the URI is read: %s', async ([form, expected]) => {
  const { status, body } = await instance(talking.get(form) ?? alice, 7n);

  expect(status).toBe(200);
  expect(body).toMatchObject({ id: '7', ...expected });
});

test.for(['elsewhere', 'ipfs', 'list', 'broken', 'deep', 'nothing'])(
  'an invalid document inside the URI is left out, and nothing is fetched: %s',
  async form => {
    const { status, body } = await instance(talking.get(form) ?? alice, 7n);

    expect(status).toBe(200);
    for (const name of ['metadata', 'image_url', 'animation_url', 'external_app_url']) {
      expect(body).not.toHaveProperty(name);
    }
  },
);

test('links that could run a script appear only in the document', async () => {
  const { body } = await instance(talking.get('script') ?? alice, 7n);

  expect(body).toMatchObject({ metadata: { image: 'javascript:alert(1)' } });
  expect(body).not.toHaveProperty('image_url');
  expect(body).not.toHaveProperty('external_app_url');
});

test('an ERC-1155 URI contains the id as 64 hex digits', async () => {
  const { body } = await instance(numbered, 500n);

  const id = (500).toString(16).padStart(64, '0');
  expect(body).toMatchObject({ id: '500', metadata: { name: id, again: id } });
});
