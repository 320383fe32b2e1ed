import type { Logger } from '#lib/logger.ts';
import type { Backend } from '../port/backend.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { balanceAnswers } from './balances.ts';
import { abiAnswers } from './contract-abi.ts';
import { groupAnswers } from './groups.ts';
import { nftAnswers, nftTransferAnswers } from './nfts.ts';
import { recordAnswers } from './records.ts';
import { resolveAnswers } from './resolve-input.ts';
import type { ThirdwebSource } from './source.ts';
import { tokenAnswers } from './tokens.ts';

export interface ThirdwebBackendOptions {
  readonly name: string;
  readonly chainId: number;
  /** The service's API, `…/v1`, opened with `judge`. */
  readonly upstream: Upstream;
  /** Key shared by all chains with the same address and client id. */
  readonly sharedAs: string;
  readonly log: Logger;
}

/** Back end of one chain, served by a service with the Insight API of any generation since March 2025. */
export function thirdwebBackend({ name, chainId, upstream, sharedAs, log }: ThirdwebBackendOptions): Backend {
  const source: ThirdwebSource = { name, upstream, log };
  return {
    kind: 'insight',
    name,
    chainId,
    answers: {},
    insights: {
      ...recordAnswers(source),
      ...groupAnswers(source),
      ...resolveAnswers(source),
      ...tokenAnswers(source),
      ...balanceAnswers(source),
      ...nftTransferAnswers(source),
      ...nftAnswers(source),
      ...abiAnswers(source),
    },
    sharedAs,
    status: () => ({ ready: upstream.isReady(), head: undefined, lag: undefined }),
  };
}
