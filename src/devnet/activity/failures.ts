import { concat, encodeFunctionData, maxUint256 } from 'viem';
import { faultyAbi, fungibleAbi, treasuryAbi } from './abis.ts';
import { accountAddress, type Play, someone, someoneElse } from './action.ts';

/** Reverts with a sentence. */
export const failWithReason: Play = scene => ({
  from: someone(scene),
  to: scene.contracts.faulty,
  data: encodeFunctionData({ abi: faultyAbi, functionName: 'failWithReason' }),
  gas: 60_000n,
});

/** Panics: a division by zero. */
export const failWithPanic: Play = scene => ({
  from: someone(scene),
  to: scene.contracts.faulty,
  data: encodeFunctionData({ abi: faultyAbi, functionName: 'failWithPanic', args: [0n] }),
  gas: 60_000n,
});

/** Reverts with a custom error that carries arguments. */
export const failWithCustomError: Play = scene => {
  const args = [BigInt(scene.random.integer(1_001, 9_999))] as const;
  const data = encodeFunctionData({ abi: faultyAbi, functionName: 'failWithCustomError', args });
  return { from: someone(scene), to: scene.contracts.faulty, data, gas: 60_000n };
};

/** Runs until the gas is gone. */
export const runOutOfGas: Play = scene => ({
  from: someone(scene),
  to: scene.contracts.faulty,
  data: encodeFunctionData({ abi: faultyAbi, functionName: 'burnGas' }),
  gas: 90_000n,
});

/** Transfer of more tokens than any account holds, which fails with the token's own error. */
export const overdraw: Play = scene => {
  const from = someone(scene);
  const args = [accountAddress(scene, someoneElse(scene, from)), maxUint256 / 2n] as const;
  const data = encodeFunctionData({ abi: fungibleAbi, functionName: 'transfer', args });
  return { from, to: scene.contracts.stable, data, gas: 80_000n };
};

/** Call with a selector that no interface has, to a contract without a fallback function. */
export const unknownCallRefused: Play = scene => ({
  from: someone(scene),
  to: scene.contracts.community,
  data: concat([scene.random.hex(4), scene.random.hex(32)]),
  gas: 60_000n,
});

/** Withdrawal through the proxy by an account that is not its owner. */
export const withdrawUninvited: Play = scene => {
  const from = someoneElse(scene, scene.deployer);
  const data = encodeFunctionData({
    abi: treasuryAbi,
    functionName: 'withdraw',
    args: [accountAddress(scene, from), 1n],
  });
  return { from, to: scene.contracts.treasuryProxy, data, gas: 80_000n };
};
