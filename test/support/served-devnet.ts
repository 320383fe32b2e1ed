import { test as base } from 'vitest';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { type ChainView, viewChain } from '../devnet/chain-view.ts';
import { startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { startTestDevnet, type TestDevnet } from '../lab/devnet.ts';
import { type Client, client } from './contract-client.ts';

/**
 * `test` with a filled devnet of two chains and its data services, shared by all files of a worker. For tests that only
 * read: a test that changes a chain or counts requests starts its own.
 */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('devnet', { scope: 'worker' }, async ({}, { onCleanup }): Promise<TestDevnet> => {
    const devnet = await startTestDevnet({ chains: 2 });
    onCleanup(devnet.stop);
    return devnet;
  })
  .extend('chain', { scope: 'worker' }, ({ devnet }): EmbeddedChain => {
    const [first] = devnet.chains;
    if (first === undefined) throw new Error('the devnet has no chain');
    return first;
  })
  /** The chains as read from their nodes, the first chain first. */
  .extend(
    'views',
    { scope: 'worker' },
    ({ devnet }): Promise<ChainView[]> => Promise.all(devnet.chains.map(viewChain)),
  )
  .extend('view', { scope: 'worker' }, async ({ chain }): Promise<ChainView> => viewChain(chain))
  /** Serves the first chain. */
  .extend('service', { scope: 'worker' }, async ({ chain }, { onCleanup }): Promise<TestDataService> => {
    const service = await startTestDataService([chain], UNLIMITED);
    onCleanup(service.close);
    return service;
  })
  /** Serves both chains. */
  .extend(
    'serviceOfBoth',
    { scope: 'worker' },
    async ({ devnet }, { onCleanup }): Promise<TestDataService> => {
      const service = await startTestDataService(devnet.chains, UNLIMITED);
      onCleanup(service.close);
      return service;
    },
  )
  /** A client of `service`. */
  .extend('api', { scope: 'worker' }, ({ service }): Client => client(service.url));

/** Many files count as one client. */
const UNLIMITED = { rateLimitPerMinute: 1e9 };
