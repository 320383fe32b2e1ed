import type { Address, Hash, Hex } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { lowerCase } from '#evm/address.ts';
import type { TransactionQuery, TransactionRow } from '#indexer/read/blocks/transactions.ts';
import type { Page } from '#indexer/read/page.ts';
import type { PendingTransaction } from '#node/pending-transactions.ts';
import type { Answers } from '../../port/backend.ts';
import { methodOf } from '../parts/decoded.ts';
import { loadParties } from '../parts/parties.ts';
import { knownTransaction } from '../source/find-transaction.ts';
import { blockPositionBefore, hashBefore } from '../source/position.ts';
import {
  assertCaughtUp,
  assertNotCutOff,
  confirmationsAt,
  cursorFields,
  type IndexSource,
  missingFrom,
  PAGE_SIZE,
} from '../source/source.ts';
import {
  minedTransaction,
  type PendingContext,
  pendingTransactionRecord,
  pendingTypes,
} from './transaction-record.ts';

type Transaction = ExplorerSchemas['Transaction'];

/** Maximum number of token transfers in a transaction's record (Decision 15). */
const EMBEDDED_TRANSFERS = 10;
const MAIN_PAGE_TRANSACTIONS = 6;

/** Transactions of one chain, from its index; pending ones from its node's pool. */
export function transactionAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async listTransactions({ query }, { position, signal }) {
      assertCaughtUp(source);
      if (query.filter === 'pending')
        return {
          body: await pendingPage(source, { ...query, after: hashBefore(position, query) }, signal),
          unsettled: true,
        };
      const before = blockPositionBefore(position, query);
      const page = await reader.transactions({
        limit: PAGE_SIZE,
        before,
        types: query.type,
        selectors: query.method === undefined ? undefined : selectorsOf(source, query.method),
      });
      assertNotCutOff(source, page);
      return { body: await transactionPage(source, page) };
    },

    async listMainPageTransactions() {
      assertCaughtUp(source);
      const { items } = await reader.transactions({ limit: MAIN_PAGE_TRANSACTIONS });
      assertNotCutOff(source, { hasMore: items.length === MAIN_PAGE_TRANSACTIONS });
      return { body: await transactionRecords(source, items) };
    },

    async getTransaction({ path }, { signal }) {
      const hash = lowerCase(path.transaction_hash);
      const { mined, pending } = await knownTransaction(source, hash);
      if (mined !== undefined) {
        const [record] = await transactionRecords(source, [mined.row]);
        if (record === undefined) throw missingFrom(source, `Transaction ${hash}`);
        return { confirmations: record.confirmations, body: record };
      }
      return { body: pendingTransactionRecord(pending, await pendingContext(source, [pending], signal)) };
    },
  } satisfies Answers;
}

/** Page of mined transactions, for every list of them. */
export async function transactionPage(source: IndexSource, { items, hasMore }: Page<TransactionRow>) {
  const last = items.at(-1);
  return {
    items: await transactionRecords(source, items),
    next_page_params: hasMore && last !== undefined ? nextTransactions(source, last, items.length) : null,
  };
}

/** Records of mined transactions, each with its first token transfers. */
async function transactionRecords(source: IndexSource, rows: readonly TransactionRow[]) {
  const { reader } = source;
  const transfers = await reader.firstTokenTransfers({
    transactions: rows.filter(({ tokenTransferCount }) => tokenTransferCount !== 0),
    limit: EMBEDDED_TRANSFERS,
  });
  const [parties, coinRate] = await Promise.all([
    loadParties(source, {
      addresses: [...rows.flatMap(partiesOf), ...transfers.flatMap(({ from, to }) => [from, to])],
      tokens: transfers.map(({ token }) => token),
    }),
    source.rates.ofCoin(),
  ]);
  const byTransaction = Map.groupBy(transfers, ({ transactionHash }) => transactionHash);
  return rows.map(row =>
    minedTransaction(row, {
      abis: reader.abis,
      parties,
      coinRate,
      confirmations: confirmationsAt(source, row.blockNumber),
      transfers: byTransaction.get(row.hash) ?? [],
    }),
  );
}

/** `next_page_params` of every list of mined transactions. */
function nextTransactions(source: IndexSource, last: TransactionRow, itemsCount: number) {
  const position = { block_number: last.blockNumber, index: last.index };
  return { ...position, items_count: itemsCount, ...cursorFields(source, position) };
}

/** Page of pending transactions, ordered by hash. The pool changes between pages, and no other order is stable. */
async function pendingPage(source: IndexSource, { type, method, after }: PendingQuery, signal: AbortSignal) {
  const pool = await source.reader.pendingTransactions();
  const left = pool.filter(
    row => (after === undefined || row.hash > after) && (method === undefined || calls(source, row, method)),
  );
  const fitting = type === undefined ? left : await ofTypes(source, { rows: left, type }, signal);
  const waiting = fitting.toSorted((a, b) => (a.hash < b.hash ? -1 : 1));
  const items = waiting.slice(0, PAGE_SIZE);
  const last = items.at(-1);
  const next =
    last === undefined || waiting.length <= PAGE_SIZE
      ? null
      : { hash: last.hash, items_count: items.length, ...cursorFields(source, { hash: last.hash }) };
  const context = await pendingContext(source, items, signal);
  return { items: items.map(row => pendingTransactionRecord(row, context)), next_page_params: next };
}

interface PendingQuery {
  readonly type?: readonly Transaction['transaction_types'][number][];
  readonly method?: readonly string[];
  readonly after: Hash | undefined;
}

function calls(
  { reader }: IndexSource,
  { selector }: PendingTransaction,
  method: readonly string[],
): boolean {
  return method.some(one => one.toLowerCase() === selector || one === methodOf(reader.abis, selector));
}

async function ofTypes(
  { reader }: IndexSource,
  { rows, type }: { rows: readonly PendingTransaction[]; type: NonNullable<PendingQuery['type']> },
  signal: AbortSignal,
): Promise<readonly PendingTransaction[]> {
  const withCode = await reader.node.withCode(
    rows.map(({ to }) => to),
    signal,
  );
  return rows.filter(row => pendingTypes(row, withCode).some(one => type.includes(one)));
}

/** Data for the records of pending transactions. */
async function pendingContext(
  source: IndexSource,
  rows: readonly PendingTransaction[],
  signal: AbortSignal,
): Promise<PendingContext> {
  const { reader, rates } = source;
  const [parties, coinRate, withCode] = await Promise.all([
    loadParties(source, { addresses: rows.flatMap(({ from, to }) => [from, to]) }),
    rates.ofCoin(),
    reader.node.withCode(
      rows.map(({ to }) => to),
      signal,
    ),
  ]);
  return { abis: reader.abis, parties, coinRate, withCode };
}

/** Selectors of methods given by name or selector. An unknown name matches nothing. */
function selectorsOf(
  { reader }: IndexSource,
  methods: readonly string[],
): NonNullable<TransactionQuery['selectors']> {
  return methods.flatMap((method): Hex[] =>
    method.startsWith('0x') ? [lowerCase(method)] : reader.abis.selectorsOf(method),
  );
}

function partiesOf({ from, to, createdContract }: TransactionRow): (Address | null)[] {
  return [from, to, createdContract];
}
