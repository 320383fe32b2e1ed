import { type Abi, decodeEventLog, type Hex, slice, toEventSelector } from 'viem';
import type { DecodedLog } from './abi.ts';
import { signatureText, typeText, valueText } from './abi-text.ts';

/**
 * A log by one ABI; null or an exception when the ABI does not know it. The number of topics must fit, which
 * is all that tells an ERC-20 `Transfer` from an ERC-721 one.
 */
export function decodeEvent(abi: Abi, topics: readonly Hex[], data: Hex): DecodedLog | null {
  const [topic, ...indexedTopics] = topics;
  if (topic === undefined) return null;
  const event = abi.find(
    item =>
      item.type === 'event' &&
      item.anonymous !== true &&
      item.inputs.filter(({ indexed }) => indexed).length === indexedTopics.length &&
      toEventSelector(item) === topic,
  );
  if (event?.type !== 'event') return null;
  // Without names viem returns the arguments as a list, which also serves events whose names repeat.
  const unnamed = { ...event, inputs: event.inputs.map(({ name: _, ...input }) => input) };
  const { args } = decodeEventLog({ abi: [unnamed], topics: [topic, ...indexedTopics], data, strict: true });
  const values: unknown[] = Array.isArray(args) ? args : [];
  return {
    signature: signatureText(event.name, event.inputs),
    selector: slice(topic, 0, 4),
    parameters: event.inputs.map((input, position) => ({
      name: input.name ?? '',
      type: typeText(input),
      value: valueText(values[position]),
      indexed: input.indexed === true,
    })),
  };
}
