import type { RpcTransaction } from '../rpc.ts';
import { dataBytes, EMPTY, MalformedValue, quantityBytes } from './bytes.ts';
import { type RlpItem, rlp } from './rlp.ts';

type Reader = (transaction: RpcTransaction) => RlpItem;

/** Names of the fields of a transaction that are hexadecimal text. */
type TextField = {
  [Name in keyof RpcTransaction]-?: RpcTransaction[Name] extends string | null | undefined ? Name : never;
}[keyof RpcTransaction];

function read<Name extends TextField>(
  bytesOf: (text: string | null | undefined) => Uint8Array,
  names: readonly Name[],
): Readonly<Record<Name, Reader>> {
  const readers = names.map(name => [name, (one: RpcTransaction) => bytesOf(one[name])]);
  return Object.fromEntries(readers);
}

const FIELDS = {
  ...read(quantityBytes, [
    ...([
      'chainId',
      'nonce',
      'gasPrice',
      'maxPriorityFeePerGas',
      'maxFeePerGas',
      'maxFeePerBlobGas',
    ] as const),
    ...(['gas', 'value', 'v', 'r', 's', 'maxRefund', 'submissionFeeRefund', 'l1BaseFee'] as const),
    ...(['depositValue', 'retryValue', 'maxSubmissionFee'] as const),
  ]),
  ...read(dataBytes, [
    ...(['from', 'input', 'sourceHash', 'requestId', 'ticketId', 'refundTo'] as const),
    ...(['beneficiary', 'retryData'] as const),
  ]),
  to: ({ to }) => receiverBytes(to),
  retryTo: ({ retryTo }) => receiverBytes(retryTo),
  mint: ({ mint }) => quantityBytes(mint ?? '0x0'),
  yParity: ({ yParity, v }) => quantityBytes(yParity ?? v),
  /** Nitro names the fee cap of its own types differently by version. */
  feeCap: ({ maxFeePerGas, gasPrice }) => quantityBytes(maxFeePerGas ?? gasPrice),
  isSystemTx: ({ isSystemTx }) => (isSystemTx === true ? Buffer.of(1) : EMPTY),
  accessList: ({ accessList }) =>
    (accessList ?? []).map(({ address, storageKeys }) => [dataBytes(address), storageKeys.map(dataBytes)]),
  authorizationList: ({ authorizationList }) =>
    (authorizationList ?? []).map(({ chainId, address, nonce, yParity, r, s }) => [
      ...[quantityBytes(chainId), dataBytes(address), quantityBytes(nonce)],
      ...[yParity, r, s].map(quantityBytes),
    ]),
  blobVersionedHashes: ({ blobVersionedHashes }) => (blobVersionedHashes ?? []).map(dataBytes),
} as const satisfies Record<string, Reader>;

/** Bytes of an address; none for a creation. */
function receiverBytes(receiver: string | null | undefined): Uint8Array {
  if (receiver === null || receiver === undefined) return EMPTY;
  const bytes = dataBytes(receiver);
  if (bytes.length === 0) throw new MalformedValue(receiver);
  return bytes;
}

type Field = keyof typeof FIELDS;

const CALL = ['gas', 'to', 'value', 'input'] as const;
const SIGNATURE = ['yParity', 'r', 's'] as const;
const FEE_MARKET = [
  'chainId',
  'nonce',
  'maxPriorityFeePerGas',
  'maxFeePerGas',
  ...CALL,
  'accessList',
] as const;

/**
 * Fields of each type in the order of its encoding. Sources: EIP-155, 2930, 1559, 4844 and 7702; of 0x7e the
 * specification of Optimism, "Deposits"; of 0x64 to 0x6a `arb_types.go` in the go-ethereum of Arbitrum Nitro.
 */
