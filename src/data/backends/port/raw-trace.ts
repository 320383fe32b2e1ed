import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';

type RawTrace = ExplorerSchemas['RawTrace'];

/** Item of a trace in Parity's format. Nodes write null for some fields that an item does not have. */
export interface NodeTraceItem {
  readonly type: string;
  readonly action: OrNull<RawTrace['action']>;
  readonly result?: OrNull<NonNullable<RawTrace['result']>> | null | undefined;
  readonly error?: string | null | undefined;
  readonly subtraces: number;
  readonly traceAddress: number[];
  readonly transactionHash?: string | null | undefined;
  readonly transactionPosition?: number | null | undefined;
  readonly blockHash?: string | null | undefined;
  readonly blockNumber?: number | null | undefined;
}

type OrNull<Fields> = { readonly [Key in keyof Fields]: Fields[Key] | null | undefined };

/** Converts an item to the contract's record. Additional fields and nulls are left out (Decision 50). */
export function rawTraceOf(item: NodeTraceItem, transactionHash: string): RawTrace {
  const { action, result, error, subtraces, traceAddress, type } = item;
  const { transactionPosition, blockHash, blockNumber } = item;
  return {
    action: actionOf(action),
    result: result === null || result === undefined ? null : resultOf(result),
    ...present({ error }),
    subtraces,
    traceAddress,
    transactionHash: item.transactionHash ?? transactionHash,
    ...present({ transactionPosition, blockHash, blockNumber }),
    type,
  };
}

function actionOf(action: NodeTraceItem['action']): RawTrace['action'] {
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

function resultOf({ gasUsed, output, address, code }: NonNullable<NodeTraceItem['result']>) {
  return present({ gasUsed, output, address, code });
}

type Present<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined | null> };

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
