import { afterAll, expect, test } from 'vitest';
import { CHAIN_ID, servedTestChain } from '../../indexer/support.ts';
import { startTestDataService } from '../../lab/data-service.ts';
import { type Behaviour, startScriptedUpstream } from '../../lab/scripted-upstream.ts';
import { speakingToken } from '../insights/nft-support.ts';
import { startTokenChain } from '../token-chain.ts';
import { CID, PNG } from './picture-service.ts';

const FILES: Record<string, Behaviour> = {
  '/7.json': { json: { name: 'Harbour', image: `ipfs://${CID}/7.png` } },
  [`/ipfs/${CID}/7.png`]: { bytes: PNG, type: 'application/octet-stream' },
};

test('for an NFT in an index, the metadata is read from its host and the picture from the gateway', async () => {
  const { chain, alice } = await startTokenChain();
  const hosts = await startScriptedUpstream(({ url }) => FILES[url] ?? { status: 404, text: '' });
  afterAll(() => hosts[Symbol.asyncDispose]());
  const { port } = new URL(hosts.url);
  const token = await speakingToken(chain, { id: 7n, to: alice, uri: `http://127.0.0.1:${port}/7.json` });
  await using service = await startTestDataService([servedTestChain(chain.rpcUrl)], {
    ipfsGateway: `http://127.0.0.1:${port}`,
    linkedHosts: { allowHttp: true, allowedNetworks: ['127.0.0.1'] },
  });

  const response = await fetch(`${service.url}/chain/${CHAIN_ID}/token/${token}/instance/7/picture`);

  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('image/png');
  expect(Buffer.from(await response.arrayBuffer()).equals(PNG)).toBe(true);
  expect(hosts.requests.map(({ url }) => url)).toEqual(['/7.json', `/ipfs/${CID}/7.png`]);
});

test('the NFTs of the embedded chains have pictures of their own', async () => {
  const { chain, alice, postcards, items } = await startTokenChain();
  await chain.send(0, postcards.call('mint', [alice]));
  await chain.send(0, items.call('mint', [alice, 1n, 2n]));
  await chain.mine();
  await using service = await startTestDataService([servedTestChain(chain.rpcUrl)]);

  for (const { address } of [postcards, items]) {
    const response = await fetch(`${service.url}/chain/${CHAIN_ID}/token/${address}/instance/1/picture`);

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/gif');
  }
});
