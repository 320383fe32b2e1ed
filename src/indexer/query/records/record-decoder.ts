import { type Hex, isHex } from 'viem';
import { type KnownAbi, knownAbis } from '#evm/abi/abi.ts';
import type { Decoding } from '../query.ts';
import { decodedCall, decodedEvent } from './decoded.ts';
import type { RowDecoder } from './record-writers.ts';

/** Returns what makes the decoder of a page, by these ABIs and those of the token standards. */
export function recordDecoders(known: readonly KnownAbi[]): (decoding: Decoding) => RowDecoder {
  const abis = knownAbis(known);
  return ({ like, mostBytes }) => {
    const budget = { left: mostBytes };
    return {
      call({ to, input }) {
        if (to === null || budget.left <= 0) return undefined;
        const decoded = abis.callOf({ to: hex(to), input: hex(input) }, budget);
        return decoded === null ? undefined : within({ decoded: decodedCall(decoded) });
      },
      log({ address, topics, data }) {
        if (budget.left <= 0) return undefined;
        const log = { address: hex(address), topics: topics.map(hex), data: hex(data) };
        const decoded = abis.eventOf(log, like, budget);
        return decoded === null ? undefined : within({ decoded: decodedEvent(decoded) });
      },
    };

    /** Names and digits can make the text much longer than the values are. */
    function within(described: object): string | undefined {
      const json = JSON.stringify(described);
      budget.left -= json.length;
      return budget.left >= 0 ? json : undefined;
    }
  };
}

/** The index writes hex itself, so that its digits need not be looked at again. */
function hex(value: string): Hex {
  if (!isHex(value, { strict: false })) throw new TypeError('A row of the index has no hex where it must.');
  return value;
}
