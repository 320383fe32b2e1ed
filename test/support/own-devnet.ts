import { test as base } from 'vitest';
import { httpRpc, type Rpc } from '../../src/devnet/chain/rpc.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { type ChainView, viewChain } from '../devnet/chain-view.ts';
import { startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { startTestDevnet } from '../lab/devnet.ts';
import { type Client, client } from './contract-client.ts';

/** Makes a `test` with a filled chain and its data service for one file only, so its tests may change the chain. */
export function testOnOwnDevnet(blocks: number) {
  return (
    base
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
      .extend('chain', { scope: 'file' }, async ({}, { onCleanup }): Promise<EmbeddedChain> => {
        const devnet = await startTestDevnet({ blocks });
        onCleanup(devnet.stop);
        const [chain] = devnet.chains;
        if (chain === undefined) throw new Error('the devnet has no chain');
        return chain;
      })
      .extend('service', { scope: 'file' }, async ({ chain }, { onCleanup }): Promise<TestDataService> => {
        const service = await startTestDataService([chain]);
        onCleanup(service.close);
        return service;
      })
      .extend('api', { scope: 'file' }, ({ service }): Client => client(service.url))
      .extend('rpc', { scope: 'file' }, ({ chain }): Rpc => httpRpc(chain.rpcUrl))
      /** The chain as read from its node. */
      .extend('view', { scope: 'file' }, ({ chain }): Promise<ChainView> => viewChain(chain))
  );
}
