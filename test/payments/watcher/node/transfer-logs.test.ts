import { numberToHex, type RpcLog } from 'viem';
import { expect, test } from 'vitest';
import { isObject } from '#lib/json.ts';
import { silentLogger } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';
import { AnswerTooLarge, NodeFailure, WrongChain } from '#node/transport/errors.ts';
import { isInBlock } from '#payments/watcher/node/token-transfers.ts';
import { setAsideReasonOf, transferLogs } from '#payments/watcher/node/transfer-logs.ts';
import { hostileNode } from '../../../support/hostile-node.ts';

const FILTER = { tokens: [`0x${'70'.repeat(20)}`], recipients: [`0x${'5e'.repeat(20)}`] };

/** The ranges of blocks that a node is asked for, when these are passed over. */
async function rangesAsked(from: number, to: number, skipped: readonly number[]) {
  const ranges: (readonly [number, number])[] = [];
  await using node = await hostileNode((_, __, well) =>
    well(({ method, params: [filter] }) => {
      if (method !== 'eth_getLogs' || !isObject(filter)) return undefined;
      ranges.push([Number(filter.fromBlock), Number(filter.toBlock)]);
      return [];
    }),
  );
  const client = createChainClient({ id: 1, rpcUrls: [node.url], timeoutMs: 30_000, log: silentLogger() });

  await transferLogs(client.request, { from, to }, { filters: [FILTER], skipped: new Set(skipped) });

  return ranges.toSorted(([a], [b]) => a - b);
}

test.each<[string, readonly number[], readonly (readonly [number, number])[]]>([
  ['no block', [], [[1, 10]]],
  ['blocks at both ends', [10, 1], [[2, 9]]],
  [
    'two neighbours',
    [5, 4],
    [
      [1, 3],
      [6, 10],
    ],
  ],
  [
    'a block at a distance of one',
    [2, 4],
    [
      [1, 1],
      [3, 3],
      [5, 10],
    ],
  ],
  ['blocks outside of the range', [0, 11], [[1, 10]]],
  ['all blocks', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], []],
])('with %s passed over, the others are asked for', async (_, skipped, ranges) => {
  expect(await rangesAsked(1, 10, skipped)).toEqual(ranges);
});

test('a part of a chain is unread for the fault of a node, and for no other error', () => {
  expect(setAsideReasonOf(new AnswerTooLarge({ method: 'eth_getLogs', limitBytes: 1 }))).toBe('too_large');
  expect(setAsideReasonOf(new NodeFailure({ host: 'node', fault: 'timeout' }))).toBe('unanswered');
  const defect = new TypeError('a defect of ours');
  expect(() => setAsideReasonOf(defect)).toThrow(defect);
  const otherChain = new WrongChain(1, 2);
  expect(() => setAsideReasonOf(otherChain)).toThrow(otherChain);
});

test('a log belongs to the block that it names by number and hash, unless it is pending or removed', () => {
  const header = { number: 7, hash: `0x${'ab'.repeat(32)}`, time: 0 };
  const log: RpcLog = {
    address: `0x${'70'.repeat(20)}`,
    blockHash: `0x${'AB'.repeat(32)}`,
    blockNumber: numberToHex(7),
    data: '0x',
    logIndex: '0x0',
    removed: false,
    topics: [],
    transactionHash: `0x${'cd'.repeat(32)}`,
    transactionIndex: '0x0',
  };

  expect(isInBlock(log, header)).toBe(true);
  for (const changes of [
    { removed: true },
    { logIndex: null },
    { transactionHash: null },
    { blockNumber: null },
    { blockNumber: numberToHex(8) },
    { blockHash: null },
    { blockHash: `0x${'ac'.repeat(32)}` as const },
  ]) {
    expect([changes, isInBlock({ ...log, ...changes }, header)]).toEqual([changes, false]);
  }
});
