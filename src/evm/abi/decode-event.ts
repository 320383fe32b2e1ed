import { decodeEventLog, type Hex, slice } from 'viem';
import type { DecodedValues } from './decoded.ts';
import { type DecodingBudget, mayDecode } from './decoding-budget.ts';
import type { Signatures } from './signatures.ts';

/**
 * A log by one ABI; null when the ABI does not know it or it would be too large, null or an exception when it does not fit. The
 * number of topics must fit, which is all that tells an ERC-20 `Transfer` from an ERC-721 one.
 */
export function decodeEvent(
  { events }: Signatures,
  topics: readonly Hex[],
  data: Hex,
  budget?: DecodingBudget,
): DecodedValues | null {
  const [topic, ...indexedTopics] = topics;
  if (topic === undefined) return null;
  const event = events
    .get(topic)
    ?.find(({ inputs }) => inputs.filter(({ indexed }) => indexed).length === indexedTopics.length);
  if (event === undefined) return null;
  const inData = event.inputs.filter(({ indexed }) => indexed !== true);
  if (!mayDecode(inData, data, budget)) return null;
  // Without names viem returns the arguments as a list, which also serves events whose names repeat.
  const unnamed = { ...event, inputs: event.inputs.map(({ name: _, ...input }) => input) };
  const { args } = decodeEventLog({ abi: [unnamed], topics: [topic, ...indexedTopics], data, strict: true });
  const values: unknown[] = Array.isArray(args) ? args : [];
  return { name: event.name, inputs: event.inputs, args: values, selector: slice(topic, 0, 4) };
}
