import { zeroAddress } from 'viem';

/** GoldToken on Celo. Source: docs.celo.org, "Token duality". */
const CELO = '0x471ece3750da237f93b8e339c536989b8978a438';
/** MRC20 on Polygon. */
const POLYGON = '0x0000000000000000000000000000000000001010';
/** Source: docs.moonbeam.network, "Native Token ERC-20 Precompile". */
const MOONBEAM = '0x0000000000000000000000000000000000000802';

/** Tokens by chain whose balances are the coins themselves. Celo's former test network has another address than Celo. */
const COIN_TOKENS: ReadonlyMap<number, string> = new Map([
  [42_220, CELO],
  [11_142_220, CELO],
  [44_787, '0xf194afdf50b03e69bd7d057c1aa9e10c9954e4c9'],
  [137, POLYGON],
  [80_002, POLYGON],
  [1284, MOONBEAM],
  [1285, MOONBEAM],
  [1287, MOONBEAM],
]);

/** Tokens of sweeps that take coins: coins, as which the zero address stands, and the token that has the same balances. */
export function coinTokensOf(chainId: number): readonly string[] {
  const token = COIN_TOKENS.get(chainId);
  return token === undefined ? [zeroAddress] : [zeroAddress, token];
}

/** Tokens of sweeps that take this token along: itself, and for coins and the token with the same balances, both. */
export function tokensSweptWith(chainId: number, tokenAddress: string): readonly string[] {
  const coins = coinTokensOf(chainId);
  return coins.includes(tokenAddress) ? coins : [tokenAddress];
}
