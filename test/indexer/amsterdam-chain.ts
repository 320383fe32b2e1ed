import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { createAnswerer, type IncomingCall } from '../../src/devnet/chain/edr/methods.ts';
import { openProvider } from '../../src/devnet/chain/edr/provider.ts';
import { loopbackPort } from '../lab/loopback-server.ts';
import { CHAIN_ID, type TestChain, testChainAt } from './support.ts';

/** Continues a chain of EDR behind its newest block with the rules of Amsterdam. It serves the blocks of both parts. */
export async function continuedOnAmsterdam(before: TestChain): Promise<TestChain> {
  const head = BigInt(Number(await before.rpc.call('eth_blockNumber')));
  const hardforkActivationOverrides = [
    { condition: { blockNumber: 0n }, hardfork: 'Prague' },
    { condition: { blockNumber: head + 1n }, hardfork: 'Amsterdam' },
  ];
  const provider = await openProvider(
    { chainId: CHAIN_ID, hardfork: 'amsterdam', genesisTime: 0 },
    {
      genesisState: [],
      // Transactions before the fork had no such limit.
      transactionGasCap: false,
      network: {
        url: before.rpcUrl,
        blockNumber: head,
        cacheDir: before.folder,
        chainOverrides: [{ chainId: BigInt(CHAIN_ID), name: 'crossing', hardforkActivationOverrides }],
      },
    },
  );
  const answer = await createAnswerer(provider);
  const server = createServer(async (request, response) => {
    const calls: IncomingCall | IncomingCall[] = JSON.parse(await text(request));
    const replies: string[] = [];
    for (const call of [calls].flat()) replies.push(await answer(call));
    const body = Array.isArray(calls) ? `[${replies.join(',')}]` : replies.join('');
    response.setHeader('content-type', 'application/json').end(body);
  });
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    await before.stop();
  };
  return testChainAt(`http://127.0.0.1:${await loopbackPort(server)}`, { folder: before.folder, stop });
}
