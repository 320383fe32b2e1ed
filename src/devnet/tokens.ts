import type { Address } from 'viem';
import type { EmbeddedContract } from './deployment.ts';

/** A fungible token (ERC-20) among the sample contracts. */
export interface EmbeddedToken {
  address: Address;
  symbol: string;
  decimals: number;
}

/** What the sample tokens say of themselves, by artifact. */
const TOKENS: Readonly<Record<string, Omit<EmbeddedToken, 'address'>>> = {
  StableToken: { symbol: 'USDS', decimals: 6 },
  CommunityToken: { symbol: 'TOLL', decimals: 18 },
};

/** The tokens among sample contracts, the dollar-like one first. */
export function tokensAmong(contracts: readonly EmbeddedContract[]): EmbeddedToken[] {
  return contracts.flatMap(({ address, artifactName }) => {
    const token = TOKENS[artifactName ?? ''];
    return token === undefined ? [] : [{ address, ...token }];
  });
}
