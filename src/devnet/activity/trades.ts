import { type Address, encodeFunctionData } from 'viem';
import { poolAbi } from './abis.ts';
import { type Action, addressOf, type Play, type Scene } from './action.ts';
import type { Ledger } from './holdings.ts';
import { TRADERS } from './market.ts';

const CENT = 10n ** 4n;
const FINNEY = 10n ** 15n;

/** Dollars for community tokens. What it brings depends on the trades before it, so no ledger counts on it. */
export const buyCommunity: Play = scene => {
  const amount = BigInt(scene.random.integer(2_000, 60_000)) * CENT;
  return sell(scene, { token: scene.contracts.stable, ledger: scene.stable, amount });
};

/** Community tokens for dollars. */
export const sellCommunity: Play = scene => {
  const amount = BigInt(scene.random.integer(10_000, 230_000)) * FINNEY;
  return sell(scene, { token: scene.contracts.community, ledger: scene.community, amount });
};

/** One or the other. */
export const trade: Play = scene => {
  const [first, second] = scene.random.chance(0.5)
    ? [buyCommunity, sellCommunity]
    : [sellCommunity, buyCommunity];
  return first(scene) ?? second(scene);
};

function sell(
  scene: Scene,
  { token, ledger, amount }: { token: Address; ledger: Ledger; amount: bigint },
): Action | undefined {
  const from = scene.random.integer(0, TRADERS - 1);
  if (!ledger.of(from).some(holding => holding.amount >= amount)) return undefined;
  ledger.take(from, amount);
  const data = encodeFunctionData({
    abi: poolAbi,
    functionName: 'sell',
    args: [token, amount, 0n, addressOf(scene, from)],
  });
  return { from, to: scene.contracts.pool, data, gas: 200_000n };
}
