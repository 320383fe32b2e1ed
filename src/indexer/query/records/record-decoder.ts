import { type Address, type Hex, isAddress, isHex } from 'viem';
import { type KnownAbi, knownAbis } from '#evm/abi/abi.ts';
import type { Decoding } from '../query.ts';
import { decodedCall, decodedEvent } from './decoded.ts';
import { type RowDecoder, text, textOrNull, topics } from './record-readers.ts';

/** Returns what makes the decoder of a page, by these ABIs and those of the token standards. */
export function recordDecoders(known: readonly KnownAbi[]): (decoding: Decoding) => RowDecoder {
  const abis = knownAbis(known);
  return ({ like, mostBytes }) => {
    const budget = { left: mostBytes };
    return {
      call(row) {
        const to = textOrNull(row, 'to_address');
        if (to === null || budget.left <= 0) return undefined;
        const decoded = abis.callOf({ to: addressed(to), input: hex(text(row, 'data')) }, budget);
        return decoded === null ? undefined : within({ decoded: decodedCall(decoded) });
      },
      log(row) {
        if (budget.left <= 0) return undefined;
        const decoded = abis.eventOf(
          {
            address: addressed(text(row, 'address')),
            topics: topics(row).map(hex),
            data: hex(text(row, 'data')),
          },
          like,
          budget,
        );
        return decoded === null ? undefined : within({ decoded: decodedEvent(decoded) });
      },
    };

    /** Names and digits can make the text much longer than the values are. */
    function within<Described>(described: Described): Described | undefined {
      budget.left -= JSON.stringify(described).length;
      return budget.left >= 0 ? described : undefined;
    }
  };
}

function hex(value: string): Hex {
  if (!isHex(value)) throw new TypeError('A row of the index has no hex where it must.');
  return value;
}

function addressed(value: string): Address {
  if (!isAddress(value, { strict: false }))
    throw new TypeError('A row of the index has no address where it must.');
  return value;
}
