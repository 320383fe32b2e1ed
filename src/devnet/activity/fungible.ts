import { encodeFunctionData, pad } from 'viem';
import { fungibleAbi } from './abis.ts';
import { accountAddress, type Play, someone, someoneElse } from './action.ts';

const CENT = 10n ** 4n;
const FINNEY = 10n ** 15n;

/** Range of an amount, in a unit of the coin. */
interface Amounts {
  readonly coin: 'stable' | 'community';
  readonly unit: bigint;
  readonly least: number;
  readonly most: number;
}

/** Mint of a token by its owner. */
function mint({ coin, unit, least, most }: Amounts): Play {
  return scene => {
    const { random, contracts, deployer } = scene;
    const to = someone(scene);
    const amount = BigInt(random.integer(least, most)) * unit;
    scene[coin].add(to, amount);
    const args = [accountAddress(scene, to), amount] as const;
    const data = encodeFunctionData({ abi: fungibleAbi, functionName: 'mint', args });
    return { from: deployer, to: contracts[coin], data, gas: 100_000n };
  };
}

function burn({ coin, unit, least, most }: Amounts): Play {
  return scene => {
    const { random, contracts } = scene;
    const amount = BigInt(random.integer(least, most)) * unit;
    const from = scene[coin].pick(random, amount)?.account;
    if (from === undefined) return undefined;
    scene[coin].take(from, amount);
    const data = encodeFunctionData({ abi: fungibleAbi, functionName: 'burn', args: [amount] });
    return { from, to: contracts[coin], data, gas: 80_000n };
  };
}

/** The token with six decimals. */
export const stableMint = mint({ coin: 'stable', unit: CENT, least: 100_000, most: 2_000_000 });
export const stableBurn = burn({ coin: 'stable', unit: CENT, least: 10, most: 900 });
/** The token with eighteen decimals. */
export const communityMint = mint({ coin: 'community', unit: FINNEY, least: 10_000, most: 900_000 });
export const communityBurn = burn({ coin: 'community', unit: FINNEY, least: 1, most: 900 });

export const stableTransfer: Play = scene => {
  const { random, stable, contracts } = scene;
  const amount = BigInt(random.integer(50, 60_000)) * CENT;
  const from = stable.pick(random, amount)?.account;
  if (from === undefined) return undefined;
  stable.take(from, amount);
  const outside = random.chance(0.15);
  const to = someoneElse(scene, from);
  if (!outside) stable.add(to, amount);
  const data = encodeFunctionData({
    abi: fungibleAbi,
    functionName: 'transfer',
    args: [outside ? random.hex(20) : accountAddress(scene, to), amount],
  });
  return { from, to: contracts.stable, data, gas: 80_000n };
};

/** The same transfer as type 1, with the token's supply slot in its access list. */
export const stableTransferWithAccessList: Play = scene => {
  const transfer = stableTransfer(scene);
  if (transfer === undefined) return undefined;
  const accessList = [{ address: scene.contracts.stable, storageKeys: [pad('0x2', { size: 32 })] }];
  return { ...transfer, gas: 90_000n, envelope: { kind: 'accessList', accessList } };
};

export const stableApprove: Play = scene => {
  const { random, contracts, allowances } = scene;
  const owner = someone(scene);
  const spender = someoneElse(scene, owner);
  const amount = BigInt(random.integer(100, 10_000)) * CENT;
  const given = allowances.findIndex(allowance => allowance.owner === owner && allowance.spender === spender);
  if (given >= 0) allowances.splice(given, 1);
  allowances.push({ owner, spender, amount });
  const data = encodeFunctionData({
    abi: fungibleAbi,
    functionName: 'approve',
    args: [accountAddress(scene, spender), amount],
  });
  return { from: owner, to: contracts.stable, data, gas: 80_000n };
};

/** Spends the oldest allowance whose owner still holds the amount. */
export const stableTransferFrom: Play = scene => {
  const { stable, contracts, allowances } = scene;
  const usable = allowances.findIndex(({ owner, amount }) =>
    stable.of(owner).some(holding => holding.amount >= amount),
  );
  const [allowance] = usable < 0 ? [] : allowances.splice(usable, 1);
  if (allowance === undefined) return undefined;
  const { owner, spender, amount } = allowance;
  stable.take(owner, amount);
  stable.add(spender, amount);
  const data = encodeFunctionData({
    abi: fungibleAbi,
    functionName: 'transferFrom',
    args: [accountAddress(scene, owner), accountAddress(scene, spender), amount],
  });
  return { from: spender, to: contracts.stable, data, gas: 100_000n };
};

/** One transaction with a transfer to every other account, more than ten in all. */
export const stablePayMany: Play = scene => {
  const { random, stable, contracts, accounts } = scene;
  const each = BigInt(random.integer(100, 2_000)) * CENT;
  const others = accounts.length - 1;
  const from = stable.pick(random, each * BigInt(others))?.account;
  if (from === undefined) return undefined;
  const recipients = accounts
    .keys()
    .filter(account => account !== from)
    .toArray();
  stable.take(from, each * BigInt(others));
  for (const account of recipients) stable.add(account, each);
  const data = encodeFunctionData({
    abi: fungibleAbi,
    functionName: 'payMany',
    args: [recipients.map(account => accountAddress(scene, account)), each],
  });
  return { from, to: contracts.stable, data, gas: 1_200_000n };
};

export const communityTransfer: Play = scene => {
  const { random, community, contracts } = scene;
  const amount = BigInt(random.integer(1, 9_000)) * FINNEY;
  const from = community.pick(random, amount)?.account;
  if (from === undefined) return undefined;
  const to = someoneElse(scene, from);
  community.take(from, amount);
  community.add(to, amount);
  const data = encodeFunctionData({
    abi: fungibleAbi,
    functionName: 'transfer',
    args: [accountAddress(scene, to), amount],
  });
  return { from, to: contracts.community, data, gas: 80_000n };
};
