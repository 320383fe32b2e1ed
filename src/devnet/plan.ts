import type { Address, Hex } from 'viem';
import { type Action, createLedger, type Scene } from './activity/action.ts';
import { planMarket, planSale, trade, tradeCoin } from './activity/market.ts';
import { activityMix } from './activity/mix.ts';
import { type Random, seededRandom } from './activity/random.ts';
import { type EmbeddedContract, planDeployment, planEndowment } from './deployment.ts';
import { COIN_SYMBOL, type EmbeddedChain } from './embedded-chain.ts';

const DEPLOYMENTS_A_BLOCK = 5;
const SHOWN_A_BLOCK = 3;
const BIG_BLOCK_EVERY = 50;
const FIRST_BIG_BLOCK = 40;
/** Blocks from one extra trade in each pool to the next, so that every day of the chain has trades. */
const TRADE_EVERY = 5;
const FIRST_TRADE_BLOCK = 10;
const STABLE_ENDOWMENT = 50_000n * 10n ** 6n;
/** The account that is called `alice.eth`. */
const ALICE = 3;
const COMMUNITY_ENDOWMENT = 2_000n * 10n ** 18n;

/** A block before it is mined. `time` in seconds, `baseFeePerGas` in wei. */
export interface PlannedBlock {
  time: number;
  baseFeePerGas: bigint;
  actions: Action[];
}

/** Everything that will happen on one chain. It does not depend on the node. */
export interface Plan {
  contracts: EmbeddedContract[];
  /** Sources of prices, see `EmbeddedChain`. */
  prices: EmbeddedChain['prices'];
  /** Registry for look-ups of names. */
  names: { registry: Address };
  /** Receives the priority fees. */
  feeRecipient: Hex;
  /** Random draws of this chain, shared by all senders. */
  random: Random;
  /** Seconds. */
  genesisTime: number;
  /** Yields the blocks of the fill, each made on demand. Can be read once. */
  blocks(): Generator<PlannedBlock>;
  /** Draws more actions of the same mix, after the fill. */
  more(count: number): Action[];
  /** The next step of the chain's base fee, a walk between 5 and 40 gwei. */
  nextBaseFee(): bigint;
}

/** Plans the activity of the chain at `index`. Equal arguments give equal plans. `endTime` is in UTC milliseconds. */
export function planChain({
  index,
  chainId,
  seed,
  accounts,
  blocks,
  endTime,
}: {
  index: number;
  chainId: number;
  seed: number;
  accounts: readonly Address[];
  blocks: number;
  endTime: number;
}): Plan {
  const random = seededRandom(`${seed}/${chainId}`);
  // Each chain has another deployer, so that no contract has the same address on two chains.
  const deployer = index % accounts.length;
  const address = accounts[deployer];
  const alice = accounts[ALICE];
  if (address === undefined || alice === undefined) {
    throw new RangeError('a chain needs an account that deploys and one with a name');
  }
  const deployment = planDeployment({ index: deployer, address, alice });
  const { stable, nameRegistry, poolFactory, wrappedCoin } = deployment.contracts;
  const scene: Scene = {
    random,
    accounts,
    deployer,
    contracts: deployment.contracts,
    stable: createLedger(),
    community: createLedger(),
    wrappedCoin: createLedger(),
    postcards: createLedger(),
    items: createLedger(),
    allowances: [],
    counts: { postcards: 0n, authorities: 0, treasuryWei: 0n },
  };
  const mix = activityMix(scene, { isOdd: index % 2 === 1 });
  const nextBaseFee = baseFeeWalk(random);
  const [genesisTime = 0, ...times] = plannedTimes({ blocks, endTime });

  function* blockActions(): Generator<Action[]> {
    for (let at = 0; at < deployment.actions.length; at += DEPLOYMENTS_A_BLOCK) {
      yield deployment.actions.slice(at, at + DEPLOYMENTS_A_BLOCK);
    }
    yield [];
    yield endow();
    yield [...planMarket(scene), ...planSale(scene)];
    yield* mix.showing(SHOWN_A_BLOCK);
    while (true) yield random.chance(0.12) ? [] : mix.more(random.integer(1, 12));
  }

  function endow(): Action[] {
    for (const account of accounts.keys()) {
      scene.stable.add(account, STABLE_ENDOWMENT);
      scene.community.add(account, COMMUNITY_ENDOWMENT);
    }
    const { stable, community } = deployment.contracts;
    return [
      ...planEndowment({ token: stable, owner: deployer, accounts, amount: STABLE_ENDOWMENT }),
      ...planEndowment({ token: community, owner: deployer, accounts, amount: COMMUNITY_ENDOWMENT }),
    ];
  }

  function* plannedBlocks(): Generator<PlannedBlock> {
    const usual = blockActions();
    for (const [position, time] of times.entries()) {
      const number = position + 1;
      const isBig = number >= FIRST_BIG_BLOCK && (number - FIRST_BIG_BLOCK) % BIG_BLOCK_EVERY === 0;
      const actions = isBig ? mix.more(random.integer(52, 70)) : (usual.next().value ?? []);
      const isTraded = number >= FIRST_TRADE_BLOCK && number % TRADE_EVERY === 0;
      const traded = isTraded ? [trade, tradeCoin].flatMap(play => play(scene) ?? []) : [];
      yield { time, baseFeePerGas: nextBaseFee(), actions: [...actions, ...traded] };
    }
  }

  return {
    contracts: deployment.listed,
    prices: { usdToken: stable, factory: poolFactory, native: { symbol: COIN_SYMBOL, wrapped: wrappedCoin } },
    names: { registry: nameRegistry },
    feeRecipient: random.hex(20),
    random,
    genesisTime,
    blocks: plannedBlocks,
    more: mix.more,
    nextBaseFee,
  };
}

const GWEI = 10n ** 9n;
const LOWEST = 5n * GWEI;
const HIGHEST = 40n * GWEI;

/**
 * Creates a function that returns the base fee of one more block per call, in wei: a walk between 5 and 40 gwei.
 * Without it the fee of a quiet chain falls to nothing. A step down stays under the 12.5 % that the node expects after
 * an empty block (EIP-1559), or the node would refuse the prices.
 */
function baseFeeWalk(random: Random): () => bigint {
  let fee = BigInt(random.integer(10, 25)) * GWEI;
  return () => {
    fee = (fee * BigInt(random.integer(930, 1070))) / 1000n;
    if (fee < LOWEST) fee = LOWEST;
    if (fee > HIGHEST) fee = HIGHEST;
    return fee;
  };
}

const SPAN_S = 4 * 24 * 60 * 60;
const BLOCK_S = 12;
const JUMPS = 4;

/**
 * Times of the genesis block and of each block after it, in seconds, the last at or before `endTime` (ms).
 * Twelve seconds apart, with four jumps of about a day, so that a short chain still has a history of days.
 */
export function plannedTimes({ blocks, endTime }: { blocks: number; endTime: number }): number[] {
  const jump = Math.max(0, Math.floor((SPAN_S - blocks * BLOCK_S) / JUMPS));
  const fromStart = Array.from({ length: blocks + 1 }, (_, number) => {
    const jumpsSoFar = Math.floor((number * (JUMPS + 1)) / (blocks + 1));
    return number * BLOCK_S + jumpsSoFar * jump;
  });
  const start = Math.floor(endTime / 1000) - (fromStart.at(-1) ?? 0);
  return fromStart.map(offset => start + offset);
}
