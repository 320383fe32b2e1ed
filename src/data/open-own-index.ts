import type { Address } from 'viem';
import type { ChainIndex } from '../indexer/index-service.ts';
import type { Exchange } from '../indexer/read/tokens/markets.ts';
import type { Gateways } from '../node/gateways.ts';
import { indexBackend } from './backends/own-index/own-index-backend.ts';
import type { MetadataDocuments } from './backends/own-index/source/metadata-documents.ts';
import type { Backend } from './backends/port/backend.ts';
import {
  type IndexBackendOptions,
  type OpenIndexDeps,
  openChainIndex,
  type ReadChain,
} from './open-index.ts';

/** Opens the index of a chain as one of its back ends. The caller starts and stops the index. */
export async function openOwnIndex(
  name: string,
  options: IndexBackendOptions,
  deps: OpenIndexDeps & {
    readonly chain: IndexedChain;
    readonly documents?: MetadataDocuments;
    readonly gateways?: Gateways;
  },
): Promise<{ backend: Backend; index: ChainIndex }> {
  const { chain, documents, gateways, clock } = deps;
  const { prices, names } = chain;
  const index = await openChainIndex(name, options, deps);
  const backend = indexBackend({
    name,
    chainId: chain.id,
    index,
    ...(documents === undefined ? {} : { documents }),
    ...(prices === undefined ? {} : { prices }),
    ...(names === undefined
      ? {}
      : {
          names: {
            registry: names.registry,
            gateways: names.readsGateways === true ? gateways : undefined,
            clock,
          },
        }),
  });
  return { backend, index };
}

/** Registry for name lookups, and whether names outside of the chain are read from gateways (Decision 283). */
interface NameSource {
  readonly registry: Address;
  /** False when absent. */
  readonly readsGateways?: boolean;
}

/** Settings that an index needs to serve its chain. */
export interface IndexedChain extends ReadChain {
  /** Source of prices: a dollar token, and the factory of its pairs. */
  readonly prices?: Exchange;
  readonly names?: NameSource;
}
