import { type AbiEvent, parseAbiItem, toEventSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import { InvalidParameter } from '#contract/contracts/violations.ts';
import { namedEvent } from '#data/insights/event-signature.ts';
import { knownAbis } from '#evm/abi/abi.ts';

describe('a signature', () => {
  test.each([
    'Transfer(address indexed from, address indexed to, uint256 value)',
    'Placed((uint256 id, (address who, bytes4 tag)[2] parts)[] indexed orders, string[3][] notes, bool)',
    'Wide(int8 indexed, bytes32 a, bytes b, uint248[] c)',
  ])('such as %s is read as its event', text => {
    const parsed: unknown = parseAbiItem(words(`event ${text}`));
    const { abi, topic0, signature } = namedEvent(`  ${text.replaceAll(',', ' ,  ')} `);

    expect(abi).toEqual(withIndexed(parsed));
    expect(topic0).toBe(toEventSelector(text));
    expect(signature).toBe(text);
  });

  test('in the notation of explorers, or with short type names, is the same event', () => {
    const plain = namedEvent('A(uint256 indexed a, (int256[], address) b)');

    expect(namedEvent('A(index_topic_1 uint a, (int[],address) b)')).toEqual(plain);
    expect(plain.canonical).toBe('A(uint256,(int256[],address))');
  });

  test('without marks for indexed parameters gives no ABI to decode with', () => {
    expect(namedEvent('A(uint256 a)')).toEqual({
      topic0: toEventSelector('A(uint256)'),
      canonical: 'A(uint256)',
    });
    expect(namedEvent('Done()').canonical).toBe('Done()');
  });

  test.each([
    'event A(uint256)',
    'A(uint256[0] x)',
    'A(uint256[01] x)',
    'A(address payable x)',
    'A(uint256 memory x)',
    'A(uint256 a b)',
    'function(uint256)',
    'constructor()',
    'event(uint256)',
    'uint256(uint256)',
    'A(uint0)',
    'A(uint7)',
    'A(uint264)',
    'A(bytes0)',
    'A(bytes33)',
    'A(function)',
    'A(())',
    'A(,)',
    'A(uint256,)',
    'A((uint256 indexed a) b)',
    'A(index_topic_1 uint256 indexed a)',
    'A(uint256 indexed,uint256 indexed,uint256 indexed,uint256 indexed)',
    'A(uint256) B',
    'A(uint256 a))',
    `A(${'('.repeat(200)}uint8${')'.repeat(200)})`,
    `A(uint8${'[1]'.repeat(300)})`,
    `A(${'uint8,'.repeat(150)}uint8)`,
  ])('%s is refused', text => {
    expect(() => namedEvent(text)).toThrow(InvalidParameter);
  });

  test('seen for the first time leaves nothing in memory', async () => {
    const kept = await parametersKept();
    const topic = toEventSelector('A(uint256,uint256)');
    const abis = knownAbis([]);
    parseAbiItem(words('event Control(uint256 indexed onlyHere)'));
    const before = kept.size;
    for (let turn = 0; turn < 10_000; turn++) {
      const { abi } = namedEvent(`A(uint256 indexed a_${turn}, uint256 b_${turn})`);
      const value = `0x${'00'.repeat(31)}07` as const;
      const log = {
        address: '0x00000000000000000000000000000000000000aa',
        topics: [topic, value],
        data: value,
      };
      if (turn % 100 === 0)
        expect(abis.eventOf({ ...log, address: `0x${'00'.repeat(20)}` }, abi)?.args).toEqual([7n, 7n]);
    }

    expect(kept.has([...kept.keys()].find(key => String(key).includes('onlyHere')))).toBe(true);
    expect(kept.size).toBe(before);
  });
});

/** Drops the literal type, so that no ABI is inferred from it. */
function words(text: string): string[] {
  return [text];
}

/** Adds `indexed`, which viem's parser sets only where it is true. */
function withIndexed(item: unknown): AbiEvent {
  if (!isEvent(item)) throw new TypeError('Not an event.');
  return { ...item, inputs: item.inputs.map(input => ({ ...input, indexed: input.indexed === true })) };
}

function isEvent(item: unknown): item is AbiEvent {
  return typeof item === 'object' && item !== null && 'type' in item && item.type === 'event';
}

/** Cache of viem's parser, with every text it has parsed. */
async function parametersKept(): Promise<Map<unknown, unknown>> {
  const file = '../../../node_modules/abitype/dist/esm/human-readable/runtime/cache.js';
  const loaded: unknown = await import(new URL(file, import.meta.url).href);
  const kept: unknown =
    typeof loaded === 'object' && loaded !== null ? Reflect.get(loaded, 'parameterCache') : null;
  if (!(kept instanceof Map)) throw new TypeError('The parser remembers elsewhere.');
  return kept;
}
