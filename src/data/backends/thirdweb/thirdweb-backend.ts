import type { Logger } from '#lib/logger.ts';
import type { Backend } from '../port/backend.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { balanceAnswers } from './balances.ts';
import { abiAnswers } from './contract-abi.ts';
import { groupAnswers } from './groups.ts';
import { nftTransferAnswers } from './nft-transfers.ts';
import { nftAnswers } from './nfts.ts';
import { recordAnswers } from './records.ts';
import { resolveAnswers } from './resolve-input.ts';
import type { ThirdwebSource } from './source.ts';
import { tokenAnswers } from './tokens.ts';

export interface ThirdwebBackendOptions {
  readonly name: string;
  readonly chainId: number;
  /** The service's API, `…/v1`, opened with `judge`. */
  readonly upstream: Upstream;
  /** The same for every chain that is asked for at the same address with the same client id. */
  readonly sharedAs: string;
  readonly log: Logger;
}

/** A service that speaks the Insight API, of any generation from March 2025 on, as a back end of one of its chains. */
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
