import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { Answer, Answers, Ask } from '../port/backend.ts';
import { isOfKind } from '../port/backend-error.ts';
import type { CursorPosition } from '../port/cursor.ts';
import { type Fields, fieldsOf } from '../upstream-json/fields.ts';
import { withLateExtra } from './client/side-requests.ts';
import { type BlockscoutSource, mustBe, read, readableItems, settledAnswer } from './client/source.ts';
import { internalTransaction } from './normalise/internal-transaction.ts';
import { log } from './normalise/log.ts';
import { rawTrace } from './normalise/raw-trace.ts';
import { stateChange } from './normalise/state-change.ts';
import { summary } from './normalise/summary.ts';
import { tokenTransferRecord } from './normalise/token-transfer.ts';
import { transactionRecord } from './normalise/transaction.ts';
import {
  INTERNAL_TRANSACTION_SETS,
  internalTransactionKeys,
  isStillTraced,
  LOG_SETS,
  logKeys,
  reportsTraceProgress,
  stateChangeKeys,
  TOKEN_TRANSFER_SETS,
  tokenTransferKeys,
  transactionKeys,
} from './paging/cursor-params.ts';
import { type List, type PageEnvelope, readList, typeFilter } from './paging/list.ts';
import { positionFrom } from './paging/position.ts';

type Transaction = ExplorerSchemas['Transaction'];

/** Answers about single transactions and lists of the whole chain. */
export function transactionAnswers(source: BlockscoutSource) {
  return {
    async listTransactions({ query }, ask) {
      const { filter = 'validated', type, method } = query;
      const isPending = filter === 'pending';
      const { body } = await readList(source, ask, {
        operation: 'listTransactions',
        path: '/transactions',
        start: isPending
          ? positionFrom(query, [['inserted_at', 'hash']], ['block_number', 'index'])
          : positionFrom(query, [['block_number', 'index']], ['inserted_at', 'hash']),
        fixed: { filter },
        filters: { type: type?.join(','), method: method?.join(',') },
        passes: record =>
          (type === undefined || type.some(one => record.transaction_types.includes(one))) &&
          (method === undefined || method.some(one => isCallOf(record, one))),
        item: transactionRecord,
        keys: transactionKeys,
      });
      return isPending ? { body, unsettled: true } : { body };
    },

    async listMainPageTransactions(_request, { signal }) {
      const get = { operation: 'listMainPageTransactions', path: '/main-page/transactions', signal } as const;
      return {
        body: await read(source, get, body =>
          readableItems(source, get, { list: body, read: transactionRecord }),
        ),
      };
    },

    async getTransaction({ path: { transaction_hash: hash } }, { signal }) {
      const get = { operation: 'getTransaction', path: `/transactions/${hash}`, signal } as const;
      return read(source, get, body =>
        settledAnswer<'getTransaction'>(
          mustBe(hash, 'hash', transactionRecord(body)),
          source.depths.sawTransaction(fieldsOf(body)),
        ),
      );
    },
  } satisfies Answers;
}

/** True when a transaction calls a method, given by name or selector (Decision 20). */
function isCallOf({ method, raw_input: input }: Transaction, wanted: string): boolean {
  return (
    method === wanted ||
    (wanted.startsWith('0x') && input?.toLowerCase().startsWith(wanted.toLowerCase()) === true)
  );
}

