import { isObject } from '#lib/json.ts';
import {
  type Change,
  type Entry,
  type LieAbout,
  listOf,
  numberOf,
  ofBlock,
  ofReceipt,
  ofTransaction,
} from './changed-answers.ts';
import type { NodeLie } from './node-lies.ts';

/** Longer than any field, and than a line of the log. */
const LONG = 'x'.repeat(100_000);
const ADDRESS = `0x${'07'.repeat(20)}`;
const TOO_LARGE = `0x1${'00'.repeat(32)}`;

/** Malformed values of fields to which no hash commits. */
const RECEIPT: readonly Entry[] = [
  ...['1000', 'abc', '', '-0x1', 7, null, TOO_LARGE, LONG].map(gasUsed => ({ gasUsed })),
  ...['1000', 'abc', {}, `0x${'f'.repeat(64)}`].map(effectiveGasPrice => ({ effectiveGasPrice })),
  ...['0x12', `${ADDRESS}07`, 'abc', 7, LONG].map(contractAddress => ({ contractAddress })),
  { blobGasUsed: 'abc' },
  { blobGasUsed: '0x1', blobGasPrice: 'abc' },
  { transactionHash: 7 },
  { blockHash: 'abc' },
  { logs: null },
  { logs: [null] },
];
const LOG: readonly Entry[] = [
  ...['abc', '0', -1, null, TOO_LARGE].map(logIndex => ({ logIndex })),
  { topics: null },
  { topics: [7] },
  { data: 7 },
  { address: null },
];
const BLOCK: readonly Entry[] = [
  ...['abc', '1000', 7, {}, TOO_LARGE].map(size => ({ size })),
  { totalDifficulty: 'abc' },
  { uncles: 'abc' },
  { uncles: [LONG] },
  { withdrawals: 7 },
  { withdrawals: [null] },
  ...['index', 'validatorIndex', 'address', 'amount'].map(field => ({
    withdrawals: [{ index: '0x0', validatorIndex: '0x1', address: ADDRESS, amount: '0x7', [field]: 'abc' }],
  })),
  { gasUsed: 'abc' },
  { timestamp: 'abc' },
  { timestamp: TOO_LARGE },
  { transactions: null },
  { transactions: [7] },
];
const TRANSACTION: readonly Entry[] = [
  { gasPrice: 'abc' },
  { from: '0x12' },
  { value: 'abc' },
  { input: 7 },
  { type: 'abc' },
];
const CALL = { callType: 'call', from: ADDRESS, to: ADDRESS, gas: '0x7', value: '0x0' };
/** An inner call that a node adds to the traces of the first transaction. */
const INNER: readonly Entry[] = [
  ...['abc', '-1', {}, TOO_LARGE, LONG].map(value => ({ action: { ...CALL, value } })),
  { action: { ...CALL, from: '0x12' } },
  { action: { ...CALL, to: LONG } },
  { action: { ...CALL, callType: LONG } },
  { action: null },
  { error: 7 },
  { traceAddress: 'abc' },
  { result: { gasUsed: 'abc' } },
  { type: 'create', result: { gasUsed: '0x7', address: '0x12' } },
];

/**
 * Answers about a block with a value of a wrong form, one value after another. The first transaction of the block has a
 * log. `hasTraceBlock` is false for a node without that method.
 */
export function malformedValues({ hasTraceBlock }: { hasTraceBlock: boolean }): readonly NodeLie[] {
  const lies = (part: string, values: readonly Entry[], about: (value: Entry) => LieAbout) =>
    values.map((value): NodeLie => {
      const name = `sends ${JSON.stringify(value).slice(0, 80)} in ${part}`;
      return { name, kind: 'contents', about: about(value) };
    });
  const changed =
    (value: Entry): Change =>
    one => ({ ...one, ...value });
  return [
    ...lies('a receipt', RECEIPT, value => ofReceipt(0, changed(value))),
    ...lies('a log', LOG, value =>
      ofReceipt(0, one => ({ ...one, logs: listOf(one.logs).map(log => ({ ...Object(log), ...value })) })),
    ),
    ...lies('the block', BLOCK, value => ofBlock(changed(value))),
    ...lies('a transaction', TRANSACTION, value => ofTransaction(0, changed(value))),
    ...lies('an inner call', hasTraceBlock ? INNER : [], withInnerCall),
  ];
}

function withInnerCall(value: Entry): LieAbout {
  return ({ from }) =>
    ({ method }, answer) => {
      if (method !== 'trace_block' || !Array.isArray(answer)) return undefined;
      const [first] = answer;
      if (!isObject(first) || numberOf(first) !== from) return undefined;
      const { result, ...outer } = first;
      const inner = { ...outer, action: CALL, result: { gasUsed: '0x7', output: '0x' }, traceAddress: [0] };
      return [first, { ...inner, ...value }, ...answer.slice(1)];
    };
}

/** One malformed value in each part of a block, for tests that must be quick. */
export function malformedSamples(node: { hasTraceBlock: boolean }): readonly NodeLie[] {
  const parts = Map.groupBy(malformedValues(node), ({ name }) => name.split(' in ').at(-1));
  return [...parts.values()].flatMap(([first]) => first ?? []);
}
