import { encodeFunctionData } from 'viem';
import { itemsAbi, postcardsAbi } from './abis.ts';
import { accountAddress, type Play, someone, someoneElse } from './action.ts';

/** Highest item id; ids start at 1. A batch takes most of them. */
const ITEM_KINDS = 16;
const BATCH = 12;

export const postcardMint: Play = scene => {
  const { postcards, contracts, deployer, counts } = scene;
  const to = someone(scene);
  counts.postcards += 1n;
  postcards.add(to, 1n, counts.postcards);
  const data = encodeFunctionData({
    abi: postcardsAbi,
    functionName: 'mint',
    args: [accountAddress(scene, to)],
  });
  return { from: deployer, to: contracts.postcards, data, gas: 150_000n };
};

export const postcardTransfer: Play = scene => {
  const { random, postcards, contracts } = scene;
  const held = postcards.pick(random);
  if (held === undefined) return undefined;
  const to = someoneElse(scene, held.account);
  postcards.take(held.account, 1n, held.id);
  postcards.add(to, 1n, held.id);
  const data = encodeFunctionData({
    abi: postcardsAbi,
    functionName: 'safeTransferFrom',
    args: [accountAddress(scene, held.account), accountAddress(scene, to), held.id],
  });
  return { from: held.account, to: contracts.postcards, data, gas: 120_000n };
};

export const postcardBurn: Play = ({ random, postcards, contracts }) => {
  const held = postcards.pick(random);
  if (held === undefined) return undefined;
  postcards.take(held.account, 1n, held.id);
  const data = encodeFunctionData({ abi: postcardsAbi, functionName: 'burn', args: [held.id] });
  return { from: held.account, to: contracts.postcards, data, gas: 100_000n };
};

/** Approval of one token, or of all. */
export const postcardApprove: Play = scene => {
  const { random, postcards, contracts } = scene;
  const held = postcards.pick(random);
  if (held === undefined) return undefined;
  const operator = accountAddress(scene, someoneElse(scene, held.account));
  const data = random.chance(0.5)
    ? encodeFunctionData({ abi: postcardsAbi, functionName: 'approve', args: [operator, held.id] })
    : encodeFunctionData({ abi: postcardsAbi, functionName: 'setApprovalForAll', args: [operator, true] });
  return { from: held.account, to: contracts.postcards, data, gas: 80_000n };
};

export const itemMint: Play = scene => {
  const { random, items, contracts, deployer } = scene;
  const to = someone(scene);
  const id = BigInt(random.integer(1, ITEM_KINDS));
  const amount = BigInt(random.integer(1, 50));
  items.add(to, amount, id);
  const args = [accountAddress(scene, to), id, amount] as const;
  const data = encodeFunctionData({ abi: itemsAbi, functionName: 'mint', args });
  return { from: deployer, to: contracts.items, data, gas: 120_000n };
};

/** Twelve ids at once, so that one transaction holds more than ten token transfers. */
export const itemMintBatch: Play = scene => {
  const { random, items, contracts, deployer } = scene;
  const to = someone(scene);
  const first = random.integer(1, ITEM_KINDS - BATCH + 1);
  const ids = Array.from({ length: BATCH }, (_, index) => BigInt(first + index));
  const amounts = ids.map(() => BigInt(random.integer(2, 20)));
  for (const [index, id] of ids.entries()) items.add(to, amounts[index] ?? 0n, id);
  const data = encodeFunctionData({
    abi: itemsAbi,
    functionName: 'mintBatch',
    args: [accountAddress(scene, to), ids, amounts],
  });
  return { from: deployer, to: contracts.items, data, gas: 600_000n };
};

export const itemTransfer: Play = scene => {
  const { random, items, contracts } = scene;
  const held = items.pick(random);
  if (held === undefined) return undefined;
  const to = someoneElse(scene, held.account);
  const amount = BigInt(random.integer(1, Number(held.amount)));
  items.take(held.account, amount, held.id);
  items.add(to, amount, held.id);
  const data = encodeFunctionData({
    abi: itemsAbi,
    functionName: 'safeTransferFrom',
    args: [accountAddress(scene, held.account), accountAddress(scene, to), held.id, amount, '0x'],
  });
  return { from: held.account, to: contracts.items, data, gas: 120_000n };
};

/** Transfer of one of each item that an account holds. */
export const itemTransferBatch: Play = scene => {
  const { random, items, contracts } = scene;
  const from = items.pick(random)?.account;
  if (from === undefined) return undefined;
  const to = someoneElse(scene, from);
  const ids = items.of(from).map(({ id }) => id);
  for (const id of ids) {
    items.take(from, 1n, id);
    items.add(to, 1n, id);
  }
  const data = encodeFunctionData({
    abi: itemsAbi,
    functionName: 'safeBatchTransferFrom',
    args: [accountAddress(scene, from), accountAddress(scene, to), ids, ids.map(() => 1n), '0x'],
  });
  return { from, to: contracts.items, data, gas: 700_000n };
};

export const itemBurn: Play = scene => {
  const { random, items, contracts } = scene;
  const held = items.pick(random);
  if (held === undefined) return undefined;
  items.take(held.account, 1n, held.id);
  const args = [accountAddress(scene, held.account), held.id, 1n] as const;
  const data = encodeFunctionData({ abi: itemsAbi, functionName: 'burn', args });
  return { from: held.account, to: contracts.items, data, gas: 80_000n };
};
