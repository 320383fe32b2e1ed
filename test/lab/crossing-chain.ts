import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createAnswerer, type IncomingCall } from '../../src/devnet/chain/edr/methods.ts';
import { openProvider } from '../../src/devnet/chain/edr/provider.ts';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import { loopbackPort } from './loopback-server.ts';

/** A node of a chain that continues another one. `await using` ends it, and not the other one. */
export interface ContinuedChain extends AsyncDisposable {
  readonly rpcUrl: string;
}

/** Continues a chain of EDR behind its newest block with the rules of Amsterdam. It serves the blocks of both parts. */
export async function continuedOnAmsterdam({
  rpcUrl,
  chainId,
}: {
  readonly rpcUrl: string;
  readonly chainId: number;
}): Promise<ContinuedChain> {
  const cacheDir = await mkdtemp(join(tmpdir(), 'crossing-chain-'));
  const head = BigInt(Number(await httpRpc(rpcUrl).call('eth_blockNumber')));
  const hardforkActivationOverrides = [
    { condition: { blockNumber: 0n }, hardfork: 'Prague' },
    { condition: { blockNumber: head + 1n }, hardfork: 'Amsterdam' },
  ];
  const provider = await openProvider(
    { chainId, hardfork: 'amsterdam', genesisTime: 0 },
    {
      genesisState: [],
      // Transactions before the fork had no such limit.
      transactionGasCap: false,
      network: {
        url: rpcUrl,
        blockNumber: head,
        cacheDir,
        chainOverrides: [{ chainId: BigInt(chainId), name: 'crossing', hardforkActivationOverrides }],
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
  return {
    rpcUrl: `http://127.0.0.1:${await loopbackPort(server)}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await rm(cacheDir, { recursive: true, force: true });
    },
  };
}
