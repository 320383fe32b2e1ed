import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { Answers } from '../port/backend.ts';
import { each, fieldsOf } from '../upstream-json/fields.ts';
import { type BlockscoutSource, mustBe, read, settledAnswer } from './client/source.ts';
import { transaction } from './normalise/transaction.ts';
import { transactionKeys } from './paging/cursor-params.ts';
import { readList } from './paging/list.ts';
import { positionFrom } from './paging/position.ts';

type TransactionAnswers = Pick<Answers, 'listTransactions' | 'listMainPageTransactions' | 'getTransaction'>;
type Transaction = ExplorerSchemas['Transaction'];

/** Transactions, each by itself and in lists of the whole chain. */
export function transactionAnswers(source: BlockscoutSource): TransactionAnswers {
  return {
    async listTransactions({ query }, ask) {
      const { filter = 'validated', type, method } = query;
      const isPending = filter === 'pending';
      const { body } = await readList(
        source,
        {
          operation: 'listTransactions',
          path: '/transactions',
          start: isPending
            ? positionFrom(query, [['inserted_at', 'hash']], ['block_number', 'index'])
            : positionFrom(query, [['block_number', 'index']], ['inserted_at', 'hash']),
          fixed: { filter },
          filters: {
            ...(type === undefined ? {} : { type: type.join(',') }),
            ...(method === undefined ? {} : { method: method.join(',') }),
          },
          passes:
            type === undefined && method === undefined
              ? undefined
              : record =>
                  (type === undefined || type.some(one => record.transaction_types.includes(one))) &&
                  (method === undefined || method.some(one => isCallOf(record, one))),
          item: transaction,
          keys: transactionKeys,
        },
        ask,
      );
      return isPending ? { body, unsettled: true } : { body };
    },

    async listMainPageTransactions(_request, { signal }) {
      const get = { operation: 'listMainPageTransactions', path: '/main-page/transactions', signal } as const;
      return { body: await read(source, get, body => each(body, transaction)) };
    },

    async getTransaction({ path: { transaction_hash: hash } }, { signal }) {
      const get = { operation: 'getTransaction', path: `/transactions/${hash}`, signal } as const;
      return read(source, get, body =>
        settledAnswer<'getTransaction'>(
          mustBe(hash, 'hash', transaction(body)),
          source.settlement.sawTransaction(fieldsOf(body)),
        ),
      );
    },
  };
}

/** Whether a transaction calls a method, by its name or its selector. Decision 20. */
function isCallOf({ method, raw_input: input }: Transaction, wanted: string): boolean {
  return (
    method === wanted ||
    (wanted.startsWith('0x') && input?.toLowerCase().startsWith(wanted.toLowerCase()) === true)
  );
}
