import type { Address, Hash, Hex } from 'viem';
import { bytesColumn, nullableBoolean, nullableUint, uintOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import type { RowIn } from '#db/select/select.ts';
import { positionOf } from '../../schema/block-position.ts';
import { hashList, unknownList } from '../../schema/json-lists.ts';
import { select } from '../../schema/select.ts';
import { FACT_SETS, factsOf, type TransactionType, typesOfFacts } from '../../schema/transaction-types.ts';
import { type Direction, sidesOf } from '../address-sides.ts';
import { type Branch, EVERYTHING, type Page, type PageRequest, pageOf } from '../page.ts';

export interface TransactionQuery extends PageRequest {
  /** Transactions with at least one of these types. */
  types?: readonly TransactionType[] | undefined;
  /** Transactions with one of these four-byte selectors. */
  selectors?: readonly Hex[] | undefined;
  blockNumber?: number;
  /** Transactions of an address. Ignores `types` and `selectors`. */
  ofAddress?: { readonly address: Address; readonly direction?: Direction | undefined };
}

/** Mined transactions, newest first. */
export async function transactions(handle: Handle, query: TransactionQuery): Promise<Page<TransactionRow>> {
  const { before, limit, blockNumber } = query;
  const page = await pageOf(
    handle,
    {
      table: 'transactions',
      branches: branchesOf(query),
      blockNumber,
      limit,
      before,
    },
    isAmong => TRANSACTION.rows(handle, `where t.id ${isAmong.sql}`, isAmong.bindings),
  );
  return { ...page, items: page.items.map(transactionOf) };
}

/** A mined transaction; null when it is in no canonical block. */
export async function transactionByHash(handle: Handle, hash: Hash): Promise<TransactionRow | null> {
  const [row] = await TRANSACTION.rows(handle, 'where t.hash = ?', [bytesColumn(hash)]);
  return row === undefined ? null : transactionOf(row);
}

/**
 * Index ranges of a query. A condition on bits cannot use an index, but there are only a few sets of types: each set
 * that contains a requested type is one branch. Contract creations have no selector.
 */
function branchesOf({ types, selectors, ofAddress }: TransactionQuery): Branch[] {
  if (ofAddress !== undefined) return sidesOf(ofAddress, SIDES);
  if (types === undefined && selectors === undefined) return [EVERYTHING];
  const sets = Array.from({ length: FACT_SETS }, (_, facts) => facts);
  const wanted = types === undefined ? sets : sets.filter(facts => (facts & factsOf(types)) !== 0);
  if (selectors === undefined) {
    return wanted.map(facts => ({ columns: ['facts'], values: [facts] }));
  }
  const creation = factsOf(['contract_creation', 'token_creation']);
  const withSelector = wanted.filter(facts => (facts & creation) === 0);
  return [...new Set(selectors)].flatMap(selector =>
    withSelector.map(facts => ({
      columns: ['selector', 'facts'],
      values: [bytesColumn(selector), facts],
    })),
  );
}

/** `to` includes the creation of the address (Decision 235). */
const SIDES = { from: ['from_address'], to: ['to_address', 'created_contract'] } as const;

/** Key by which logs, transfers and calls refer to a transaction; null when it is in no canonical block. */
export async function transactionKey(handle: Handle, hash: Hash): Promise<number | null> {
  const [row] = await select({ from: 'transactions', columns: ['id'] }).rows(handle, 'where hash = ?', [
    bytesColumn(hash),
  ]);
  return row?.id ?? null;
}

/** A mined transaction. Amounts are wei; times UTC milliseconds; hex is lower case. */
export interface TransactionRow {
  hash: Hash;
  blockNumber: number;
  /** Position in the block. */
  index: number;
  blockHash: Hash;
  timestamp: number;
  /** Time of the parent block; null when it is not indexed. */
  parentTimestamp: number | null;
  from: Address;
  /** Null for a creation. */
  to: Address | null;
  value: bigint;
  nonce: bigint;
  gasLimit: bigint;
  /** Null when the receipt is missing, like all that only a receipt says: the status, the fee, logs and transfers. */
  gasUsed: bigint | null;
  /** Price actually paid per unit of gas. */
  gasPrice: bigint;
  maxFeePerGas: bigint | null;
  maxPriorityFeePerGas: bigint | null;
  /** Base fee of the block. It and the two fees derived from it are null before London, the fees without a receipt. */
  baseFeePerGas: bigint | null;
  burntFee: bigint | null;
  priorityFee: bigint | null;
  /** Total paid, including the blob fee. */
  fee: bigint | null;
  maxFeePerBlobGas: bigint | null;
  blobGasUsed: number | null;
  blobGasPrice: bigint | null;
  blobHashes: Hash[];
  /** EIP-7702 authorizations as the node returned them. */
  authorizationList: unknown[];
  /** EIP-2718 type: 0 to 4, and others on rollups. */
  type: number;
  /** Null before Byzantium, and without a receipt. */
  status: 'ok' | 'error' | null;
  input: Hex;
  /** First four bytes of a call's input. */
  selector: Hex | null;
  createdContract: Address | null;
  /** Error text of the node for a failed transaction; null on success, or when the node does not trace. */
  error: string | null;
  /** Encoded revert reason of a failed transaction, see `Abis.decodeRevert`. */
  revertOutput: Hex | null;
  /** Null when untraced. */
  hasInternalError: boolean | null;
  types: TransactionType[];
  tokenTransferCount: number | null;
  /** True when its block was recomputed up to its hash. */
  isProven: boolean;
}

/** The order of the tables prevents SQLite from starting with the blocks: the page's keys must come first. */
const TRANSACTION = select({
  from: 'transactions t',
  join: ['blocks b on b.number = t.id >> 20'],
  hex: ['t.*', 'b.hash as block_hash'],
  columns: ['b.base_fee_per_gas', 'b.proven'],
  computed: {
    parent_timestamp: ['time?', '(select p.timestamp from blocks p where p.number = (t.id >> 20) - 1)'],
  },
});
type TransactionColumns = RowIn<typeof TRANSACTION>;

function transactionOf(row: TransactionColumns): TransactionRow {
  const gasUsed = row.gas_used === null ? null : BigInt(row.gas_used);
  return {
    hash: row.hash,
    ...positionOf(row.id),
    blockHash: row.block_hash,
    timestamp: row.timestamp,
    parentTimestamp: row.parent_timestamp,
    from: row.from_address,
    to: row.to_address,
    value: uintOf(row.value),
    nonce: uintOf(row.nonce),
    gasLimit: uintOf(row.gas_limit),
    gasUsed,
    gasPrice: uintOf(row.gas_price),
    maxFeePerGas: nullableUint(row.max_fee_per_gas),
    maxPriorityFeePerGas: nullableUint(row.max_priority_fee_per_gas),
    ...feesOf(row, gasUsed),
    fee: nullableUint(row.fee),
    maxFeePerBlobGas: nullableUint(row.max_fee_per_blob_gas),
    blobGasUsed: row.blob_gas_used,
    blobGasPrice: nullableUint(row.blob_gas_price),
    blobHashes: hashList(row.blob_hashes),
    authorizationList: unknownList(row.authorization_list),
    type: row.type,
    status: row.status === null ? null : row.status === 1 ? 'ok' : 'error',
    input: row.input,
    selector: row.selector,
    createdContract: row.created_contract,
    error: row.error,
    revertOutput: row.output,
    hasInternalError: nullableBoolean(row.has_internal_error),
    types: typesOfFacts(row.facts),
    tokenTransferCount: row.token_transfer_count,
    isProven: row.proven === 1,
  };
}

/** Fee parts of a transaction. A system transaction may pay less than the base fee, and all of it is burnt. */
function feesOf(row: TransactionColumns, gasUsed: bigint | null) {
  const baseFeePerGas = nullableUint(row.base_fee_per_gas);
  if (baseFeePerGas === null || gasUsed === null) return { baseFeePerGas, burntFee: null, priorityFee: null };
  const gasPrice = uintOf(row.gas_price);
  const burnt = gasPrice < baseFeePerGas ? gasPrice : baseFeePerGas;
  return { baseFeePerGas, burntFee: gasUsed * burnt, priorityFee: gasUsed * (gasPrice - burnt) };
}
