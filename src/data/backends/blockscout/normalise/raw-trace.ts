import { isHex } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { RpcCallFrame } from '#evm/rpc.ts';
import { parityOfFrame } from '#evm/traces.ts';
import { isObject } from '#lib/json.ts';
import { type NodeTraceItem, rawTrace as shaped } from '../../port/raw-trace.ts';
import { at, each, type Fields, fieldsOf, listOf, required, Unreadable } from '../../upstream-json/fields.ts';
import {
  addressHashOrNull,
  countOrNull,
  hashOrNull,
  hexOrNull,
  textOrNull,
} from '../../upstream-json/values.ts';

/**
 * The trace of one transaction. From 6.9 on it is what upstream's node said: a list in Parity's form or, from geth and
 * its kin, the outermost frame of the call tracer with the others inside; before, a list that upstream made from its
 * own records. Only some nodes repeat the hash of the transaction in each item. Decision 50.
 * @throws Unreadable when it is neither, such as the opcodes that some instances trace.
 */
export function rawTrace(value: unknown, transactionHash: string): ExplorerSchemas['RawTrace'][] {
  const items = isObject(value) ? parityOfFrame(callFrame(value)) : value;
  if (!Array.isArray(items)) throw new Unreadable('', 'is not a trace');
  return each(items, item => shaped(traceItem(item), transactionHash));
}

function traceItem(value: unknown): NodeTraceItem {
  const item = fieldsOf(value);
  const type = required(textOrNull(item.type), 'type');
  const isCreate2 = type === 'create2'; // a kind of its own up to 6.8
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
  if (!Array.isArray(value)) throw new Unreadable('', 'is not a path');
  return each(value, step => required(countOrNull(step), ''));
}

/** Calls within calls that the EVM allows. */
const DEEPEST = 1024;

/**
 * The frame of a call tracer with all that are inside it.
 * @throws Unreadable for a frame without kind or sender, and for one deeper than the EVM goes.
 */
function callFrame(value: unknown): RpcCallFrame {
  const outermost = frameOf(value);
  // A stack of our own: the deepest frames would overflow that of the engine.
  const waiting = [{ frame: outermost, source: fieldsOf(value), path: '', depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const depth = next.depth + 1;
    const calls: RpcCallFrame[] = [];
    for (const [index, call] of listOf(next.source.calls).entries()) {
      const path = `${next.path}calls[${index}]`;
      if (depth > DEEPEST) throw new Unreadable(path, 'is deeper than the EVM goes');
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
