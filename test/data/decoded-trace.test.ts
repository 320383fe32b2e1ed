import {
  type Address,
  encodeErrorResult,
  encodeFunctionData,
  encodeFunctionResult,
  type Hex,
  parseAbi,
} from 'viem';
import { describe, expect } from 'vitest';
import { decodedTrace } from '#data/backends/own-index/transactions/decoded-trace.ts';
import type { ExplorerSchemas } from '../../src/contract/contracts/explorer.ts';
import { knownAbis } from '../../src/evm/abi/abi.ts';
import { list, record, text } from '../lab/json.ts';
import type { Client } from '../support/contract-client.ts';
import { test } from '../support/served-devnet.ts';

type RawTrace = ExplorerSchemas['RawTrace'];

const POOL: Address = `0x${'ab'.repeat(20)}`;
const ABI = parseAbi([
  'function swap((uint256 amount, address to) order, bytes data) returns (uint256 received, bool isWhole)',
  'function note(string text)',
  'error TooLittle(uint256 left, string why)',
]);
const abis = knownAbis([{ name: 'Pool', address: POOL, abi: ABI }]);
const SWAP = encodeFunctionData({ abi: ABI, functionName: 'swap', args: [{ amount: 5n, to: POOL }, '0x12'] });

function call(
  input: Hex,
  { output, error, to = POOL }: { output?: Hex; error?: string; to?: Address } = {},
): RawTrace {
  return {
    type: 'call',
    action: { callType: 'call', from: POOL, to, input, gas: '0x1', value: '0x0' },
    result: output === undefined ? null : { gasUsed: '0x1', output },
    ...(error === undefined ? {} : { error }),
    subtraces: 0,
    traceAddress: [],
    transactionHash: `0x${'1'.repeat(64)}`,
  };
}

describe('a call of a trace', () => {
  test('has its method, its arguments and what it returned', () => {
    const output = encodeFunctionResult({ abi: ABI, functionName: 'swap', result: [7n, true] });

    const [item] = decodedTrace(abis, [call(SWAP, { output })]);

    expect(item?.decoded).toEqual({
      method_call: 'swap((uint256,address) order, bytes data)',
      method_id: SWAP.slice(2, 10),
      parameters: [
        expect.objectContaining({ name: 'order', type: '(uint256,address)' }),
        { name: 'data', type: 'bytes', value: '0x12' },
      ],
      result: [
        { name: 'received', type: 'uint256', value: '7' },
        { name: 'isWhole', type: 'bool', value: 'true' },
      ],
      revert_reason: null,
    });
  });

  test('has the reason of its failure, with the arguments of a custom error', () => {
    const output = encodeErrorResult({ abi: ABI, errorName: 'TooLittle', args: [3n, 'empty'] });

    const items = decodedTrace(abis, [
      call(SWAP, { output, error: 'Reverted' }),
      call('0xdeadbeef', { output, error: 'Reverted' }),
      call(SWAP, { error: 'Out of gas' }),
    ]);

    expect(items.map(({ decoded }) => [decoded?.method_id, decoded?.result, decoded?.revert_reason])).toEqual(
      [
        [SWAP.slice(2, 10), null, 'TooLittle(3, "empty")'],
        [null, null, 'TooLittle(3, "empty")'],
        [SWAP.slice(2, 10), null, null],
      ],
    );
  });

  test('through a proxy is decoded with the ABI of another contract', () => {
    const [item] = decodedTrace(abis, [call(SWAP, { to: `0x${'cd'.repeat(20)}`, output: '0x' })]);

    expect([item?.decoded?.method_id, item?.decoded?.result]).toEqual([SWAP.slice(2, 10), null]);
  });

  test('that fits no ABI stays as it is', () => {
    const items = [call('0xdeadbeef', { output: '0x' }), call('0x'), call(`${SWAP.slice(0, 74)}` as Hex)];

    expect(decodedTrace(abis, items)).toEqual(items);
  });
});

test('only the first 3,000 calls, and about a megabyte of arguments, are decoded', () => {
  const input = encodeFunctionData({ abi: ABI, functionName: 'note', args: ['x'.repeat(100_000)] });
  const countOf = (items: readonly RawTrace[]) => items.filter(({ decoded }) => decoded !== undefined).length;

  const many = decodedTrace(
    abis,
    Array.from({ length: 3_100 }, () => call(SWAP)),
  );
  const large = decodedTrace(
    abis,
    Array.from({ length: 50 }, () => call(input)),
  );

  expect([countOf(many), countOf(large)]).toEqual([3_000, 9]);
});

describe('over HTTP', () => {
  const newestSale = async (api: Client) => {
    const { body } = await api.get('/explorer/transactions?method=sell');
    return text(record(list(record(body).items)[0]).hash);
  };

  test('a trace is decoded when that is requested, and otherwise as the node reports it', async ({ api }) => {
    const path = `/explorer/transactions/${await newestSale(api)}/raw-trace`;

    const plain = list((await api.get(path)).body).map(record);
    const decoded = list((await api.get(`${path}?decode=true`)).body).map(record);

    expect(plain.every(item => item.decoded === undefined)).toBe(true);
    expect(decoded.map(({ decoded: _, ...item }) => item)).toEqual(plain);
    const calls = decoded.map(item => text(record(item.decoded ?? { method_call: '' }).method_call));
    expect(calls[0]).toMatch(/^sell\(/);
    expect(calls.some(one => one.startsWith('transferFrom('))).toBe(true);
  });
});
