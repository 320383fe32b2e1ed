import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { parityOfFrame } from '#evm/traces.ts';
import { isObject } from '#lib/json.ts';
import { type NodeTraceItem, rawTrace as shaped } from '../../port/raw-trace.ts';
import { at, each, type Fields, fieldsOf, required, Unreadable } from '../../upstream-json/fields.ts';
import {
  addressHashOrNull,
  countOrNull,
  hashOrNull,
  hexOrNull,
  textOrNull,
} from '../../upstream-json/values.ts';
import { callFrame } from './call-frame.ts';

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
