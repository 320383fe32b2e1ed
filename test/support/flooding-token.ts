import { concat, type Hex, pad, size, toHex } from 'viem';
import { addressOf, type TestPaymentChain } from '../lab/payment-chain.ts';

/** Many transfers in one transaction: `count` of them, of `amount`, `amount + step` and so on. */
export interface Flood {
  /** Index of the sending account. */
  readonly from: number;
  readonly to: string;
  readonly count: number;
  readonly amount: bigint;
  /** 0 when absent, so that all amounts are equal. */
  readonly step?: bigint;
  /** Empty logs that follow, about 330 bytes of the receipt each; none when absent. */
  readonly emptyLogs?: number;
}

/** Where the code of the token goes that is behind a flooding one. */
const BEHIND = addressOf(`0x${'70'.repeat(20)}`);
/** Gas of an anvil block. */
const GAS = 29_000_000n;
/** Bytes of the words that `flood` sends. No function of a token takes as many without a selector. */
const FLOOD_BYTES = 5 * 32;

/**
 * Gives the chain's token a door through which one transaction emits any number of transfers. All other calls reach the
 * token as before. Returns a function that sends such a transaction to the pool and returns its hash.
 */
export async function floodingToken(chain: TestPaymentChain): Promise<(flood: Flood) => Promise<Hex>> {
  const code = await chain.call('eth_getCode', chain.token, 'latest');
  if (code !== FLOODING_CODE) {
    await chain.call('anvil_setCode', BEHIND, code);
    await chain.call('anvil_setCode', chain.token, FLOODING_CODE);
  }
  return async ({ from, to, count, amount, step = 0n, emptyLogs = 0 }) => {
    const words = [pad(addressOf(to)), word(count), word(amount), word(step), word(emptyLogs)];
    return (await chain.send({ from, to: chain.token, data: concat(words), gas: GAS })).hash;
  };
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** EVM opcodes (yellow paper, appendix H). */
const OP = {
  STOP: '0x00',
  ADD: '0x01',
  MUL: '0x02',
  GT: '0x11',
  EQ: '0x14',
  ISZERO: '0x15',
  CALLER: '0x33',
  CALLDATALOAD: '0x35',
  CALLDATASIZE: '0x36',
  CALLDATACOPY: '0x37',
  RETURNDATASIZE: '0x3d',
  RETURNDATACOPY: '0x3e',
  POP: '0x50',
  MSTORE: '0x52',
  JUMP: '0x56',
  JUMPI: '0x57',
  GAS: '0x5a',
  JUMPDEST: '0x5b',
  PUSH0: '0x5f',
  DUP1: '0x80',
  LOG0: '0xa0',
  LOG3: '0xa3',
  RETURN: '0xf3',
  DELEGATECALL: '0xf4',
  REVERT: '0xfd',
} as const;

const FLOODING_CODE = assembled([
  ...[OP.CALLDATASIZE, push(toHex(FLOOD_BYTES)), OP.EQ, to('flood'), OP.JUMPI],
  // Any other call is one of the token behind.
  ...[OP.CALLDATASIZE, OP.PUSH0, OP.PUSH0, OP.CALLDATACOPY],
  ...[OP.PUSH0, OP.PUSH0, OP.CALLDATASIZE, OP.PUSH0, push(BEHIND), OP.GAS, OP.DELEGATECALL],
  ...[OP.RETURNDATASIZE, OP.PUSH0, OP.PUSH0, OP.RETURNDATACOPY, to('done'), OP.JUMPI],
  ...[OP.RETURNDATASIZE, OP.PUSH0, OP.REVERT],
  ...[at('done'), OP.RETURNDATASIZE, OP.PUSH0, OP.RETURN],
  ...[at('flood'), OP.PUSH0],
  ...[at('transfers'), ...untilCount(1, 'noise')],
  ...[OP.DUP1, argument(3), OP.MUL, argument(2), OP.ADD, OP.PUSH0, OP.MSTORE],
  ...[argument(0), OP.CALLER, push(TRANSFER), push('0x20'), OP.PUSH0, OP.LOG3],
  ...[push('0x01'), OP.ADD, to('transfers'), OP.JUMP],
  ...[at('noise'), OP.POP, OP.PUSH0],
  ...[at('logs'), ...untilCount(4, 'end'), OP.PUSH0, OP.PUSH0, OP.LOG0],
  ...[push('0x01'), OP.ADD, to('logs'), OP.JUMP],
  ...[at('end'), OP.STOP],
]);

type Instruction = Hex | { readonly label: string; readonly isTarget: boolean };

function at(label: string): Instruction {
  return { label, isTarget: true };
}

function to(label: string): Instruction {
  return { label, isTarget: false };
}

/** Leaves for a label when the counter on the stack has reached the argument. */
function untilCount(index: number, label: string): Instruction[] {
  return [OP.DUP1, argument(index), OP.GT, OP.ISZERO, to(label), OP.JUMPI];
}

function argument(index: number): Hex {
  return concat([push(toHex(32 * index, { size: 1 })), OP.CALLDATALOAD]);
}

function push(value: Hex): Hex {
  return concat([toHex(0x5f + size(value), { size: 1 }), value]);
}

function word(value: number | bigint): Hex {
  return toHex(value, { size: 32 });
}

/** Replaces labels by their places: a target is one byte, a jump to it three. */
function assembled(instructions: readonly Instruction[]): Hex {
  const places = new Map<string, number>();
  let place = 0;
  for (const one of instructions) {
    if (typeof one !== 'string' && one.isTarget) places.set(one.label, place);
    if (typeof one === 'string') place += size(one);
    else place += one.isTarget ? 1 : 3;
  }
  return concat(
    instructions.map(one => {
      if (typeof one === 'string') return one;
      return one.isTarget ? OP.JUMPDEST : push(toHex(places.get(one.label) ?? 0, { size: 2 }));
    }),
  );
}
