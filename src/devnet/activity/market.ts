import { type Address, encodeFunctionData, erc721Abi, maxUint256, parseEther, parseUnits } from 'viem';
import { fungibleAbi, marketplaceAbi, poolAbi, postcardsAbi } from './abis.ts';
import { type Action, addressOf, type Contracts, type Ledger, type Play, type Scene } from './action.ts';

/** Number of accounts, counted from the first, that approved the pool. Only they trade. */
const TRADERS = 4;

/** Reserves at the start: 2.50 dollars per token, in the smallest units. */
const DOLLARS = parseUnits('100000', 6);
const TOKENS = parseUnits('40000', 18);

/** Fills the pool and approves it for the traders, as the owner of both tokens. */
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

const SELLER = 4;
const BUYER = 5;

/** Price of a token on the marketplace, the same as `priceOf` in Marketplace.sol. */
const priceOf = (id: bigint): bigint => (1n + (id % 9n)) * parseEther('0.01');

/**
 * Mints a postcard and sells it on the marketplace, so that every chain has a sale. Send these in one block, in this
 * order.
 */
export function planSale(scene: Scene): Action[] {
  const { contracts, counts, deployer } = scene;
  const { marketplace, postcards: token } = contracts;
  counts.postcards += 1n;
  // It stays out of the ledger, so that no later action moves or burns it.
  const id = counts.postcards;
  const seller = addressOf(scene, SELLER);
  const mint = encodeFunctionData({ abi: postcardsAbi, functionName: 'mint', args: [seller] });
  const approve = encodeFunctionData({ abi: erc721Abi, functionName: 'approve', args: [marketplace, id] });
  const buy = encodeFunctionData({ abi: marketplaceAbi, functionName: 'buy', args: [token, id] });
  return [
    { from: deployer, to: token, data: mint, gas: 150_000n },
    { from: SELLER, to: token, data: approve, gas: 80_000n },
    { from: BUYER, to: marketplace, data: buy, value: priceOf(id), gas: 250_000n },
  ];
}

const CENT = 10n ** 4n;
const FINNEY = 10n ** 15n;

/** Buys community tokens for dollars. The amount bought depends on earlier trades, so it stays out of the ledger. */
export const buyCommunity: Play = scene => {
  const amount = BigInt(scene.random.integer(2_000, 60_000)) * CENT;
  return sell(scene, { token: scene.contracts.stable, ledger: scene.stable, amount });
};

/** Sells community tokens for dollars. */
export const sellCommunity: Play = scene => {
  const amount = BigInt(scene.random.integer(10_000, 230_000)) * FINNEY;
  return sell(scene, { token: scene.contracts.community, ledger: scene.community, amount });
};

/** Buys or sells. */
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
