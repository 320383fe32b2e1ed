import type { Random } from './activity/random.ts';

const GWEI = 10n ** 9n;
const LOWEST = 5n * GWEI;
const HIGHEST = 40n * GWEI;

/**
 * Each call gives the base fee of one more block, in wei: a walk between 5 and 40 gwei. Left to itself the fee of
 * a quiet chain falls to nothing. A step down stays under the 12.5 % that the node expects after an empty block
 * (EIP-1559), or the node would refuse the prices.
 */
export function baseFeeWalk(random: Random): () => bigint {
  let fee = BigInt(random.integer(10, 25)) * GWEI;
  return () => {
    fee = (fee * BigInt(random.integer(930, 1070))) / 1000n;
    if (fee < LOWEST) fee = LOWEST;
    if (fee > HIGHEST) fee = HIGHEST;
    return fee;
  };
}