const ENCODINGS: Readonly<Record<number, readonly Field[]>> = {
  0: ['nonce', 'gasPrice', ...CALL, 'v', 'r', 's'],
  1: ['chainId', 'nonce', 'gasPrice', ...CALL, 'accessList', ...SIGNATURE],
  2: [...FEE_MARKET, ...SIGNATURE],
  3: [...FEE_MARKET, 'maxFeePerBlobGas', 'blobVersionedHashes', ...SIGNATURE],
  4: [...FEE_MARKET, 'authorizationList', ...SIGNATURE],
  100: ['chainId', 'requestId', 'from', 'to', 'value'],
  101: ['chainId', 'from', 'nonce', 'feeCap', ...CALL],
  102: ['chainId', 'requestId', 'from', 'feeCap', ...CALL],
  104: [
    ...(['chainId', 'nonce', 'from', 'feeCap', ...CALL, 'ticketId', 'refundTo', 'maxRefund'] as const),
    'submissionFeeRefund',
  ],
  105: [
    ...(['chainId', 'requestId', 'from', 'l1BaseFee', 'depositValue', 'feeCap', 'gas', 'retryTo'] as const),
    ...(['retryValue', 'beneficiary', 'maxSubmissionFee', 'refundTo', 'retryData'] as const),
  ],
  106: ['chainId', 'input'],
  126: ['sourceHash', 'from', 'to', 'mint', 'value', 'gas', 'isSystemTx', 'input'],
};

/** Type of a transaction with blobs. Source: EIP-4844. */
export const BLOBS = 0x03;
/** Type of a deposit of an OP-stack chain. */
export const OP_DEPOSIT = 0x7e;

/** Number of the type of a transaction. One without a type is of the first. Source: EIP-2718. */
export function transactionType({ type }: Pick<RpcTransaction, 'type'>): number {
  return type === null || type === undefined ? 0 : Number(type);
}

/**
 * Encoding of a transaction, whose hash is the hash of the transaction. Undefined for a type that is not known here,
 * and for one that should be signed and is not, as some chains list work of their own and development chains sign for
 * any account.
 * @throws MalformedValue
 */
export function encodedTransaction(transaction: RpcTransaction): Uint8Array | undefined {
  const type = transactionType(transaction);
  const fields = ENCODINGS[type];
  if (fields === undefined || (!isOfChainItself(transaction) && !isSigned(transaction))) return undefined;
  const items = fields.map(field => FIELDS[field](transaction));
  return rlp(items, type === 0 ? undefined : type);
}

/** Fields that only some types of transactions of accounts have. */
const OF_SOME_TYPES = [
  ...(['accessList', 'authorizationList', 'blobVersionedHashes'] as const),
  ...(['maxFeePerGas', 'maxPriorityFeePerGas', 'maxFeePerBlobGas'] as const),
];

/**
 * A transaction without fields that its type does not have, to which its hash does not commit, and with the parity of its
 * signature as `v`, if that is what it commits to.
 */
export function withFieldsOfType(transaction: RpcTransaction): RpcTransaction {
  const fields = ENCODINGS[transactionType(transaction)];
  if (fields === undefined || isOfChainItself(transaction)) return transaction;
  const { yParity, v } = transaction;
  const parity = fields.includes('yParity') ? (yParity ?? v) : v;
  const foreign = OF_SOME_TYPES.filter(name => transaction[name] !== undefined && !fields.includes(name));
  if (foreign.length === 0 && parity === v) return transaction;
  return { ...transaction, ...Object.fromEntries(foreign.map(name => [name, null])), v: parity ?? null };
}

export function hasKnownType(transaction: Pick<RpcTransaction, 'type'>): boolean {
  return ENCODINGS[transactionType(transaction)] !== undefined;
}

/** True for the types without a signature, which a rollup adds by itself. */
export function isOfChainItself(transaction: Pick<RpcTransaction, 'type'>): boolean {
  return transactionType(transaction) >= 0x64;
}

/** False for the stand-ins of a signature, whose two numbers are equal. */
function isSigned({ r, s }: RpcTransaction): boolean {
  return r !== s;
}
