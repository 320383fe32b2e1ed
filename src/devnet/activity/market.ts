import { type Address, encodeFunctionData, maxUint256, parseUnits } from 'viem';
import { fungibleAbi, poolAbi } from './abis.ts';
import type { Action, Contracts } from './action.ts';

/** Accounts from the first on that the pool may take tokens from; only they trade. */
export const TRADERS = 4;

/** What the pool starts with: 2.50 dollars a token, in the smallest units. */
const DOLLARS = parseUnits('100000', 6);
const TOKENS = parseUnits('40000', 18);

/** Fills the pool and lets the traders trade. By the owner of both tokens. */
export function planMarket({
  contracts: { stable, community, pool },
  owner,
}: {
  contracts: Pick<Contracts, 'stable' | 'community' | 'pool'>;
  owner: number;
}): Action[] {
  const minted = [
    { token: stable, amount: DOLLARS },
    { token: community, amount: TOKENS },
  ].map(({ token, amount }) => sent(token, 'mint', [pool, amount]));
  const counted = { to: pool, data: encodeFunctionData({ abi: poolAbi, functionName: 'mint' }) };
  const approved = Array.from({ length: TRADERS }, (_, from) =>
    [stable, community].map(token => ({ from, ...sent(token, 'approve', [pool, maxUint256]), gas: 80_000n })),
  );
  return [...[...minted, counted].map(call => ({ from: owner, ...call, gas: 200_000n })), ...approved.flat()];
}

function sent(to: Address, functionName: 'mint' | 'approve', args: readonly [Address, bigint]) {
  return { to, data: encodeFunctionData({ abi: fungibleAbi, functionName, args }) };
}