/** Contents of one transaction. They are as settled as the transaction, whose depth is fetched by a side request. */
export function transactionListAnswers(source: BlockscoutSource) {
  const { depths, indexing, clock } = source;
  return {
    listTransactionTokenTransfers({ path: { transaction_hash: hash }, query }, ask) {
      const { type } = query;
      return listOf(hash, ask, {
        operation: 'listTransactionTokenTransfers',
        path: `/transactions/${hash}/token-transfers`,
        start: positionFrom(query, TOKEN_TRANSFER_SETS),
        ...typeFilter<ReturnType<typeof tokenTransferRecord>>(type, record => record.token_type),
        item: value => mustBe(hash, 'transaction_hash', tokenTransferRecord(value)),
        keys: tokenTransferKeys,
      });
    },

    async listTransactionInternalTransactions({ path: { transaction_hash: hash }, query }, ask) {
      // Read before the list, so that neither value is newer than the list.
      const wasDeep = depths.knownDepth(hash) !== undefined;
      const traces = indexing.hasTraces();
      const { answer, envelope } = await readWithDepth(hash, ask, {
        operation: 'listTransactionInternalTransactions',
        path: `/transactions/${hash}/internal-transactions`,
        start: positionFrom(query, INTERNAL_TRANSACTION_SETS),
        item: value => mustBe(hash, 'transaction_hash', internalTransaction(value)),
        keys: internalTransactionKeys,
      });
      const { body } = answer;
      if (isStillTraced(envelope)) return { body };
      if (body.items.length > 0 || reportsTraceProgress(envelope)) return answer;
      // An empty list is final only when tracing is complete (Decision 66).
      const [, hasTraces] = await withLateExtra(Promise.resolve(), traces, clock);
      return wasDeep && hasTraces === true ? answer : { body };
    },

    listTransactionLogs({ path: { transaction_hash: hash }, query }, ask) {
      return listOf(hash, ask, {
        operation: 'listTransactionLogs',
        path: `/transactions/${hash}/logs`,
        start: positionFrom(query, LOG_SETS, ['transaction_index']),
        item: value => mustBe(hash, 'transaction_hash', log(value)),
        keys: logKeys,
      });
    },

    async listTransactionStateChanges({ path: { transaction_hash: hash }, query }, ask) {
      const { items_count: count } = query;
      const list = (start?: CursorPosition) =>
        listOf(hash, ask, {
          operation: 'listTransactionStateChanges',
          path: `/transactions/${hash}/state-changes`,
          start,
          item: stateChange,
          keys: stateChangeKeys,
          countsItems: true,
        });
      if (count === undefined || ask.position !== undefined) return list();
      // The document's key is the one of versions before 12. Version 12 renamed and refuses it.
      return list({ items_count: count, state_changes: null }).catch(error => {
        if (!isOfKind(error, 'rejected')) throw error;
        return list({ state_changes_count: count });
      });
    },

    async getTransactionRawTrace({ path: { transaction_hash: hash } }, { signal }) {
      const get = {
        operation: 'getTransactionRawTrace',
        path: `/transactions/${hash}/raw-trace`,
        signal,
      } as const;
      try {
        const reading = read(source, get, async body =>
          (await rawTrace(body, hash, signal)).map(item => mustBe(hash, 'transactionHash', item)),
        );
        return await settled(hash, reading);
      } catch (error) {
        // Since 6.9 upstream crashes on a pending transaction, which has no trace yet.
        if (isOfKind(error, 'unavailable') && (await depths.isPending(hash))) return { body: [] };
        throw error;
      }
    },

    getTransactionSummary({ path: { transaction_hash: hash } }, { signal }) {
      const path = `/transactions/${hash}/summary`;
      return settled(hash, read(source, { operation: 'getTransactionSummary', path, signal }, summary));
    },
  } satisfies Answers;

  async function listOf<Item, Keys>(
    hash: string,
    ask: Ask,
    list: List<Item, Keys>,
  ): Promise<Answer<PageEnvelope<Item, Keys>>> {
    return (await readWithDepth(hash, ask, list)).answer;
  }

  async function readWithDepth<Item, Keys>(
    hash: string,
    ask: Ask,
    list: List<Item, Keys>,
  ): Promise<{ answer: Answer<PageEnvelope<Item, Keys>>; envelope: Fields }> {
    const reading = readList(source, ask, list);
    const [{ body, envelope }, depth] = await withLateExtra(reading, depths.ofTransaction(hash), clock);
    return { answer: depth === undefined ? { body } : { body, confirmations: depth }, envelope };
  }

  async function settled<Body>(hash: string, reading: Promise<Body>): Promise<Answer<Body>> {
    const [body, depth] = await withLateExtra(reading, depths.ofTransaction(hash), clock);
    return depth === undefined ? { body } : { body, confirmations: depth };
  }
}
