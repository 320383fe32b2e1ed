import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  isAddressEqual,
  type Log,
  parseAbi,
  parseEventLogs,
  toEventSelector,
  zeroAddress,
} from 'viem';
import { CURRENT_FACTORY, type DepositFactory } from './deposit-factory.ts';

const ABI = parseAbi([
  'struct Item { address recipient; bytes32 salt; address token; }',
  'function sweep(Item[] items, uint256 callGas) returns (uint256[] amounts)',
  'event Swept(address indexed forwarder, address indexed token, uint256 amount)',
  'event SweepFailed(address indexed forwarder, address indexed token)',
]);

/** First topic of `Swept`. */
export const SWEPT: Hex = toEventSelector('Swept(address,address,uint256)');

/** An asset of a forwarder. */
export interface SweepItem {
  readonly recipient: Address;
  readonly salt: Hex;
  /** Null for coins. */
  readonly token: Address | null;
}

/** Result of one item of a sweep, as the factory logged it. */
export interface SweepOutcome {
  readonly forwarder: Address;
  readonly token: Address | null;
  /** Amount that left the forwarder; null when the token or the recipient refused. */
  readonly amount: bigint | null;
}

/** Gas for each call of a token or a recipient. Few tokens need more, and what is not used is not paid. */
export const CALL_GAS = 300_000n;

/** Input of a sweep. Each item is tried by itself, and each call gets at most `callGas`. */
export function sweepInput(items: readonly SweepItem[], callGas = CALL_GAS): Hex {
  const args = [items.map(item => ({ ...item, token: item.token ?? zeroAddress })), callGas] as const;
  return encodeFunctionData({ abi: ABI, functionName: 'sweep', args });
}

/** Amounts in the order of the items, from the output of a sweep; 0 for an item that holds nothing or fails. */
export function sweptAmounts(output: Hex): readonly bigint[] {
  return decodeFunctionResult({ abi: ABI, functionName: 'sweep', data: output });
}

/** Outcomes of the sweeps in a transaction. Logs of other contracts count for nothing: anyone can make them. */
export function sweepOutcomes(
  logs: readonly Log[],
  { address }: DepositFactory = CURRENT_FACTORY,
): SweepOutcome[] {
  const own = logs.filter(log => isAddressEqual(log.address, address));
  return parseEventLogs({ abi: ABI, logs: own }).map(({ eventName, args }) => ({
    forwarder: args.forwarder,
    token: args.token === zeroAddress ? null : args.token,
    amount: eventName === 'Swept' ? args.amount : null,
  }));
}
