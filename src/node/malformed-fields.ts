import type { RpcBlock, RpcLog, RpcReceipt, RpcTransaction, RpcWithdrawal } from '../evm/rpc.ts';
import type { TransactionTrace } from '../evm/traces.ts';
import { isObject } from '../lib/json.ts';

/**
 * First field of a block that cannot be stored as the node sent it, in words; undefined when there is none. A field that
 * a hash covers only has to be readable, because its form is judged by the proof of the block (Decision 384).
 */
export function malformedInBlock(block: unknown): string | undefined {
  const fault = faultOf(block, { forms: BLOCK, name: 'the header' });
  if (fault !== undefined || !isObject(block)) return fault;
  return (
    faultInList(block.transactions, { forms: [], name: 'transaction', isEntry: isHashOrObject }) ??
    faultInList(block.withdrawals ?? [], { forms: WITHDRAWAL, name: 'withdrawal' })
  );
}

/** The same of transactions, without fields that their type does not have. */
export function malformedInTransactions(transactions: readonly unknown[]): string | undefined {
  return faultInList(transactions, { forms: TRANSACTION, name: 'transaction' });
}

/** The same of receipts with their logs. */
export function malformedInReceipts(receipts: readonly unknown[]): string | undefined {
  const fault = faultInList(receipts, { forms: RECEIPT, name: 'receipt' });
  if (fault !== undefined) return fault;
  return firstFault(receipts, (receipt, at) =>
    isObject(receipt) ? faultInList(receipt.logs, { forms: LOG, name: `receipt ${at}, log` }) : undefined,
  );
}

/** The same of decoded traces. */
export function malformedInTraces(traces: readonly (TransactionTrace | null)[]): string | undefined {
  return firstFault(traces, (trace, at) => {
    if (trace === null) return undefined;
    const name = `trace ${at}`;
    return (
      faultOf(trace, { forms: TRACE, name }) ??
      faultInList(trace.calls, { forms: CALL, name: `${name}, call` })
    );
  });
}

type Form = (value: unknown) => boolean;
type Forms = readonly (readonly [field: string, isWellFormed: Form])[];

/** Forms of fields that the type has. */
function formsOf<Entry>(forms: { readonly [Name in keyof Entry]?: Form }): Forms {
  return Object.entries<Form | undefined>(forms).flatMap(([field, form]) =>
    form ? [[field, form] as const] : [],
  );
}

const matching =
  (pattern: RegExp): Form =>
  value =>
    typeof value === 'string' && pattern.test(value);
const optional =
  (form: Form): Form =>
  value =>
    value === undefined || value === null || form(value);
const listOf =
  (form: Form): Form =>
  value =>
    Array.isArray(value) && value.every(form);
const isHashOrObject: Form = value => typeof value === 'string' || isObject(value);
const isUint: Form = value => typeof value === 'bigint' && value >= 0n && value < 2n ** 256n;

/** A quantity of at most so many digits, apart from leading zeros. Source: Ethereum JSON-RPC, "Hex value encoding". */
const quantity = (digits: number) => matching(new RegExp(`^0x(?=.)0{0,64}[0-9a-f]{0,${digits}}$`, 'i'));
/** The same where a hash covers the field: decimal digits can be read too. */
const readable = (digits: number) =>
  matching(new RegExp(`^(?:0x(?=.)0{0,64}[0-9a-f]{0,${digits}}|\\d{1,${digits}})$`, 'i'));

/** Digits of a number that JavaScript holds exactly, and of a time that is a date in milliseconds. */
const [COUNT, SECONDS] = [13, 10];
/** Digits of an amount that can be multiplied by gas, and of the largest integer. */
const [PRICE, UINT] = [48, 64];
const isAddress = matching(/^0x[0-9a-f]{40}$/i);
const isWord = matching(/^0x[0-9a-f]{64}$/i);
const isHex = matching(/^0x[0-9a-f]*$/i);
const isTopic = matching(/^0x[0-9a-f]{1,64}$/i);
/** Bytes that a hash covers, where at most so many are expected. */
const bytes = (most: number) => matching(new RegExp(`^0x[0-9a-f]{0,${2 * most}}$`, 'i'));

