import { type Address, encodeFunctionData, erc721Abi, maxUint256, parseEther, parseUnits } from 'viem';
import { fungibleAbi, marketplaceAbi, poolAbi, postcardsAbi, wrappedCoinAbi } from './abis.ts';
import { type Action, accountAddress, type Ledger, type Play, type Scene, someone } from './action.ts';

/** Number of accounts, counted from the first, that approved the pools. Only they trade. */
const TRADERS = 4;

/** Reserves at the start: 2.50 dollars per token and 2,500 dollars per coin, in the smallest units. */
const DOLLARS = parseUnits('100000', 6);
const TOKENS = parseUnits('40000', 18);
const COINS = parseEther('40');
/** Coins that each trader wraps at the start. */
const WRAPPED_ENDOWMENT = parseEther('20');

/** Fills the pools and approves them for the traders, as the owner of dollar and community token. */
export function planMarket({ contracts, deployer, wrappedCoin: ledger }: Scene): Action[] {
  const { stable, community, wrappedCoin, pool, coinPool } = contracts;
  const filled = [
    called(stable, 'mint', [pool, DOLLARS]),
    called(community, 'mint', [pool, TOKENS]),
    counted(pool),
    called(stable, 'mint', [coinPool, DOLLARS]),
    deposited(wrappedCoin, COINS),
    called(wrappedCoin, 'transfer', [coinPool, COINS]),
    counted(coinPool),
  ];
  const traders = Array.from({ length: TRADERS }, (_, from) => {
    ledger.add(from, WRAPPED_ENDOWMENT);
    return [
      called(stable, 'approve', [pool, maxUint256]),
      called(community, 'approve', [pool, maxUint256]),
      deposited(wrappedCoin, WRAPPED_ENDOWMENT),
      called(stable, 'approve', [coinPool, maxUint256]),
      called(wrappedCoin, 'approve', [coinPool, maxUint256]),
    ].map(call => ({ from, ...call, gas: 100_000n }));
  });
  return [...filled.map(call => ({ from: deployer, ...call, gas: 200_000n })), ...traders.flat()];
}

function called(
  to: Address,
  functionName: 'mint' | 'transfer' | 'approve',
  args: readonly [Address, bigint],
) {
  return { to, data: encodeFunctionData({ abi: fungibleAbi, functionName, args }) };
}

function deposited(to: Address, value: bigint) {
  return { to, value, data: encodeFunctionData({ abi: wrappedCoinAbi, functionName: 'deposit' }) };
}

/** Has a pool count the tokens that it was sent. */
function counted(to: Address) {
  return { to, data: encodeFunctionData({ abi: poolAbi, functionName: 'mint' }) };
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
  const seller = accountAddress(scene, SELLER);
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
  const { stable: ledger, contracts, random } = scene;
  const amount = BigInt(random.integer(2_000, 60_000)) * CENT;
  return sell(scene, { pool: contracts.pool, token: contracts.stable, ledger, amount });
};

/** Sells community tokens for dollars. */
export const sellCommunity: Play = scene => {
  const { community: ledger, contracts, random } = scene;
  const amount = BigInt(random.integer(10_000, 230_000)) * FINNEY;
  return sell(scene, { pool: contracts.pool, token: contracts.community, ledger, amount });
};

/** Buys wrapped coins for dollars. As above, the amount bought stays out of the ledger. */
export const buyCoin: Play = scene => {
  const { stable: ledger, contracts, random } = scene;
  const amount = BigInt(random.integer(5_000, 150_000)) * CENT;
  return sell(scene, { pool: contracts.coinPool, token: contracts.stable, ledger, amount });
};

/** Sells wrapped coins for dollars. */
export const sellCoin: Play = scene => {
  const { wrappedCoin: ledger, contracts, random } = scene;
  const amount = BigInt(random.integer(20, 600)) * FINNEY;
  return sell(scene, { pool: contracts.coinPool, token: contracts.wrappedCoin, ledger, amount });
};

/** Buys or sells community tokens. */
export const trade: Play = eitherOf(buyCommunity, sellCommunity);

/** Buys or sells wrapped coins. */
export const tradeCoin: Play = eitherOf(buyCoin, sellCoin);

/** Exchanges coins for as many wrapped ones. */
export const wrapCoin: Play = scene => {
  const from = someone(scene);
  const value = BigInt(scene.random.integer(100, 3_000)) * FINNEY;
  scene.wrappedCoin.add(from, value);
  return { from, ...deposited(scene.contracts.wrappedCoin, value), gas: 100_000n };
};

/** Exchanges wrapped coins for as many coins. */
export const unwrapCoin: Play = ({ random, wrappedCoin, contracts }) => {
  const amount = BigInt(random.integer(50, 1_000)) * FINNEY;
  const from = wrappedCoin.pick(random, amount)?.account;
  if (from === undefined) return undefined;
  wrappedCoin.take(from, amount);
  const data = encodeFunctionData({ abi: wrappedCoinAbi, functionName: 'withdraw', args: [amount] });
  return { from, to: contracts.wrappedCoin, data, gas: 100_000n };
};

/** Plays one of two at random, or the other one when that is not possible. */
function eitherOf(one: Play, other: Play): Play {
  return scene => {
    const [first, second] = scene.random.chance(0.5) ? [one, other] : [other, one];
    return first(scene) ?? second(scene);
  };
}

function sell(
  scene: Scene,
  { pool, token, ledger, amount }: { pool: Address; token: Address; ledger: Ledger; amount: bigint },
): Action | undefined {
  const from = scene.random.integer(0, TRADERS - 1);
  if (!ledger.of(from).some(holding => holding.amount >= amount)) return undefined;
  ledger.take(from, amount);
  const args = [token, amount, 0n, accountAddress(scene, from)] as const;
  const data = encodeFunctionData({ abi: poolAbi, functionName: 'sell', args });
  return { from, to: pool, data, gas: 200_000n };
}
