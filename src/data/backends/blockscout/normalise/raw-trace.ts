import { isHex } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { RpcCallFrame } from '#evm/rpc.ts';
import { parityOfFrame } from '#evm/traces.ts';
import { isObject } from '#lib/json.ts';
import { type NodeTraceItem, rawTraceOf as shaped } from '../../port/raw-trace.ts';
import {
  at,
  each,
  type Fields,
  fieldsOf,
  listOf,
  required,
  UnreadableRecord,
} from '../../upstream-json/fields.ts';
import { eachInTurns } from '../../upstream-json/read-records.ts';
import {
  addressHashOrNull,
  countOrNull,
  hashOrNull,
  hexOrNull,
  textOrNull,
} from '../../upstream-json/values.ts';

/**
 * Converts the trace of one transaction. Since 6.9 upstream passes on its node's trace: a list in Parity's format or,
 * from geth and its relatives, a call tracer's nested frames. Earlier versions build a list from their own records.
 * Only some nodes repeat the transaction hash in each item (Decision 50).
 * @throws UnreadableRecord for any other format, such as the opcode traces of some instances.
 */
export async function rawTrace(
  value: unknown,
  transactionHash: string,
  signal: AbortSignal,
): Promise<ExplorerSchemas['RawTrace'][]> {
  const items = isObject(value) ? parityOfFrame(callFrame(value)) : value;
  if (!Array.isArray(items)) throw new UnreadableRecord('', 'is not a trace');
  return eachInTurns(items, item => shaped(traceItem(item), transactionHash), { signal });
}

function traceItem(value: unknown): NodeTraceItem {
  const item = fieldsOf(value);
  const type = required(textOrNull(item.type), 'type');
  const isCreate2 = type === 'create2'; // a separate type up to 6.8
  const action = at('action', item.action, actionOf);
  return {
    type: isCreate2 ? 'create' : type,
    action: isCreate2 ? { ...action, creationMethod: type } : action,
    result: isObject(item.result) ? resultOf(item.result) : null,
    error: textOrNull(item.error),
    subtraces: required(countOrNull(item.subtraces), 'subtraces'),
    traceAddress: at('traceAddress', item.traceAddress, pathOf),
    transactionHash: hashOrNull(item.transactionHash),
    transactionPosition: countOrNull(item.transactionPosition),
    blockHash: hashOrNull(item.blockHash),
    blockNumber: countOrNull(item.blockNumber),
  };
}

function actionOf(value: unknown): NodeTraceItem['action'] {
  const action = fieldsOf(value);
  return {
    callType: textOrNull(action.callType),
    creationMethod: textOrNull(action.creationMethod),
    from: addressHashOrNull(action.from),
    to: addressHashOrNull(action.to),
    gas: textOrNull(action.gas),
    value: textOrNull(action.value),
    input: hexOrNull(action.input),
    init: hexOrNull(action.init),
    address: addressHashOrNull(action.address),
    balance: textOrNull(action.balance),
    refundAddress: addressHashOrNull(action.refundAddress),
    author: addressHashOrNull(action.author),
    rewardType: textOrNull(action.rewardType),
  };
}

function resultOf(result: Fields): NodeTraceItem['result'] {
  return {
    gasUsed: textOrNull(result.gasUsed),
    output: hexOrNull(result.output),
    address: addressHashOrNull(result.address),
    code: hexOrNull(result.code),
  };
}

function pathOf(value: unknown): number[] {
  if (!Array.isArray(value)) throw new UnreadableRecord('', 'is not a path');
  return each(value, step => required(countOrNull(step), ''));
}

/** Maximum call depth of the EVM. */
const DEEPEST = 1024;

/**
 * Reads a call tracer's frame with its nested frames.
 * @throws UnreadableRecord for a frame without type or sender, and for one deeper than the EVM allows.
 */
function callFrame(value: unknown): RpcCallFrame {
  const outermost = frameOf(value);
  // An explicit stack, because recursion to the deepest frames would overflow the engine's.
  const waiting = [{ frame: outermost, source: fieldsOf(value), path: '', depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const depth = next.depth + 1;
    const calls: RpcCallFrame[] = [];
    for (const [index, call] of listOf(next.source.calls).entries()) {
      const path = `${next.path}calls[${index}]`;
      if (depth > DEEPEST) throw new UnreadableRecord(path, 'is deeper than the EVM allows');
      const frame = at(path, call, frameOf);
      calls.push(frame);
      waiting.push({ frame, source: fieldsOf(call), path: `${path}.`, depth });
    }
    next.frame.calls = calls;
  }
  return outermost;
}

function frameOf(value: unknown): RpcCallFrame {
  const frame: Fields = fieldsOf(value);
  const { from, to, value: sent, gas, gasUsed, input, output } = frame;
  const error = textOrNull(frame.error);
  return {
    type: required(textOrNull(frame.type), 'type'),
    from: required(isHex(from) ? from : null, 'from'),
    ...(isHex(to) ? { to } : {}),
    ...(isHex(sent) ? { value: sent } : {}),
    ...(isHex(gas) ? { gas } : {}),
    ...(isHex(gasUsed) ? { gasUsed } : {}),
    ...(isHex(input) ? { input } : {}),
    ...(isHex(output) ? { output } : {}),
    ...(error === null ? {} : { error }),
  };
}
