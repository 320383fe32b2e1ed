import type { Hash } from 'viem';
import type { ExplorerSchemas } from '../../../../contract/explorer.ts';
import type { TraceItem } from '../../../../indexer/reader/node.ts';

type RawTrace = ExplorerSchemas['RawTrace'];

/** One item of a trace with the keys that the contract has; what a node adds beyond them is left out. */
export function rawTrace(item: TraceItem, hash: Hash): RawTrace {
  const { action, result, error, subtraces, traceAddress, type } = item;
  const { transactionPosition, blockHash, blockNumber } = item;
  return {
    action: actionOf(action),
    result: result === null || result === undefined ? null : resultOf(result),
    ...present({ error }),
    subtraces,
    traceAddress,
    transactionHash: item.transactionHash ?? hash,
    ...present({ transactionPosition: transactionPosition ?? undefined, blockHash, blockNumber }),
    type,
  };
}

function actionOf(action: TraceItem['action']): RawTrace['action'] {
  const { callType, creationMethod, from, to, gas, value, input, init } = action;
  const { address, balance, refundAddress, author, rewardType } = action;
  return present({
    callType,
    creationMethod,
    from,
    to,
    gas,
    value,
    input,
    init,
    address,
    balance,
    refundAddress,
    author,
    rewardType,
  });
}

function resultOf({ gasUsed, output, address, code }: NonNullable<TraceItem['result']>) {
  return present({ gasUsed, output, address, code });
}

type Present<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined | null> };

/** The fields that have a value: Parity writes null for some of those that an item does not have. */
function present<Fields extends Record<string, unknown>>(fields: Fields): Present<Fields> {
  const kept: Present<Fields> = {};
  for (const key in fields) {
    const value = fields[key];
    if (isPresent(value)) kept[key] = value;
  }
  return kept;
}

function isPresent<Value>(value: Value): value is Exclude<Value, undefined | null> {
  return value !== undefined && value !== null;
}