const BLOCK = formsOf<RpcBlock>({
  hash: isWord,
  parentHash: isWord,
  timestamp: readable(SECONDS),
  miner: optional(bytes(20)),
  gasLimit: readable(UINT),
  gasUsed: readable(COUNT),
  baseFeePerGas: optional(readable(UINT)),
  difficulty: optional(readable(UINT)),
  totalDifficulty: optional(quantity(UINT)),
  nonce: optional(bytes(32)),
  extraData: isHex,
  stateRoot: bytes(32),
  sha3Uncles: optional(bytes(32)),
  mixHash: optional(bytes(32)),
  transactionsRoot: optional(bytes(32)),
  receiptsRoot: optional(bytes(32)),
  withdrawalsRoot: optional(bytes(32)),
  blockAccessListHash: optional(bytes(32)),
  logsBloom: optional(bytes(256)),
  size: optional(quantity(COUNT)),
  uncles: optional(listOf(isWord)),
  blobGasUsed: optional(readable(COUNT)),
  excessBlobGas: optional(readable(UINT)),
  slotNumber: optional(readable(COUNT)),
});

const WITHDRAWAL = formsOf<RpcWithdrawal>({
  index: quantity(COUNT),
  validatorIndex: quantity(COUNT),
  address: isAddress,
  amount: quantity(PRICE),
});

const TRANSACTION = formsOf<RpcTransaction>({
  hash: isWord,
  from: isAddress,
  to: optional(bytes(20)),
  nonce: readable(UINT),
  gas: readable(UINT),
  value: readable(UINT),
  input: isHex,
  type: optional(readable(COUNT)),
  gasPrice: optional(quantity(PRICE)),
  maxFeePerGas: optional(readable(UINT)),
  maxPriorityFeePerGas: optional(readable(UINT)),
  maxFeePerBlobGas: optional(readable(UINT)),
  blobVersionedHashes: optional(listOf(isWord)),
  authorizationList: optional(listOf(isObject)),
  accessList: optional(listOf(isObject)),
  r: optional(readable(UINT)),
  s: optional(readable(UINT)),
  v: optional(readable(UINT)),
  yParity: optional(readable(UINT)),
});

const RECEIPT = formsOf<RpcReceipt>({
  transactionHash: isWord,
  blockHash: isWord,
  gasUsed: quantity(COUNT),
  cumulativeGasUsed: optional(readable(COUNT)),
  logsBloom: optional(bytes(256)),
  effectiveGasPrice: optional(quantity(PRICE)),
  blobGasUsed: optional(quantity(COUNT)),
  blobGasPrice: optional(quantity(PRICE)),
  contractAddress: optional(isAddress),
  status: optional(readable(COUNT)),
  logs: Array.isArray,
});

const LOG = formsOf<RpcLog>({
  address: bytes(20),
  topics: listOf(isTopic),
  data: isHex,
  logIndex: quantity(COUNT),
});

const TRACE = formsOf<TransactionTrace>({
  error: optional(value => typeof value === 'string'),
  output: optional(isHex),
});

const CALL = formsOf<TransactionTrace['calls'][number]>({
  type: matching(/^\w{1,40}$/),
  from: isAddress,
  to: optional(isAddress),
  createdContract: optional(isAddress),
  value: isUint,
  gasLimit: isUint,
  gasUsed: isUint,
  error: optional(value => typeof value === 'string'),
});

function faultOf(entry: unknown, { forms, name }: { forms: Forms; name: string }): string | undefined {
  if (!isObject(entry)) return `${name} is malformed`;
  for (const [field, isWellFormed] of forms) {
    if (!isWellFormed(entry[field])) return `${field} of ${name} is malformed`;
  }
  return undefined;
}

function faultInList(
  list: unknown,
  { forms, name, isEntry = isObject }: { forms: Forms; name: string; isEntry?: Form },
): string | undefined {
  if (!Array.isArray(list)) return `the list of each ${name} is malformed`;
  return firstFault(list, (entry, at) => {
    if (!isEntry(entry)) return `${name} ${at} is malformed`;
    return forms.length === 0 ? undefined : faultOf(entry, { forms, name: `${name} ${at}` });
  });
}

function firstFault<Entry>(
  list: readonly Entry[],
  faultIn: (entry: Entry, at: number) => string | undefined,
): string | undefined {
  for (const [at, entry] of list.entries()) {
    const fault = faultIn(entry, at);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
