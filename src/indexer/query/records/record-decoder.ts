import { type Hex, isHex } from 'viem';
import { type KnownAbi, knownAbis } from '#evm/abi/abi.ts';
import type { Decoding } from '../query.ts';
import { decodedCall, decodedEvent } from './decoded.ts';
import type { RowDecoder } from './record-writers.ts';

/** Creates decoders of pages from these ABIs and those of the token standards. */
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

    /** Limits the length of the JSON text, because names and digits can be much longer than the values. */
    function within(described: object): string | undefined {
      const json = JSON.stringify(described);
      budget.left -= json.length;
      return budget.left >= 0 ? json : undefined;
    }
  };
}

/** Asserts hex without checking its digits, because the index wrote them. */
function hex(value: string): Hex {
  if (!isHex(value, { strict: false })) throw new TypeError('A row of the index holds text that is not hex.');
  return value;
}
