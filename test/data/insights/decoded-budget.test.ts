import { type AbiEvent, encodeAbiParameters, type Hex, toEventSelector } from 'viem';
import { expect, test } from 'vitest';
import { namedEvent } from '#data/insights/event-signature.ts';
import { recordDecoders } from '#indexer/query/records/record-decoder.ts';
import { recordWriter } from '#indexer/query/records/record-writers.ts';

const WORD: Hex = `0x${'00'.repeat(31)}07`;

function eventWith(topic0: Hex, data: Hex) {
  return {
    chain_id: 1n,
    block_number: 1n,
    block_hash: WORD,
    block_timestamp: 1n,
    transaction_hash: WORD,
    transaction_index: 0n,
    log_index: 0n,
    address: `0x${'aa'.repeat(20)}`,
    topic_0: topic0,
    topic_1: WORD,
    topic_2: null,
    topic_3: null,
    data,
  };
}

/** Reads events of that ABI, and decodes at most this many bytes. */
function decodingReader(like: AbiEvent | undefined, left: number) {
  const decoding = { mostBytes: left, ...(like === undefined ? {} : { like }) };
  const decoder = recordDecoders([])(decoding);
  return (row: ReturnType<typeof eventWith>): { readonly data: string; readonly decoded?: object } =>
    JSON.parse(recordWriter({ entity: 'events', fields: Object.keys(row), decoder })(Object.values(row)));
}

test('once the decoding budget of an answer is spent, later records are not decoded', () => {
  const { abi } = namedEvent('Said(uint256 indexed about, bytes what)');
  const data = encodeAbiParameters([{ type: 'bytes' }], [`0x${'11'.repeat(1000)}`]);
  const row = eventWith(toEventSelector('Said(uint256,bytes)'), data);
  const events = decodingReader(abi, 10_000);
  const records = [row, row, row, row, row].map(events);

  expect(records.map(({ decoded }) => decoded !== undefined)).toEqual([true, true, true, false, false]);
  expect(records.map(record => record.data)).toEqual([data, data, data, data, data]);
});

test('long names in decoded values count towards the budget', () => {
  const name = 'n'.repeat(900);
  const { abi } = namedEvent(`Said(uint256 indexed about, (uint256 ${name})[] what)`);
  const parts = Array.from({ length: 100 }, () => ({ part: 1n }));
  const type = { type: 'tuple[]', components: [{ type: 'uint256', name: 'part' }] } as const;
  const data = encodeAbiParameters([type], [parts]);
  const row = eventWith(toEventSelector('Said(uint256,(uint256)[])'), data);
  const events = decodingReader(abi, 50_000);

  expect(events(row).decoded).toBeUndefined();
});
