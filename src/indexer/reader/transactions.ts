import type { Address, Hash, Hex } from 'viem';
import { bytesColumn } from '../../db/columns.ts';
import { placeholders } from '../../db/insert.ts';
import type { Handle } from '../../db/open.ts';
import { FACT_SETS, factsOf, type TransactionType } from '../facts.ts';
import { type Branch, EVERYTHING, inOrder, type Page, type PageRequest, pageKeys } from './page.ts';
import { SELECT_TRANSACTION, type TransactionColumns, transactionOf } from './transaction-row.ts';

/** A mined transaction. Amounts are wei; times UTC milliseconds; hex is lower case. */
export interface TransactionRow {
  hash: Hash;
  blockNumber: number;
  /** Position in the block. */
  index: number;
  blockHash: Hash;
  timestamp: number;
  /** Of the parent block; null when that is not indexed. */
  parentTimestamp: number | null;
  from: Address;
  /** Null for a creation. */
  to: Address | null;
  value: bigint;
  nonce: bigint;
  gasLimit: bigint;
  gasUsed: bigint;
  /** The price really paid for a unit of gas. */
  gasPrice: bigint;
  maxFeePerGas: bigint | null;
  maxPriorityFeePerGas: bigint | null;
  /** Of the block; null before London, as are the two derived from it. */
  baseFeePerGas: bigint | null;
  burntFee: bigint | null;
  priorityFee: bigint | null;
  /** All that was paid, blob fee included. */
  fee: bigint;
  maxFeePerBlobGas: bigint | null;
  blobGasUsed: number | null;
  blobGasPrice: bigint | null;
  blobHashes: Hash[];
  /** EIP-7702 authorizations as the node gave them. */
  authorizationList: unknown[];
  /** EIP-2718 type: 0 to 4, others on rollups. */
  type: number;
  /** Null before Byzantium. */
  status: 'ok' | 'error' | null;
  input: Hex;
  /** First four bytes of a call's input. */
  selector: Hex | null;
  createdContract: Address | null;
  /** The node's words for why it failed; null when it did not, or the node does not trace. */
  error: string | null;
  /** Encoded revert reason of a failed transaction, see `Abis.decodeRevert`. */
  revertOutput: Hex | null;
  /** Null when untraced. */
  hasInternalError: boolean | null;
  types: TransactionType[];
  tokenTransferCount: number;
}

export interface TransactionQuery extends PageRequest {
  /** Any of these. */
  types?: readonly TransactionType[];
  /** Any of these four-byte selectors. */
  selectors?: readonly Hex[];
  blockNumber?: number;
}

/** Mined transactions, newest first. */
export async function transactions(handle: Handle, query: TransactionQuery): Promise<Page<TransactionRow>> {
  const { before, limit, blockNumber } = query;
  const { keys, hasMore } = await pageKeys(handle, {
    table: 'transactions',
    branches: branchesOf(query),
    blockNumber,
    limit,
    ...(before === undefined ? {} : { before }),
  });
  const rows = await handle.raw<TransactionColumns[]>(
    `${SELECT_TRANSACTION} where t.id in (${placeholders(keys.length)})`,
    keys,
  );
  return { items: inOrder(keys, rows).map(transactionOf), hasMore };
}

/** Null when no canonical block holds it. */
export async function transactionByHash(handle: Handle, hash: Hash): Promise<TransactionRow | null> {
  const [row] = await handle.raw<TransactionColumns[]>(`${SELECT_TRANSACTION} where t.hash = ?`, [
    bytesColumn(hash),
  ]);
  return row === undefined ? null : transactionOf(row);
}

/**
 * A condition on bits has no index, but there are few sets of them: a branch for each set that has one of the
 * wanted types. With a selector only the sets that a call can have remain.
 */
function branchesOf({ types, selectors }: TransactionQuery): Branch[] {
  if (types === undefined && selectors === undefined) return [EVERYTHING];
  const sets = Array.from({ length: FACT_SETS }, (_, facts) => facts);
  const wanted = types === undefined ? sets : sets.filter(facts => (facts & factsOf(types)) !== 0);
  if (selectors === undefined) {
    return wanted.map(facts => ({ where: 'facts = ?', bindings: [facts] }));
  }
  const call = factsOf(['contract_call']);
  const never = factsOf(['contract_creation', 'token_creation']);
  const ofCalls = wanted.filter(facts => (facts & call) !== 0 && (facts & never) === 0);
  return [...new Set(selectors)].flatMap(selector =>
    ofCalls.map(facts => ({
      where: 'selector = ? and facts = ?',
      bindings: [bytesColumn(selector), facts],
    })),
  );
}
