import type { Hash, Hex } from 'viem';
import { bytesColumn } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { placeholders } from '#db/rows.ts';
import { FACT_SETS, factsOf, type TransactionType } from '../../schema/transaction-types.ts';
import { type Branch, EVERYTHING, inOrder, type Page, type PageRequest, pageKeys } from '../page.ts';
import {
  SELECT_TRANSACTION,
  type TransactionColumns,
  type TransactionRow,
  transactionOf,
} from './transaction-row.ts';

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
 * wanted types. What creates a contract has no selector.
 */
function branchesOf({ types, selectors }: TransactionQuery): Branch[] {
  if (types === undefined && selectors === undefined) return [EVERYTHING];
  const sets = Array.from({ length: FACT_SETS }, (_, facts) => facts);
  const wanted = types === undefined ? sets : sets.filter(facts => (facts & factsOf(types)) !== 0);
  if (selectors === undefined) {
    return wanted.map(facts => ({ where: 'facts = ?', bindings: [facts] }));
  }
  const creation = factsOf(['contract_creation', 'token_creation']);
  const withSelector = wanted.filter(facts => (facts & creation) === 0);
  return [...new Set(selectors)].flatMap(selector =>
    withSelector.map(facts => ({
      where: 'selector = ? and facts = ?',
      bindings: [bytesColumn(selector), facts],
    })),
  );
}

/** The key that a transaction's logs, transfers and calls point at; null when it is in no canonical block. */
export async function transactionKey(handle: Handle, hash: Hash): Promise<number | null> {
  const [row] = await handle.raw<{ id: number }[]>('select id from transactions where hash = ?', [
    bytesColumn(hash),
  ]);
  return row?.id ?? null;
}
