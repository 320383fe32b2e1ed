import { type Address, concat, encodeDeployData, encodeFunctionData, parseAbi } from 'viem';
import { factoryAbi, splitterAbi, treasuryAbi } from './abis.ts';
import { type Action, accountAddress, type Play, type Scene, someone, someoneElse } from './action.ts';
import { creationCode } from './artifacts.ts';

const FINNEY = 10n ** 15n;
const boxAbi = parseAbi(['constructor(uint256 content)']);
const boxCode = creationCode('Box');

/** A contract created by a transaction without a recipient. */
export const deployBox: Play = scene => {
  const args = [BigInt(scene.random.integer(1, 1_000))] as const;
  return {
    from: someone(scene),
    data: encodeDeployData({ abi: boxAbi, bytecode: boxCode, args }),
    gas: 300_000n,
  };
};

/** The same contract created inside a call, by CREATE2. */
export const create2Box: Play = scene => {
  const args = [scene.random.hex(32), BigInt(scene.random.integer(1, 1_000))] as const;
  const data = encodeFunctionData({ abi: factoryAbi, functionName: 'createBox', args });
  return { from: someone(scene), to: scene.contracts.factory, data, gas: 350_000n };
};

/** A contract that destroys itself in the transaction that creates it. */
export const createEphemeral: Play = scene => {
  const args = [accountAddress(scene, someone(scene))] as const;
  const data = encodeFunctionData({ abi: factoryAbi, functionName: 'createEphemeral', args });
  return { from: someone(scene), to: scene.contracts.factory, data, value: amount(scene), gas: 200_000n };
};

export const split: Play = scene => {
  const from = someone(scene);
  const data = encodeFunctionData({ abi: splitterAbi, functionName: 'split', args: [payees(scene, from)] });
  return { from, to: scene.contracts.splitter, data, value: amount(scene), gas: 300_000n };
};

/** One payee always refuses: its internal call fails, and the transaction succeeds. */
export const splitTolerantly: Play = scene => {
  const from = someone(scene);
  const args = [[...payees(scene, from), scene.contracts.faulty]] as const;
  const data = encodeFunctionData({ abi: splitterAbi, functionName: 'splitTolerantly', args });
  return { from, to: scene.contracts.splitter, data, value: amount(scene), gas: 350_000n };
};

/** Call with a selector that no interface has, handled by a fallback function. */
export const unknownCall: Play = scene => ({
  from: someone(scene),
  to: scene.contracts.splitter,
  data: concat([scene.random.hex(4), scene.random.hex(32)]),
  gas: 60_000n,
});

/** Through the EIP-1967 proxy. */
export const proxyDeposit: Play = scene => {
  const action = deposit(scene, scene.contracts.treasuryProxy);
  scene.counts.treasuryWei += action.value ?? 0n;
  return action;
};

/** Through the EIP-1167 clone. */
export const cloneDeposit: Play = scene => deposit(scene, scene.contracts.treasuryClone);

/** Half of the proxy's balance, paid out by an internal call. */
export const proxyWithdraw: Play = scene => {
  const half = scene.counts.treasuryWei / 2n;
  if (half === 0n) return undefined;
  scene.counts.treasuryWei -= half;
  const args = [accountAddress(scene, someone(scene)), half] as const;
  const data = encodeFunctionData({ abi: treasuryAbi, functionName: 'withdraw', args });
  return { from: scene.deployer, to: scene.contracts.treasuryProxy, data, gas: 120_000n };
};

/** An account delegates to the splitter's code and is then called as a splitter (type 4). */
export const delegatedSplit: Play = scene => {
  const from = someone(scene);
  const authority = scene.counts.authorities++;
  const data = encodeFunctionData({ abi: splitterAbi, functionName: 'split', args: [payees(scene, from)] });
  const envelope = { kind: 'authorization', authority, delegate: scene.contracts.splitter } as const;
  return { from, data, value: amount(scene), gas: 400_000n, envelope };
};

function deposit(scene: Scene, to: Address): Action {
  const data = encodeFunctionData({ abi: treasuryAbi, functionName: 'deposit' });
  return { from: someone(scene), to, data, value: amount(scene), gas: 120_000n };
}

function payees(scene: Scene, payer: number) {
  const count = scene.random.integer(2, 5);
  return Array.from({ length: count }, () => accountAddress(scene, someoneElse(scene, payer)));
}

function amount({ random }: Scene): bigint {
  return BigInt(random.integer(1, 400)) * FINNEY;
}
