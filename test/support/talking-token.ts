import { type Address, concat, encodeAbiParameters, type Hex, pad, size, toHex } from 'viem';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const ZERO = toHex(0, { size: 32 });

/** EVM opcodes (yellow paper, appendix H). */
const [STOP, MSTORE, CODECOPY, CALLDATASIZE, JUMPI, JUMPDEST, PUSH0, PUSH2, PUSH32, LOG4, RETURN] = [
  '0x00',
  '0x52',
  '0x39',
  '0x36',
  '0x57',
  '0x5b',
  '0x5f',
  '0x61',
  '0x7f',
  '0xa4',
  '0xf3',
] as const;

/**
 * Creation code of a token that answers every call with one text, which reads as 32 where a number is expected. A call
 * without data emits the minting of `id` to `to`. Written without a compiler, so that a test can choose the text.
 */
export function talkingToken(
  standard: 'ERC-721' | 'ERC-1155',
  { id, to, text }: { id: bigint; to: Address; text: string },
): Hex {
  const answer = encodeAbiParameters([{ type: 'string' }], [text]);
  const idWord = toHex(id, { size: 32 });
  const topics: Hex[] =
    standard === 'ERC-721' ? [TRANSFER, ZERO, pad(to), idWord] : [TRANSFER_SINGLE, pad(to), ZERO, pad(to)];
  const isSingle = standard === 'ERC-1155';
  const announce = concat([
    ...(isSingle ? [push32(idWord), PUSH0, MSTORE, push32(toHex(1, { size: 32 })), push2(32), MSTORE] : []),
    ...topics.toReversed().map(topic => push32(topic)),
    push2(isSingle ? 64 : 0),
    PUSH0,
    LOG4,
    STOP,
  ]);
  const head = (start: number) => concat([CALLDATASIZE, push2(start), JUMPI]);
  const start = size(head(0)) + size(announce);
  const tail = (offset: number) => concat([JUMPDEST, ...giveBack({ offset, length: size(answer) })]);
  const offset = start + size(tail(0));
  return deployed(concat([head(start), announce, tail(offset), answer]));
}

/** Creation code that deploys the given code. */
function deployed(code: Hex): Hex {
  const length = size(code);
  const offset = size(concat(giveBack({ offset: 0, length })));
  return concat([...giveBack({ offset, length }), code]);
}

function giveBack({ offset, length }: { offset: number; length: number }): Hex[] {
  return [push2(length), push2(offset), PUSH0, CODECOPY, push2(length), PUSH0, RETURN];
}

function push2(value: number): Hex {
  return concat([PUSH2, toHex(value, { size: 2 })]);
}

function push32(word: Hex): Hex {
  return concat([PUSH32, word]);
}
